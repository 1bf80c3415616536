"""Imports and files."""
