"""Hubspot."""
