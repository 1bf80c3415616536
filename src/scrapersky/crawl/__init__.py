"""The crawler: a guarded, polite HTTP client, robots.txt, DNS lookups and sitemaps."""
