"""Subscribers of engine events: logs, metrics, run history."""
