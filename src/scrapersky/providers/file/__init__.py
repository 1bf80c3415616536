"""A CSV, JSON or JSONL file of businesses as a provider."""
