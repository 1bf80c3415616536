"""Emails."""
