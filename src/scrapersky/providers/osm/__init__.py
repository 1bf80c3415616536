"""OpenStreetMap: Nominatim resolves areas, Overpass finds businesses."""
