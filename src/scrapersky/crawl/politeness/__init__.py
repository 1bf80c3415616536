"""Politeness."""
