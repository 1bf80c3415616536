"""Phone numbers of a page: finding, labels, parsing and region."""
