"""docs/sandbox.md says what the code does."""

from scrapersky.sandbox.google.service import FAULTS
from scrapersky.sandbox.osm.servers import NOMINATIM_FAULTS, OVERPASS_FAULTS
from scrapersky.sandbox.world.conditions import SHARES, WHY_UNREACHABLE
from tests import ROOT

PAGE = (ROOT / "docs" / "sandbox.md").read_text("utf-8")


def test_every_condition_is_documented_with_its_share():
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
    documented = {row[0]: (int(row[1]), row[3]) for row in rows if len(row) == 4 and row[1].isdecimal()}

    assert documented == {
        condition.value: (share, "no" if condition in WHY_UNREACHABLE else "yes") for condition, share in SHARES.items()
    }


def test_every_error_to_order_is_documented():
    for kind in (*FAULTS, *NOMINATIM_FAULTS, *OVERPASS_FAULTS):
        assert kind in PAGE
