"""Pictures of dependency graphs: DOT, SVG, HTML."""
