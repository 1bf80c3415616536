"""Google Places (New), paid per call."""
