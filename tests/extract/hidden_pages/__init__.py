"""Pages that hide from a plain reader, and small pages that do not."""
