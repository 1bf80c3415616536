"""Routes of the resources of the pipeline, leads, saved views and the map."""
