"""Say how the latest scan of a domain stands: `scrapersky scan --check` under its old name."""

import argparse

from scrapersky.cli import run_cli

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--domain", required=True, help="the domain, such as example.com")
asked = parser.parse_args()
run_cli(["scan", asked.domain, "--check"])
