"""Resources, and queries that are the same for each: pages of a list, exports, related rows."""
