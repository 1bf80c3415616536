"""Listeners of engine events: log lines, metrics and the run history."""
