"""The HTTP API: JSON under /api/v3, health and metrics."""
