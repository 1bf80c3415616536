"""Pure functions from text to facts."""
