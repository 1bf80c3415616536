"""Discovers the sitemaps of a site and reads their entries."""
