"""Named queries, one file per noun."""
