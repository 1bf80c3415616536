"""A little world to try things in: example workflows, and a little internet with known truth."""
