"""Everything that opens a socket to a web site: the safe polite fetcher, robots, sitemaps."""
