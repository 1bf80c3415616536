"""An invented business: everything true about it, made from the seed and its number."""

import random
from dataclasses import dataclass

from scrapersky.sandbox.world.cities import City, Country, cities, countries
from scrapersky.sandbox.world.conditions import DECK, Condition
from scrapersky.sandbox.world.host_names import host_of
from scrapersky.sandbox.world.languages import SiteLanguage, languages
from scrapersky.sandbox.world.phone_numbers import fill, pick
from scrapersky.sandbox.world.slugs import plain, slug
from scrapersky.sandbox.world.stratified_draw import build_pool, draw
from scrapersky.sandbox.world.trades import Trade, trades
from scrapersky.sandbox.world.unlisted import Unlisted, kind_of

# Of every hundred businesses; the other countries share the rest. Most of Helsinki's are dentists, so that one search
# finds dozens in a small world and more than sixty in a larger one.
FINNISH_SEATS = {
    ("Helsinki", "dentist"): 14,
    ("Helsinki", ""): 14,
    ("Turku", "dentist"): 4,
    ("Turku", ""): 6,
    ("Tampere", ""): 2,
}
OTHER_SEATS = {
    (city.name, ""): 2 for country in countries().values() if country.code != "FI" for city in country.cities
}
SEATS = build_pool({**FINNISH_SEATS, **OTHER_SEATS})
TRADES = tuple(trades())
PLATFORMS = ("facebook", "instagram", "linkedin", "youtube", "tiktok")
PROFILE_SITES = (
    "https://www.facebook.com/{}",
    "https://www.instagram.com/{}/",
    "https://linktr.ee/{}",
    "https://www.fresha.com/a/{}",
)
SCHEMES = build_pool({"https": 13, "http": 7})
BAD_CERTIFICATES = (Condition.EXPIRED, Condition.MISNAMED)
FREE_MAIL = ("gmail.com", "outlook.com", "proton.me")


@dataclass(frozen=True, slots=True)
class InventedPerson:
    """A person who works at a business."""

    name: str
    title: str
    email: str | None = None
    degree: str = ""  # what stands before the name


@dataclass(frozen=True, slots=True)
class Hours:
    """When it is open: the same on working days, perhaps shorter on Saturday, closed on Sunday."""

    opens: int
    closes: int
    saturday: int | None  # when it closes then


@dataclass(frozen=True, slots=True)
class Business:
    """One business. `host` is its own domain; `website` is the address that maps and directories have."""

    number: int
    name: str
    trade: Trade
    country: Country
    city: City
    language: SiteLanguage
    street: str
    postcode: str
    latitude: float
    longitude: float
    phone: str
    mobile: str | None
    fax: str | None
    host: str | None
    website: str | None
    email: str
    second_email: str | None
    people: tuple[InventedPerson, ...]
    socials: tuple[str, ...]
    hours: Hours
    rating: float
    rating_count: int
    tax: str
    condition: Condition
    secure: bool  # the site is served over https, and http leads there
    partner: int | None = None  # the number of the business whose site this one shares
    unlisted: Unlisted | None = None  # how its site can be found, if its map does not know it

    @property
    def closed(self) -> bool:
        """Whether it has closed for good."""
        return self.condition is Condition.CLOSED

    @property
    def legal_name(self) -> str:
        """The name in the register."""
        return f"{self.name} {self.country.legal}"

    @property
    def site_url(self) -> str | None:
        """The address of its site, which maps may not know."""
        return f"{'https' if self.secure else 'http'}://{self.host}/" if self.host else None


@dataclass(frozen=True, slots=True)
class Location:
    """The little that a map needs to know about a business."""

    number: int
    city: City
    trade: Trade
    latitude: float
    longitude: float


def location_of(seed: int, number: int) -> Location:
    """Return the place and trade of a business without generating the rest."""
    host = number - 1 if shares_a_site(seed, number) else number  # two that share a site are of one city and trade
    city_name, trade = draw(seed, "seats", SEATS, host)
    city = cities()[city_name]
    chance = random.Random(f"{seed} seat {number}")
    return Location(
        number,
        city,
        trades()[trade or draw(seed, "trades", TRADES, host)],
        round(chance.uniform(city.box.south, city.box.north), 7),
        round(chance.uniform(city.box.west, city.box.east), 7),
    )


def shares_a_site(seed: int, number: int) -> bool:
    """Check for a business that uses the site of the one before it, which must be a working one."""
    condition = draw(seed, "conditions", DECK, number)
    return (
        condition is Condition.SHARED and number > 0 and draw(seed, "conditions", DECK, number - 1) is Condition.HEALTHY
    )


def make(seed: int, number: int) -> Business:
    """Generate the business of this number; the world completes one that shares a site."""
    seat = location_of(seed, number)
    chance = random.Random(f"{seed} business {number}")
    country = countries()[seat.city.country]
    language = languages()[country.language]
    condition = draw(seed, "conditions", DECK, number)
    noun, word = seat.trade.nouns[language.code], chance.choice(language.words)
    name = f"{word} {noun}" if language.code in ("en", "hu") else f"{noun} {word}"
    host = host_of(noun, word, seed, number, country.ending)
    people = _people(chance, language, seat.trade, host)
    secure, scheme = _scheme(seed, number, condition)
    return Business(
        number=number,
        name=name,
        trade=seat.trade,
        country=country,
        city=seat.city,
        language=language,
        street=_street(chance, country),
        postcode=_digits(chance, seat.city.postcode),
        latitude=seat.latitude,
        longitude=seat.longitude,
        phone=pick(seat.city.landline, seed, number * 2, country.code),
        mobile=pick(country.mobile, seed, number, country.code) if chance.random() < 0.4 else None,
        fax=pick(seat.city.landline, seed, number * 2 + 1, country.code) if chance.random() < 0.25 else None,
        host=None if condition in (Condition.NONE, Condition.PROFILE) else host,
        website=_website(chance, condition, host, scheme),
        email=_email(chance, language, host),
        second_email=f"{chance.choice(language.seconds)}@{host}" if chance.random() < 0.35 else None,
        people=people,
        socials=_socials(chance, host),
        hours=Hours(chance.randint(7, 10), chance.randint(16, 20), chance.choice((None, 13, 15))),
        rating=round(chance.uniform(3.1, 5.0), 1),
        rating_count=chance.randint(3, 900),
        tax=_digits(chance, country.tax),
        condition=condition,
        secure=secure,
        unlisted=kind_of(seed, number) if condition is Condition.UNLISTED else None,
    )


def _scheme(seed: int, number: int, condition: Condition) -> tuple[bool, str]:
    """Choose http or https for the site, and for the URL that maps show: maps often have an older one."""
    secure = condition in BAD_CERTIFICATES or draw(seed, "schemes", SCHEMES, number) == "https"
    told = secure and random.Random(f"{seed} scheme {number}").random() < 0.6
    return secure, "https" if told else "http"


def _website(chance: random.Random, condition: Condition, host: str, scheme: str) -> str | None:
    account = host.partition(".")[0].replace("-", "")
    if condition in (Condition.NONE, Condition.UNLISTED):
        return None
    if condition is Condition.PROFILE:
        return chance.choice(PROFILE_SITES).format(account)
    tail = "?utm_source=google&utm_medium=organic" if chance.random() < 0.15 else ""
    return f"{scheme}://{'www.' if chance.random() < 0.4 and condition is not Condition.WWW else ''}{host}/{tail}"


def _email(chance: random.Random, language: SiteLanguage, host: str) -> str:
    """Choose the address; one in twelve uses a free mail host."""
    if chance.random() < 1 / 12:
        return f"{host.partition('.')[0].replace('-', '.')}@{chance.choice(FREE_MAIL)}"
    return f"{chance.choice(language.locals)}@{host}"


def _people(chance: random.Random, language: SiteLanguage, trade: Trade, host: str) -> tuple[InventedPerson, ...]:
    """Generate the people, the manager first; some have their own address."""
    count = chance.randint(2, 5)
    family = chance.sample(language.family, count)
    given = chance.sample(language.given, count)
    craft = trade.people[language.code]
    titles = [language.roles[0], *([craft] if craft else []), *language.roles[1:]]
    people = []
    for index in range(count):
        name = f"{given[index]} {family[index]}"
        if language.code == "hu":
            name = f"{family[index]} {given[index]}"
        own = f"{plain(given[index])}.{slug(family[index])}@{host}" if chance.random() < 0.45 else None
        doctor = trade.name in ("dentist", "veterinary") and titles[index] == craft and chance.random() < 0.5
        people.append(InventedPerson(name, titles[index], own, "Dr. " if doctor else ""))
    return tuple(people)


def _socials(chance: random.Random, host: str) -> tuple[str, ...]:
    account = host.partition(".")[0].replace("-", "")
    homes = {
        "facebook": f"https://www.facebook.com/{account}",
        "instagram": f"https://www.instagram.com/{account}",
        "linkedin": f"https://www.linkedin.com/company/{account}",
        "youtube": f"https://www.youtube.com/@{account}",
        "tiktok": f"https://www.tiktok.com/@{account}",
    }
    return tuple(homes[name] for name in chance.sample(PLATFORMS, chance.randint(0, 3)))


def _street(chance: random.Random, country: Country) -> str:
    street, number = chance.choice(country.streets), chance.randint(1, 98)
    return f"{number} {street}" if country.code in ("GB", "US", "FR") else f"{street} {number}"


def _digits(chance: random.Random, pattern: str) -> str:
    return fill(pattern, chance.randrange(10 ** pattern.count("#"))) if "#" in pattern else pattern
