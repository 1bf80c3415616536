"""Queries of providers whose text still has the area in it."""

from dataclasses import replace

from scrapersky.providers.areas.read_search import radius_metres, split
from scrapersky.providers.areas.where import Where
from scrapersky.providers.base import PlaceQuery, QueryRefused


def what_and_where(query: PlaceQuery) -> PlaceQuery:
    """Return the query with kind of business and area apart, split from a text such as "dentists in Helsinki"."""
    text = " ".join(query.text.split())
    if query.where.is_given or query.areas:
        return replace(query, text=text)
    read = split(text)
    radius = radius_metres(read.radius) if read.is_near and read.where else None
    where = Where((read.where,) if read.where else (), query.where.country, query.where.language, radius)
    return replace(query, text=read.what, where=where)


def required_query(query: PlaceQuery) -> PlaceQuery:
    """Return the same; raise QueryRefused if the kind of business or the area is missing."""
    read = what_and_where(query)
    if not read.text or not (read.where.is_given or read.areas):
        raise QueryRefused(
            "The search does not name what to look for and where: write 'dentists in Helsinki', or give an area."
        )
    return read
