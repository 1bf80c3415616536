"""Pages that hide from a plain reader: drawn by JavaScript, behind a bot check, a login or consent, or unfinished."""
