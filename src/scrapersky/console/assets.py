"""The console's own style sheet and modules: read and compressed once, served under the hash of their content.

The entry module is served with all modules that it imports in it: a first visit costs one request for them.
"""

import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fastapi import Request
from starlette.responses import Response

from scrapersky.api.http.browser_cookie import STATIC
from scrapersky.core.errors import UnknownName

MEDIA_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
ENTRY = "console.js"
IMPORT = re.compile(r'^import \{([^}]{1,500})\} from "\./([a-z_]{1,30}\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w{1,60}))", re.MULTILINE)
FOREVER = "public, max-age=31536000, immutable"


class UnknownAsset(UnknownName):
    """There is no such file."""


@dataclass(frozen=True)
class Asset:
    """A static file, plain and compressed."""

    plain: bytes
    compressed: bytes
    media_type: str

    @classmethod
    def of(cls, content: bytes, media_type: str) -> "Asset":
        """Compress a file."""
        return cls(content, gzip.compress(content, mtime=0), media_type)


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
            found[file.name] = Asset.of(file.read_bytes(), media_type)
    modules = {name: asset.plain.decode() for name, asset in found.items() if name.endswith(".js")}
    found[ENTRY] = Asset.of(joined(modules, ENTRY).encode(), MEDIA_TYPES["js"])
    together = hashlib.sha256(b"".join(name.encode() + asset.plain for name, asset in found.items()))
    return Assets(together.hexdigest()[:16], found)


def joined(modules: Mapping[str, str], entry: str) -> str:
    """Join a module and those that it imports: each becomes a function that returns what the module exports.

    Raises ValueError for an import or an export that this cannot join, and for modules that import each other.
    """
    order: list[str] = []

    def add(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"{' → '.join((*path, name))}: these modules import each other.")
        for _, other in IMPORT.findall(modules[name]):
            add(other, (*path, name))
        if name not in order:
            order.append(name)

    add(entry, ())
    return "\n".join(_as_function(name, modules[name]) for name in order)


def _as_function(name: str, text: str) -> str:
    exported = ", ".join(found[1] for found in EXPORT.findall(text))
    body = EXPORT.sub(r"\1", IMPORT.sub(_as_constant, text))
    if left := re.search(r"^(?:import|export)\b.{0,80}", body, re.MULTILINE):
        raise ValueError(f'{name}: write `import {{ a }} from "./b.js";` or `export function`, not {left[0]!r}.')
    return f"const ${name.removesuffix('.js')} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


def _as_constant(found: re.Match[str]) -> str:
    return f"const {{{found[1].replace(' as ', ': ')}}} = ${found[2].removesuffix('.js')};"


async def serve(version: str, name: str, request: Request) -> Response:
    """Return a file: for ever under its own hash; under the hash of another version the present file, not stored."""
    asset = assets().by_name.get(name)
    if asset is None:
        raise UnknownAsset("The console has no such file.")
    is_present = version == assets().version
    headers = {"Cache-Control": FOREVER if is_present else "no-store"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}  # plain files get it from the middleware
        return Response(asset.compressed, headers=headers, media_type=asset.media_type)
    return Response(asset.plain, headers=headers, media_type=asset.media_type)
