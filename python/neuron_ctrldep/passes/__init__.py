"""MLIR passes on control dependencies, and the registry."""
