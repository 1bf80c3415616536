"""Searches and campaigns: request, cancel and schedule them."""
