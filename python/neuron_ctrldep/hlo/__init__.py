"""HLO as a protobuf: read, write, reify control edges, import."""
