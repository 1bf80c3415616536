"""`scrapersky sitemap URL|FILE`: the URLs of a sitemap or of a site, and what could not be read."""

from typing import Annotated, Literal

import typer

from scrapersky.cli.shared.application import run_async
from scrapersky.cli.shared.options import AsJson

# 2 is wrong usage or a wrong setting, as in all commands.
EXIT_NONE, EXIT_FAILED, EXIT_PARTIAL = 1, 3, 4


def sitemap(
    target: Annotated[str, typer.Argument(help="A site or sitemap with http(s)://, a file (xml, txt, gz), or -.")],
    as_json: AsJson = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after this many URLs.")] = None,
    base: Annotated[str | None, typer.Option(help="The URL of FILE, which relative URLs in it refer to.")] = None,
    max_sitemaps: Annotated[int, typer.Option(min=1, help="Maximum number of sitemaps read of a site.")] = 200,
    same_site: Annotated[
        Literal["domain", "host", "any"], typer.Option(help="Which other sitemaps a sitemap may refer to.")
    ] = "domain",
    robots: Annotated[bool, typer.Option("--robots/--no-robots", help="Obey robots.txt.")] = True,
) -> None:
    """Print the URLs of a sitemap file, of a sitemap on the web, or of all sitemaps of a site.

    Example: scrapersky sitemap https://example.com --limit 20

    Exit codes: 0 complete, 1 no sitemap, 2 wrong usage or setting, 3 failed (try again), 4 partial.
    """
    from scrapersky.cli.printing.sitemap import Output, SitemapProgress
    from scrapersky.cli.printing.sitemap_source import read_file, search_web
    from scrapersky.core.logging_setup import configure_logs
    from scrapersky.core.settings import Environment, load
    from scrapersky.crawl.sitemaps.result import SearchLimits, SearchOutcome, SitePolicy

    output = Output(target, as_json=as_json, limit=limit, progress=SitemapProgress())
    if target.lower().startswith(("http://", "https://")):
        settings = load(Environment())
        configure_logs(settings)
        settings = settings.model_copy(update={"crawl_obey_robots": robots and settings.crawl_obey_robots})
        limits = SearchLimits(max_fetches=max_sitemaps, policy=SitePolicy(same_site))
        search = run_async(search_web(settings, target, limits, output))
    else:
        search = read_file(target, base, output)
    output.finish(search)
    if search.outcome is SearchOutcome.FOUND:
        raise typer.Exit(EXIT_PARTIAL if search.partial else 0)
    raise typer.Exit(EXIT_NONE if search.outcome is SearchOutcome.NONE else EXIT_FAILED)
