"""Pages of a site: their kinds by URL and link text, and the selection of those worth fetching."""
