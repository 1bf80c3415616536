"""The pages of `scrapersky extract`: one page, or a batch."""
