"""A page of docs/ that a test follows to the letter, in a copy of the project."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from scrapersky.core.schema.migrations import head_revision

ROOT = Path(__file__).parents[2]
STEP = re.compile(
    r"^(?:Create `(?P<create>[^`]+)`|In `(?P<edit>[^`]+)`, after the line `(?P<anchor>[^\n]+)`):\n\n"
    r"```python\n(?P<code>.*?)```$",
    re.MULTILINE | re.DOTALL,
)
OLDER_REVISION = re.compile(r'^down_revision = "initial"  # write the newest revision of your checkout$', re.MULTILINE)


class Walkthrough:
    """A copy of the project in which every step of a page was done, with a database of its own."""

    def __init__(self, page: str, folder: Path, database_url: str) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(ROOT)]),
            "DATABASE_URL": database_url,
        }
        for part in ("src", "migrations"):
            shutil.copytree(ROOT / part, folder / part)  # with the bytecode, which stays valid
        self.steps = list(STEP.finditer((ROOT / "docs" / page).read_text()))
        for step in self.steps:
            self._follow(step)

    @property
    def files(self) -> set[str]:
        """The files that the page creates or edits."""
        return {step["create"] or step["edit"] for step in self.steps}

    async def scrapersky(self, *words: str, stdin: str = "", **variables: str) -> str:
        """Run a command of the copy; return what it prints."""
        return await self.python("-m", "scrapersky", *words, stdin=stdin, **variables)

    async def python(self, *words: str, stdin: str = "", **variables: str) -> str:
        """Run Python with the sources of the copy; return what it prints."""
        result = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, *words],
            cwd=self.folder,
            env={**self.environment, **variables},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    def _follow(self, step: re.Match[str]) -> None:
        if step["create"]:
            newest = f'down_revision = "{head_revision()}"'
            (self.folder / step["create"]).write_text(OLDER_REVISION.sub(newest, step["code"]))
            return
        path = self.folder / step["edit"]
        text, anchor = path.read_text(), step["anchor"] + "\n"
        assert text.count(anchor) == 1, f"{step['edit']} has no single line {step['anchor']!r}"
        path.write_text(text.replace(anchor, anchor + step["code"]))
