"""Schemas."""
