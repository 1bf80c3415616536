"""docs/sandbox.md says what the code does."""

from pathlib import Path

from scrapersky.sandbox.conditions import SHARES, WHY_UNREACHABLE
from scrapersky.sandbox.fake_google import MISHAPS
from scrapersky.sandbox.fake_osm import NOMINATIM_MISHAPS, OVERPASS_MISHAPS

PAGE = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text("utf-8")


def test_every_condition_is_documented_with_its_share():
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
    documented = {row[0]: (int(row[1]), row[3]) for row in rows if len(row) == 4 and row[1].isdecimal()}

    assert documented == {
        condition.value: (share, "no" if condition in WHY_UNREACHABLE else "yes") for condition, share in SHARES.items()
    }


def test_every_error_to_order_is_documented():
    for kind in (*MISHAPS, *NOMINATIM_MISHAPS, *OVERPASS_MISHAPS):
        assert kind in PAGE
