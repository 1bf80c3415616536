"""Parser pool."""
