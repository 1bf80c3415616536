"""Pages of sites that are not those of the business they name: namesakes, parked domains, directories, competitors."""

from collections.abc import Iterable
from html import escape

from scrapersky.sandbox.server.response import Request, Response, page_response
from scrapersky.sandbox.world.business import Business
from scrapersky.sandbox.world.phone_numbers import international, pick
from scrapersky.sandbox.world.unlisted import Lure, LureSite
from scrapersky.sandbox.world.world import World

LISTED = 15  # businesses on the front page of a directory
FREE_NUMBER = 40  # numbers from the end of a range that no business of the world has
PAGE = "<!doctype html><html lang='{0}'><head><meta charset='utf-8'><title>{1}</title></head><body>{2}</body></html>"
FOR_SALE = "<h1>{0}</h1><p>This domain is for sale. Buy this domain today.</p>"


def lure_response(world: World, lure: LureSite, request: Request) -> Response:
    """Respond as such a site: one page, and nothing else."""
    if request.path != "/":
        return page_response(404, request.host)
    business = world[lure.business]
    title, body = {
        Lure.PARKED: _parked,
        Lure.NAMESAKE: _namesake,
        Lure.DIRECTORY: lambda one, _: _directory(one.trade.name, _neighbours(world, one)),
        Lure.COMPETITOR: _competitor,
    }[lure.kind](business, request.host)
    return Response(200, PAGE.format(business.language.code, escape(title), body).encode())


def directory_response(world: World, request: Request) -> Response:
    """Respond as the directory of all businesses: a list on its front page, and a page for each of them."""
    number = request.path.rpartition("/")[2]
    if number.isdecimal() and int(number) < len(world):
        business = world[int(number)]
        title, body = f"{business.name} – All Companies", _entry(business)
    elif request.path == "/":
        title, body = _directory("companies", [world[number] for number in range(min(LISTED, len(world)))])
    else:
        return page_response(404, request.host)
    return Response(200, PAGE.format("en", escape(title), body).encode())


def branch_phones(business: Business) -> list[str]:
    """Return the numbers of the other branches of a chain."""
    return [_free_number(business, index) for index in range(10)]


def branches(business: Business) -> str:
    """Render the list of the branches of a chain, with this one."""
    rows = "".join(
        f"<li>{escape(business.name)} {city.name}, {business.country.streets[index % 3]} {index + 3}, "
        f"{international(phone)}</li>"
        for index, phone in enumerate(branch_phones(business))
        for city in [business.country.cities[index % len(business.country.cities)]]
    )
    return f"<section class='branches'><ul><li>{_entry(business)}</li>{rows}</ul></section>"


def _parked(_: Business, host: str) -> tuple[str, str]:
    return host, FOR_SALE.format(host)


def _namesake(business: Business, _: str) -> tuple[str, str]:
    others = [city for city in business.country.cities if city is not business.city]
    city = others[0] if others else business.city
    phone = _free_number(business, 20)
    where = f"{business.country.streets[-1]} 99, {city.postcode.replace('#', '7')} {city.name}"
    return business.name, f"<h1>{escape(business.name)}</h1><p>{where}</p><p>{international(phone)}</p>"


def _competitor(business: Business, _: str) -> tuple[str, str]:
    rival, phone = f"{business.trade.nouns[business.language.code]} Kilpailija 9z", _free_number(business, 21)
    where = f"{business.country.streets[-1]} 97, {business.postcode} {business.city.name}"
    quote = f"<p>More choice than {escape(business.name)} in {business.city.name}.</p>"
    return rival, f"<h1>{escape(rival)}</h1>{quote}<address>{where}</address><p>{international(phone)}</p>"


def _directory(what: str, listed: Iterable[Business]) -> tuple[str, str]:
    rows = "".join(f"<li>{_entry(business)}</li>" for business in listed)
    return f"All {what} from A to Z", f"<h1>All {what} from A to Z</h1><ul>{rows}</ul>"


def _entry(business: Business) -> str:
    return (
        f"<h3>{escape(business.name)}</h3><p>{escape(business.street)}, {business.postcode} {business.city.name}</p>"
        f"<p>{international(business.phone)}</p>"
    )


def _neighbours(world: World, business: Business) -> list[Business]:
    return [world[(business.number + step) % len(world)] for step in range(LISTED)]


def _free_number(business: Business, index: int) -> str:
    return pick(business.city.landline, 0, -FREE_NUMBER - index, business.country.code)
