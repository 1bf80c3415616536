"""The Chromium of this machine, and whether the tests that need one can run."""

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

PLACES = ("browser", "workflows/test_drawn_pages.py")  # of the tests that need a Chromium, under tests/
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--renderer-process-limit=1",  # pages of one site: a process for each would take longer than the pages
    *(("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()),
)


def find_chromium() -> str | None:
    """Return the path of a Chromium: that of the variable CHROMIUM, or the first of the usual names."""
    wanted = os.environ.get("CHROMIUM")
    found = (shutil.which(name) for name in ([wanted] if wanted else NAMES))
    return next((path for path in found if path), None)


def why_not() -> str:
    """Return why the browser tests cannot run here; empty if they can."""
    if find_chromium() is None:
        return "no Chromium here"
    if find_spec("playwright") is None or find_spec("axe_playwright_python") is None:
        return "requirements-browser.lock is not installed"
    return ""


def is_required() -> bool:
    """Whether a run must fail instead of leaving the browser tests out."""
    return os.environ.get("REQUIRE_BROWSER", "") not in ("", "0")


def count_tests() -> int:
    """Return the number of test functions that need a Chromium, without importing them."""
    places = [Path(__file__).parents[1] / place for place in PLACES]
    files = [path for place in places for path in ([place] if place.is_file() else place.glob("test_*.py"))]
    return sum(
        line.startswith(("def test_", "async def test_")) for path in files for line in path.read_text().splitlines()
    )


if __name__ == "__main__":  # for the Makefile: is there a Chromium?
    sys.exit(0 if find_chromium() else 1)
