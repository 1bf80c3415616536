"""Tabular."""
