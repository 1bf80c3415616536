"""`python -m scrapersky` is the `scrapersky` command."""

from scrapersky.cli import main

main()
