"""Run the sitemap analysis once, now: `scrapersky run sitemap_analysis` under its old name."""

import argparse

from scrapersky.cli import run_cli

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--trigger-scheduler", action="store_true", help="kept for old habits; it is what happens anyway")
parser.parse_args()
run_cli(["run", "sitemap_analysis"])
