"""Statements about contacts: those found on pages and by providers, and those that people write, change and delete."""
