"""A fake of Google Places."""
