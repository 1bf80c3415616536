"""Where a search looks: how it is asked for, the shapes on the globe, and the areas that were found for it."""
