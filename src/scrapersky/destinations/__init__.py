"""Destinations: the webhooks, CRMs and files that contacts are delivered to."""
