"""Output of `scrapersky settings` and `scrapersky sitemap`."""
