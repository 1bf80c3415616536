"""Routes of searches and of the resources of the pipeline."""
