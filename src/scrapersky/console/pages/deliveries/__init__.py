"""Deliveries and destinations."""
