"""The world of a seed number: its businesses, each generated on request."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, lru_cache

from scrapersky.core.errors import BadSetting
from scrapersky.sandbox.world import business
from scrapersky.sandbox.world.business import Business, Location
from scrapersky.sandbox.world.conditions import DECK, Condition
from scrapersky.sandbox.world.host_names import SIZE, number_of
from scrapersky.sandbox.world.stratified_draw import draw
from scrapersky.sandbox.world.unlisted import Lure, LureSite, Unlisted, lure_of, named_hosts

KEPT = 20_000  # businesses remembered


class World:
    """`World(7)[3]` is always the same business; another seed makes another world."""

    def __init__(self, seed: int, businesses: int = 200) -> None:
        if not 0 < businesses <= SIZE:
            raise BadSetting(f"A world has from 1 to {SIZE:,} businesses, not {businesses:,}.")
        self.seed = seed
        self._count = businesses
        self._get = lru_cache(KEPT)(self._make)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Business]:
        return (self[number] for number in range(self._count))

    def __getitem__(self, number: int) -> Business:
        if not 0 <= number < self._count:
            raise IndexError(number)
        return self._get(number)

    def seats(self) -> Iterator[Location]:
        """Return place and trade of every business, faster than the businesses themselves."""
        return (business.location_of(self.seed, number) for number in range(self._count))

    def at(self, host: str) -> Business | None:
        """Return the business of this host, with or without www."""
        bare = host.lower().removeprefix("www.")
        number = self._named.get(bare, number_of(bare, self.seed))
        if number is None or number >= self._count or self[number].host != bare:
            return None
        owner = self[number]
        return None if owner.partner is not None else owner

    def lure_at(self, host: str) -> LureSite | None:
        """Return the site at this host that only looks like the site of a business without one."""
        return self._lures.get(host.lower().removeprefix("www."))

    @cached_property
    def _named(self) -> dict[str, int]:
        """The hosts that are the name of their business: of several businesses the first one has it."""
        taken: dict[str, int] = {}
        for number in self._in_condition(Condition.UNLISTED):
            made = business.make(self.seed, number)
            if made.unlisted in (Unlisted.NAMED, Unlisted.CHAIN):
                free = next((host for host in named_hosts(made.name, made.country.ending) if host not in taken), None)
                taken |= {free: number} if free else {}
        return taken

    @cached_property
    def _hosts(self) -> dict[int, str]:
        return {number: host for host, number in self._named.items()}

    @cached_property
    def _lures(self) -> dict[str, LureSite]:
        lures: dict[str, LureSite] = {}
        for number in self._in_condition(Condition.NONE):
            made, kind = business.make(self.seed, number), lure_of(self.seed, number)
            host = named_hosts(made.name, made.country.ending)[0]
            if host not in self._named and kind is not Lure.NOTHING:
                lures.setdefault(host, LureSite(kind, number))
        return lures

    def _in_condition(self, condition: Condition) -> Iterator[int]:
        return (number for number in range(self._count) if draw(self.seed, "conditions", DECK, number) is condition)

    def sharing(self, owner: Business) -> Business | None:
        """Return the other business on this one's site, if there is one."""
        if owner.number + 1 >= self._count:
            return None
        next_one = self[owner.number + 1]
        return next_one if next_one.partner == owner.number else None

    def _make(self, number: int) -> Business:
        made = business.make(self.seed, number)
        if made.unlisted is not None:
            return _unlisted(made, self._hosts.get(number))
        if made.condition is not Condition.SHARED:
            return made
        if not business.shares_a_site(self.seed, number):
            return replace(made, condition=Condition.HEALTHY)
        return _moved_in(made, business.make(self.seed, number - 1))


def _unlisted(made: Business, named: str | None) -> Business:
    """Return the business at the host that is its name; without one of these only a web search finds it."""
    own = made.host or ""
    if made.unlisted is Unlisted.EMAIL:
        return replace(made, email=f"info@{own}")
    if made.unlisted not in (Unlisted.NAMED, Unlisted.CHAIN):
        return made
    if named is None:
        return replace(made, unlisted=Unlisted.HIDDEN)
    people = tuple(replace(one, email=one.email.replace(own, named) if one.email else None) for one in made.people)
    second = made.second_email.replace(own, named) if made.second_email else None
    return replace(made, host=named, email=made.email.replace(own, named), second_email=second, people=people)


def _moved_in(made: Business, owner: Business) -> Business:
    """Return the business with the site of another one, and addresses of its domain."""
    own, theirs = made.host or "", owner.host or ""
    return replace(
        made,
        host=theirs,
        website=owner.website,
        secure=owner.secure,
        email=made.email.replace(own, theirs) if made.email != owner.email else made.email,
        second_email=None,
        people=tuple(
            replace(person, email=person.email.replace(own, theirs) if person.email else None) for person in made.people
        ),
        partner=owner.number,
    )
