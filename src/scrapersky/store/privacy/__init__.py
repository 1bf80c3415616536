"""SQL about suppressions, and about everything that is stored about one person."""
