"""Phones."""
