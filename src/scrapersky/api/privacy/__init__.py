"""Routes of suppressions, erasures and subject access."""
