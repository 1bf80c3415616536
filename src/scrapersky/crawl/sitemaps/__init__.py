"""Sitemaps."""
