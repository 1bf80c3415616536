"""The line, drawn once: the workflows in their order."""

from scrapersky.engine.pipeline import Pipeline
from scrapersky.providers.place import Providers
from scrapersky.workflows.deep_scan import DeepScan
from scrapersky.workflows.domain_extraction import DomainExtraction


def the_line(providers: Providers) -> Pipeline:
    """Search ─▶ Place ─2─▶ LocalBusiness ─3─▶ Domain: a number is one queue, and each fills the next one's inbox."""
    return Pipeline(
        [
            DeepScan(providers),
            DomainExtraction(),
        ]
    )
