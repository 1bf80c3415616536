"""The console's own style sheet and modules: read and compressed once, served under the hash of their content."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fastapi import Request
from starlette.responses import Response

from scrapersky.api.http.browser_cookie import STATIC
from scrapersky.core.errors import UnknownName

MEDIA_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
FOREVER = "public, max-age=31536000, immutable"


class UnknownAsset(UnknownName):
    """There is no such file."""


@dataclass(frozen=True)
class Asset:
    """A static file, plain and compressed."""

    plain: bytes
    compressed: bytes
    media_type: str


@dataclass(frozen=True)
class Assets:
    """All static files. One hash covers all, so that modules can import each other by relative paths."""

    version: str
    by_name: dict[str, Asset]

    def path(self, name: str) -> str:
        """Return the path of a file, which changes with the content of any file."""
        if name not in self.by_name:
            raise UnknownAsset(f"{name} is not in console/static.")
        return f"{STATIC}{self.version}/{name}"


@cache
def assets() -> Assets:
    """Read every static file of the package."""
    found: dict[str, Asset] = {}
    for file in sorted((files("scrapersky.console") / "static").iterdir(), key=lambda one: one.name):
        media_type = MEDIA_TYPES.get(file.name.rpartition(".")[2])
        if media_type:
            content = file.read_bytes()
            found[file.name] = Asset(content, gzip.compress(content, mtime=0), media_type)
    together = hashlib.sha256(b"".join(name.encode() + asset.plain for name, asset in found.items()))
    return Assets(together.hexdigest()[:16], found)


async def serve(version: str, name: str, request: Request) -> Response:
    """Return a file: for ever under its own hash; under the hash of another version the present file, not stored."""
    asset = assets().by_name.get(name)
    if asset is None:
        raise UnknownAsset("The console has no such file.")
    is_present = version == assets().version
    headers = {"Cache-Control": FOREVER if is_present else "no-store", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(asset.compressed, headers=headers, media_type=asset.media_type)
    return Response(asset.plain, headers=headers, media_type=asset.media_type)
