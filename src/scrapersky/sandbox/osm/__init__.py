"""Fakes of Nominatim and Overpass."""
