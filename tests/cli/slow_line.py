"""`scrapersky` with parcels in the place of the real line, each of which takes PACKING seconds to pack."""

import os

import scrapersky.bootstrap
from scrapersky.cli import main
from scrapersky.sandbox.example_workflows import example_pipeline

if __name__ == "__main__":
    vars(scrapersky.bootstrap)["build_pipeline"] = lambda *_given: example_pipeline(
        seconds=float(os.environ["PACKING"])
    )
    main()
