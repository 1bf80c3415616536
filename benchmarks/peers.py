"""Peers are installed into a virtual environment of their own beside the project, once."""

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def peer_python(name: str, packages: list[str]) -> Path:
    """Return the Python of the environment `.venv-bench-<name>` with these packages; create it if needed."""
    home = ROOT / f".venv-bench-{name}"
    python = home / "bin" / "python"
    stamp = home / hashlib.sha256("\n".join(packages).encode()).hexdigest()
    if not stamp.exists():
        print(f"installing {', '.join(packages)} beside the project ...", file=sys.stderr, flush=True)
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", *packages], check=True)
        stamp.touch()
    return python
