"""Programs that check deploy files and the OpenAPI document: no packages of the project, `.ci/run` installs them.

Without one, its test checks nothing: the end of the run names it.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests import ROOT

REQUIRED = tuple(filter(None, os.environ.get("REQUIRE_TOOLS", "").replace(",", " ").split()))
DEPLOY = ROOT / "deploy"
TOOLS = (
    *("promtool", "prometheus", "yamllint", "hadolint", "kubernetes-validate", "check-jsonschema"),
    *("systemd-analyze", "openapi-python-client", "spectral"),
)


def missing_tools() -> list[str]:
    """Return the programs that are not installed here."""
    return [name for name in TOOLS if shutil.which(name) is None]


def run_tool(name: str, *arguments: str, cwd: Path = DEPLOY, accepted: Sequence[int] = (0,)) -> str | None:
    """Run a tool and return its output; None if it is neither installed nor listed in REQUIRE_TOOLS."""
    assert name in TOOLS
    path = shutil.which(name)
    if path is None:
        assert name not in REQUIRED, f"{name} is not installed, and REQUIRE_TOOLS lists it"
        return None
    done = subprocess.run([path, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode in accepted, done.stdout + done.stderr
    return done.stdout + done.stderr
