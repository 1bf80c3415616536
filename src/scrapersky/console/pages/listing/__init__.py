"""Lists of rows: grids, filters, views, decisions, the map, find, and one row."""
