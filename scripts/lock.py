"""Write the lock files, with the hashes of every release file, from the pins that they have.

`python scripts/lock.py` renews the hashes; `python scripts/lock.py NAME==VERSION ...` adds or changes pins first. The
packages must be installed: their metadata tells which of them the program itself needs. The files name no index.
"""

import re
import sys
import tomllib
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).parents[1]
INDEX = import_module("pip._internal.models.index").PyPI.simple_url  # the one that pip uses by default
RUN, BUILD, DEVELOP = "requirements.lock", "requirements-build.lock", "requirements-dev.lock"
BROWSER = "requirements-browser.lock"
BROWSER_TOOLS = ["playwright", "axe-playwright-python"]
HEADS = {
    RUN: "# What scrapersky needs to run.",
    BUILD: "# What building the package needs.",
    DEVELOP: "# What developing needs: running, building, tests, linters and documentation.",
    BROWSER: "# What the tests in a browser need besides requirements-dev.lock.",
}
# Wheels of other interpreters are left out; a source distribution serves the rest.
WHEEL = re.compile(r"-(cp31[1-9]-|cp3\d{1,2}-abi3-|py3-|py2\.py3-)")
PIN = re.compile(r"^([A-Za-z0-9._-]{1,100})==([^\s\\]{1,100})", re.MULTILINE)
FILE = re.compile(r'/([^"#/]{1,300})#sha256=([0-9a-f]{64})"')


def main(changes: list[str]) -> None:
    """Write the lock files."""
    developing = dict(PIN.findall((ROOT / DEVELOP).read_text()))
    pins = {**dict(PIN.findall((ROOT / BROWSER).read_text())), **developing}
    names: dict[str, str] = {canonicalize_name(name): name for name in pins}
    for name, version in PIN.findall("\n".join(changes)):
        pins[names.setdefault(canonicalize_name(name), name)] = version
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    run = [*project["project"]["dependencies"], *(one for name in extras if name != "dev" for one in extras[name])]
    build = [*project["build-system"]["requires"], "editables"]
    browser = needed(BROWSER_TOOLS) - {canonicalize_name(name) for name in developing}
    chosen = {RUN: needed(run), BUILD: needed(build), DEVELOP: set(names) - browser, BROWSER: browser}
    with ThreadPoolExecutor(8) as pool:
        hashes = dict(zip(pins, pool.map(hashes_of, pins, pins.values()), strict=True))
    for file, wanted in chosen.items():
        locked = [
            " \\\n    ".join([f"{name}=={pins[name]}", *(f"--hash=sha256:{one}" for one in hashes[name])])
            for name in sorted((names[one] for one in wanted), key=str.lower)
        ]
        (ROOT / file).write_text("\n".join([HEADS[file], "# Written by scripts/lock.py.", *locked]) + "\n")


def needed(requirements: list[str], extra: str = "") -> set[str]:
    """Return the canonical names of these requirements and of everything they need, by the installed metadata."""
    found: set[str] = set()
    pending = [(Requirement(one), extra) for one in requirements]
    while pending:
        requirement, of_extra = pending.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": of_extra}):
            continue
        name = canonicalize_name(requirement.name)
        if name in found and not requirement.extras:
            continue
        found.add(name)
        try:
            further = [Requirement(one) for one in requires(name) or []]
        except PackageNotFoundError:
            raise SystemExit(f"{name} is not installed: install it, then run this again.") from None
        pending += [(one, wanted) for one in further for wanted in ("", *requirement.extras)]
    return found


def hashes_of(name: str, version: str) -> list[str]:
    """Return the hashes of the release files that may be installed, sorted."""
    url = f"{INDEX}/{canonicalize_name(name)}/"
    with urllib.request.urlopen(url, timeout=60) as response:  # noqa: S310 # nosec B310 - the index of pip, by https
        page = response.read().decode()
    found = {digest for file, digest in FILE.findall(page) if is_usable(file, version)}
    if not found:
        raise SystemExit(f"{name}=={version} has no file that can be installed.")
    return sorted(found)


def is_usable(file: str, version: str) -> bool:
    """Return whether the file belongs to this version, and is a source distribution or a fitting wheel."""
    try:
        if file.endswith(".whl"):
            return parse_wheel_filename(file)[1] == Version(version) and WHEEL.search(file) is not None
        return parse_sdist_filename(file)[1] == Version(version)
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):  # files of old releases
        return False


if __name__ == "__main__":
    main(sys.argv[1:])
