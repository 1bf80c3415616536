"""The sentence about sites that show nothing to a plain reader."""

import pytest

from scrapersky.cli.shared.hidden_sites import WORDS, describe_hidden_sites
from scrapersky.core.vocabularies import HiddenReason


def test_every_reason_has_words():
    assert set(WORDS) == set(HiddenReason)


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ({"javascript": 12, "bot_check": 3}, "12 sites are drawn by JavaScript, 3 ask for a bot check."),
        (
            {"login": 1, "consent": 1, "unfinished": 2},
            "1 site asks for a login, 1 asks for consent first, 2 are under construction.",
        ),
        ({"javascript": 0, "parked": 1}, "1 site is parked."),
        ({}, None),
    ],
)
def test_sites_are_counted_by_their_reason(counts, sentence):
    assert describe_hidden_sites(counts) == sentence
