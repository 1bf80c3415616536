"""One short file per step of the line; siblings never import each other."""
