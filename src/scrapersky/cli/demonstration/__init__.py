"""Demonstration."""
