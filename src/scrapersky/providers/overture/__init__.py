"""Overture Maps places: an open data set of parquet files."""
