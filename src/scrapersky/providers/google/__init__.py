"""Google."""
