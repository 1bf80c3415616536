"""Passwords, tokens and the secret key of an installation."""
