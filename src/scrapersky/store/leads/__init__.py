"""Leads, the result of a search: one row per business with its best contacts, or one row per contact."""
