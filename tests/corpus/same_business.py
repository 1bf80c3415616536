"""Invented records of businesses at four providers, with the truth which of them are one; made from a seed.

Hard cases: branches of a chain in one street, two doctors in one house with one phone, renamed businesses, names in
another alphabet, abbreviations, malls with one site, records without a point, a phone or a site.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from scrapersky.extract.matching.match import PlaceRecord

PROVIDERS = ("openstreetmap", "overture", "google_places", "file")
FIRST = [
    "Aalto",
    "Birch",
    "Cedar",
    "Delta",
    "Ember",
    "Falke",
    "Gipfel",
    "Harbor",
    "Iris",
    "Juniper",
    "Kallio",
    "Linden",
    "Mondo",
    "Nordic",
    "Orbis",
    "Pine",
]
FIRST += [
    "Quill",
    "Rosen",
    "Sunny",
    "Tulip",
    "Ulmen",
    "Verde",
    "Wald",
    "Xenia",
    "Yarrow",
    "Zephyr",
    "Amber",
    "Brook",
    "Coral",
    "Dune",
    "Elm",
    "Fern",
    "Grove",
    "Haze",
]
KINDS = [
    "Bakery",
    "Restaurant",
    "Pharmacy",
    "Garage",
    "Salon",
    "Clinic",
    "Hotel",
    "Florist",
    "Bookshop",
    "Gym",
    "Cafe",
    "Studio",
    "Market",
    "Optics",
]
SURNAMES = [
    "Virtanen",
    "Koskinen",
    "Schmidt",
    "Weber",
    "Laine",
    "Novak",
    "Rossi",
    "Moreau",
    "Lindqvist",
    "Haas",
    "Berger",
    "Salonen",
    "Keller",
    "Vogel",
]
STREETS = [
    "Satamakatu",
    "Hafenstraße",
    "Kirkkokatu",
    "Lindenweg",
    "Rue du Port",
    "High Street",
    "Mill Road",
    "Via Roma",
    "Storgatan",
]
LEGAL = ("", "", "", " Oy", " GmbH", " Ltd", " AB")
CYRILLIC = {"Aurora": "Аврора", "Sputnik": "Спутник", "Vesna": "Весна", "Zvezda": "Звезда", "Rodina": "Родина"}
GREEK = {"Athina": "Αθινα", "Elpida": "Ελπιδα", "Thalassa": "Θαλασσα"}


@dataclass(frozen=True)
class Labelled:
    """A record, and the business it is of."""

    record: PlaceRecord
    business: int


@dataclass(frozen=True)
class _Truth:
    name: str
    phone: str
    site: str
    latitude: float
    longitude: float
    street: str
    number: int
    postcode: str


class SameBusinessSet:
    """Makes the records of a town."""

    def __init__(self, seed: int, businesses: int = 1500) -> None:
        self._chance = random.Random(seed)
        self._businesses = businesses
        self._next = 0

    def records(self) -> list[Labelled]:
        """Return all records in random order."""
        made: list[Labelled] = []
        cases = (self._plain, self._plain, self._plain, self._chain, self._doctors, self._renamed, self._foreign)
        cases += (self._mall, self._neighbours)  # type: ignore[assignment]
        while self._next < self._businesses:
            made += self._chance.choice(cases)()
        self._chance.shuffle(made)
        return made

    # -- cases ---------------------------------------------------------------------------------------------------------

    def _plain(self) -> Iterator[Labelled]:
        yield from self._noisy(self._truth(f"{self._word()} {self._chance.choice(KINDS)}"))

    def _chain(self) -> Iterator[Labelled]:
        """Branches in one street: one name, one site, sometimes one phone for all."""
        name, first = f"{self._word()} {self._chance.choice(KINDS)}", None
        central = self._chance.random() < 0.4
        for _ in range(self._chance.randint(2, 4)):
            truth = self._truth(name)
            if first is not None:
                number = first.number + self._chance.randint(6, 60)
                moved = first.latitude + (number - first.number) * 0.00012
                truth = replace(first, number=number, latitude=moved, phone=first.phone if central else truth.phone)
            first = truth
            yield from self._noisy(truth, keeps_street=True)

    def _doctors(self) -> Iterator[Labelled]:
        """Two doctors in one house with one phone, half of them with one site."""
        one = self._truth(f"Dr. {self._chance.choice(SURNAMES)}")
        shares_site = self._chance.random() < 0.5
        names = self._chance.sample(SURNAMES, 2)
        for name in names:
            site = one.site if shares_site else f"{name.lower()}-{self._chance.randint(1, 9**6)}.fi"
            title = self._chance.choice(("Dr. ", "Dr. med. ", "Praxis Dr. "))
            yield from self._noisy(replace(one, name=title + name, site=site), is_person=True)

    def _renamed(self) -> Iterator[Labelled]:
        """One provider has the old name."""
        truth = self._truth(f"{self._word()} {self._chance.choice(KINDS)}")
        records = list(self._noisy(truth))
        old = f"{self._word()} {self._word()}"
        whole = replace(records[0].record, name=old, phone=truth.phone, website=f"https://{truth.site}/")
        yield Labelled(replace(whole, latitude=truth.latitude, longitude=truth.longitude), records[0].business)
        yield from records[1:]

    def _foreign(self) -> Iterator[Labelled]:
        """Some providers write the name in another alphabet."""
        names = {**CYRILLIC, **GREEK}
        latin = self._chance.choice(sorted(names))
        kind = self._chance.choice(KINDS)
        for one in self._noisy(self._truth(f"{latin} {kind}")):
            written = one.record.name.replace(latin, names[latin]) if self._chance.random() < 0.5 else one.record.name
            yield Labelled(replace(one.record, name=written), one.business)

    def _mall(self) -> Iterator[Labelled]:
        """Shops in one house, whose site is that of the mall; some have its phone."""
        mall = self._truth("Mall")
        for _ in range(self._chance.randint(3, 6)):
            own = self._truth(f"{self._word()} {self._word()} {self._chance.choice(KINDS)}")
            phone = mall.phone if self._chance.random() < 0.3 else own.phone
            yield from self._noisy(replace(mall, name=own.name, phone=phone))

    def _neighbours(self) -> Iterator[Labelled]:
        """Two businesses of one kind next door, with a word in common."""
        first = self._truth(f"{self._word()} {self._chance.choice(KINDS)}")
        kind = first.name.split()[-1]
        yield from self._noisy(first)
        second = self._truth(f"{self._word()} {kind}")
        beside = replace(second, latitude=first.latitude + 0.0002, longitude=first.longitude, street=first.street)
        yield from self._noisy(replace(beside, number=first.number + 2))

    # -- noise ---------------------------------------------------------------------------------------------------------

    def _noisy(self, truth: _Truth, *, keeps_street: bool = False, is_person: bool = False) -> Iterator[Labelled]:
        """Yield the record of each of some providers, each with its own gaps and spelling."""
        self._next += 1
        chance = self._chance
        for provider in chance.sample(PROVIDERS, chance.randint(1, 4)):
            has_point = provider != "file" or chance.random() < 0.5
            metres = abs(chance.gauss(0, 18 if provider != "overture" else 35))
            angle = chance.uniform(-1, 1)
            street = f"{truth.street} {truth.number}" if keeps_street or chance.random() < 0.75 else None
            record = PlaceRecord(
                key=f"{provider}/{self._next}-{chance.randrange(10**9)}",
                provider=provider,
                name=self._spelled(truth.name, is_person=is_person),
                phone=truth.phone if chance.random() < 0.75 else None,
                website=f"https://www.{truth.site}/x" if chance.random() < 0.7 else None,
                latitude=round(truth.latitude + metres * angle / 111_320, 6) if has_point else None,
                longitude=round(truth.longitude + metres * (1 - abs(angle)) / 55_000, 6) if has_point else None,
                street=street,
                postcode=truth.postcode if chance.random() < 0.7 else None,
            )
            yield Labelled(record, self._next)

    def _spelled(self, name: str, *, is_person: bool) -> str:
        chance = self._chance
        roll = chance.random()
        if is_person:
            return name.replace("Praxis ", "") if roll < 0.3 else name
        if roll < 0.35:
            return name
        if roll < 0.55:
            return name + chance.choice(LEGAL)
        if roll < 0.65:
            return name.upper()
        if roll < 0.75:
            return " ".join(reversed(name.split()))
        if roll < 0.85:
            return name.replace("Restaurant", "Rest.").replace("Pharmacy", "Pharm.").replace("Studio", "Stud.")
        if roll < 0.93:
            return f"{name} {chance.choice(('City', 'Center', 'Helsinki', 'Downtown'))}"
        place = chance.randrange(1, len(name) - 1)
        return name[:place] + name[place + 1 :]  # a letter is missing

    def _truth(self, name: str) -> _Truth:
        chance = self._chance
        return _Truth(
            name=name,
            phone=f"+3589{chance.randint(10**6, 10**7 - 1)}",
            site=f"{name.split()[0].lower().strip('.')}-{chance.randint(1, 10**6)}.fi",
            latitude=60.0 + chance.uniform(0, 0.3),
            longitude=24.0 + chance.uniform(0, 0.6),
            street=chance.choice(STREETS),
            number=chance.randint(1, 120),
            postcode=f"00{chance.randint(10, 99)}0",
        )

    def _word(self) -> str:
        return self._chance.choice(FIRST) + self._chance.choice(("", "", "a", "o", "ia", "en", "er"))
