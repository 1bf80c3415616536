"""The two demos of `scrapersky demo`: the engine alone, and the pipeline in a sandbox."""
