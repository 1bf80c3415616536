"""Providers of places: each is declared once, and all return the same PlaceDetails."""
