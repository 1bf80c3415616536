"""The categories of a business in words, from the tags and types of every provider."""

from collections.abc import Iterable
from functools import lru_cache

from scrapersky.providers.osm.categories import kind_names

# Types that Google gives to almost every business.
_ANY_BUSINESS = frozenset({"establishment", "point of interest"})
# Keys of OpenStreetMap whose values are goods or branches: `shop=wine` is a wine shop.
_KEYS_IN_WORDS = frozenset({"shop", "office"})


def category_words(categories: Iterable[str]) -> str:
    """Return each category once, in words, with commas between them."""
    words = dict.fromkeys(word for category in categories for word in _words(category))
    return ", ".join(word for word in words if word not in _ANY_BUSINESS) or ", ".join(words)


@lru_cache(10_000)
def _words(category: str) -> tuple[str, ...]:
    """Return the words of one category: a type such as `dental_clinic`, or a tag such as `shop=bakery;wine`."""
    key, _, values = category.rpartition("=")
    plain = (value.strip().replace("_", " ") for value in values.split(";"))
    return tuple(_tag_words(key.replace("_", " "), value) for value in plain if value)


def _tag_words(key: str, value: str) -> str:
    if key and value == "yes":
        return key
    return f"{value} {key}" if key in _KEYS_IN_WORDS and value not in kind_names() else value
