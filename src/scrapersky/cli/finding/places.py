"""The area of `scrapersky find`: found on the map before the search, or the places to choose from."""

from collections.abc import Iterator
from dataclasses import replace

import typer

from scrapersky.bootstrap import Application
from scrapersky.cli.shared.output import print_table, printable
from scrapersky.core.errors import Retryable
from scrapersky.providers.base import AmbiguousArea, ProviderRefused
from scrapersky.providers.registry import DECLARED
from scrapersky.store.searches.request import SearchRequest

EXIT_AMBIGUOUS = 6


async def located(application: Application, request: SearchRequest) -> SearchRequest:
    """Return the request with its areas on the map; without them if the provider needs none, or none is known now.

    An unknown area is left to the search, which stores the reason. If the name may be several places, they are printed
    and the command ends.
    """
    declared = DECLARED.get(request.provider)
    if declared is None or not declared.needs_area or not request.where.is_given or len(request.where.names) > 1:
        return request
    try:
        found = await application.geocoder.locate(request.where)
    except AmbiguousArea as ambiguous:
        print_candidates(ambiguous)
        raise typer.Exit(EXIT_AMBIGUOUS) from None
    except (ProviderRefused, Retryable):
        return request
    return replace(request, areas=found.areas)


def areas_in_words(request: SearchRequest) -> Iterator[str]:
    """Yield sentences about the areas of a request: as they are on the map, of several towns their names."""
    yield from (f"The area is {area.name}." for area in request.areas)
    if len(towns := request.where.names) > 1:
        yield f"The areas are {len(towns)} towns: {'; '.join(towns)}."


def print_candidates(error: AmbiguousArea) -> None:
    """Print the places that a name may mean, and how to choose one."""
    typer.echo(printable(f"{error.name!r} may be {len(error.candidates)} places:"), err=True)
    print_table(
        ["place", "kind", "country"], [(area.label or area.name, area.kind, area.country) for area in error.candidates]
    )
    first, alone = error.candidates[0], error.sufficient_country
    by_country = f", or by its country, such as --country {alone}" if alone else ""
    typer.echo(printable(f'Choose one by its name, such as --in "{first.label or first.name}"{by_country}.'), err=True)
