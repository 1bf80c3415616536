"""Categories of every provider in words."""

import pytest

from scrapersky.providers.category_words import category_words

pytestmark = pytest.mark.fast


@pytest.mark.parametrize(
    ("categories", "words"),
    [
        (["amenity=dentist", "healthcare=dentist"], "dentist"),
        (["shop=wine;bakery"], "wine shop, bakery"),
        (["shop=yes"], "shop"),
        (["office=it", "craft=metal_construction"], "it office, metal construction"),
        (["dental_clinic", "point_of_interest", "establishment"], "dental clinic"),
        (["establishment"], "establishment"),
        (["Zahnarzt", "ice cream parlour"], "Zahnarzt, ice cream parlour"),
        ([], ""),
    ],
)
def test_tags_and_types_become_words(categories, words):
    assert category_words(categories) == words
