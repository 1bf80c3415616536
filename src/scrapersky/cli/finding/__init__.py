"""The search of `scrapersky find`: request, progress, waiting, summary."""
