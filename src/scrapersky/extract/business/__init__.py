"""Business."""
