"""Helpers that several commands use: options, the application, validation and output."""
