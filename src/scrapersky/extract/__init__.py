"""Extraction of facts from pages: contacts, site metadata and page kinds, without network or database."""
