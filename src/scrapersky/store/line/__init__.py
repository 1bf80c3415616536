"""The steps of the line, and queries about the rows that each step produces."""
