"""The invented businesses: all that is true about them, made from a seed number."""
