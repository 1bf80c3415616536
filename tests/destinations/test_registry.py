"""The registered kinds: the documentation has the table of their declarations, and each kind checks its values."""

from pathlib import Path

import pytest

from scrapersky.destinations.kind import BadDestination, BadOptions, DestinationKind
from scrapersky.destinations.registry import KINDS, describe_options

PAGE = Path(__file__).parents[2] / "docs" / "deliveries.md"


def row_of(kind: DestinationKind) -> str:
    options = ", ".join(f"`{name}`" for name in kind.options.model_fields) or "–"
    return f"| {kind.name} | {kind.protocol} | {kind.url} | {kind.secret.description} | {options} |"


def test_the_documentation_has_the_table_of_kinds() -> None:
    table = "\n".join(row_of(kind) for kind in KINDS.values())
    assert table in PAGE.read_text(), f"docs/deliveries.md needs this table:\n{table}"


def test_the_options_of_every_kind_are_described() -> None:
    assert describe_options() == "hubspot: `fields`; brevo: `list_ids`, `fields`; n8n: `header`"


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_checks_its_options_and_its_secret(name: str) -> None:
    kind = KINDS[name]
    with pytest.raises(BadOptions, match=f"A {name} destination has: "):
        kind.check_options({"unknown": 1})
    assert kind.check_options({}) == {}
    with pytest.raises(BadDestination, match="characters that no key has"):
        kind.check_secret("line\nbreak")


def test_a_url_is_needed_where_there_is_no_base_url() -> None:
    needing = [kind.name for kind in KINDS.values() if kind.base_url is None]
    assert needing == ["webhook", "n8n"]
    with pytest.raises(BadDestination, match="needs the `url`"):
        KINDS["webhook"].check_url(None)
    KINDS["hubspot"].check_url(None)


def test_only_a_signing_secret_is_generated() -> None:
    assert (KINDS["webhook"].new_secret() or "").startswith("whsec_")
    assert KINDS["n8n"].new_secret() is None
    with pytest.raises(BadDestination, match="needs a `secret`: API key"):
        KINDS["brevo"].new_secret()
