"""The wheel holds what the console serves."""

import zipfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

from scrapersky.console.assets import assets
from tests import ROOT


def test_the_wheel_has_every_template_and_static_file(tmp_path: Path) -> None:
    [wheel] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    held = set(zipfile.ZipFile(wheel).namelist())
    templates = {path.name for path in (ROOT / "src/scrapersky/console/templates").iterdir()}
    assert {f"scrapersky/console/templates/{name}" for name in templates} <= held
    assert {f"scrapersky/console/static/{name}" for name in assets().by_name} <= held
