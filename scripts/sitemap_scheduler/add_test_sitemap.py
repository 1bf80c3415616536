"""Queue a domain for its sitemap analysis: `scrapersky scan` under its old name."""

import argparse

from scrapersky.cli import run_cli

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--domain", required=True, help="the domain, such as example.com")
parser.add_argument("--max-pages", default="5", help="pages that may be read afterwards")
asked = parser.parse_args()
run_cli(["scan", asked.domain, "--max-pages", asked.max_pages])
