"""Overture."""
