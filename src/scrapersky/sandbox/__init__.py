"""A little world to try things in: example workflows now, a little internet later."""
