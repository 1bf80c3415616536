"""Models and fields that routes share."""
