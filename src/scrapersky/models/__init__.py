"""Tables, one noun per file."""
