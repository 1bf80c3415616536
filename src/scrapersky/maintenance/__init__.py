"""Periodic tasks: what runs by the clock instead of by request."""
