"""JSON under /api/v3 and the health and metrics routes."""
