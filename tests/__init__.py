"""The tests: folders as in src/scrapersky, and some by what they need (faults, hostile, line)."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
