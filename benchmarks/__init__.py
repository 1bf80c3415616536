"""Benchmarks: each against named peers, both sides in one run."""
