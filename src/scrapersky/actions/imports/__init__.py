"""Imports: rows of a file or of a request, parsed, stored batch by batch, and reported by line."""
