"""The score of the names of a page: what stands beside them, how the page is laid out, what speaks against them."""
