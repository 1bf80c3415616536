"""Name resolution and the checks that keep requests away from private addresses."""
