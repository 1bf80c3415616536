"""One declaration per resource makes its list, get and curation routes."""
