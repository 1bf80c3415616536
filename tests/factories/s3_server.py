"""A little S3 on loopback, as faithful as reading needs: list (version 2, in pages), head, ranged get, errors."""

from collections.abc import Mapping
from email.utils import formatdate
from hashlib import md5
from typing import Self
from xml.sax.saxutils import escape

from aiohttp import web

XMLNS = "http://s3.amazonaws.com/doc/2006-03-01/"
STATUS = {"NoSuchBucket": 404, "NoSuchKey": 404, "AccessDenied": 403, "SlowDown": 503, "InvalidRange": 416}


class LittleS3:
    """Buckets of keys and bytes, addressed by path; `refuse_with` is the code of an error for every request."""

    def __init__(self, buckets: Mapping[str, Mapping[str, bytes]], page: int = 1000) -> None:
        self.buckets = buckets
        self.page = page  # keys in one answer, as S3 ends it after a thousand
        self.refuse_with: str | None = None
        self.asked: list[tuple[str, str, str]] = []  # method, path, and what was asked of it
        self.signed = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        application = web.Application()
        application.router.add_route("*", "/{bucket}{slash:/?}{key:.*}", self._serve)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port: int = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Stop listening."""
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.Response:
        bucket, key = request.match_info["bucket"], request.match_info["key"]
        self.asked.append((request.method, request.path, request.headers.get("Range", request.query_string)))
        self.signed += "Authorization" in request.headers
        if self.refuse_with:
            return self._error(self.refuse_with, request)
        if bucket not in self.buckets:
            return self._error("NoSuchBucket", request)
        if not key:
            listed = self._list(bucket, request.query) if request.method == "GET" else ""
            return web.Response(text=listed, content_type="application/xml")
        if key not in self.buckets[bucket]:
            return self._error("NoSuchKey", request)
        return self._object(self.buckets[bucket][key], request)

    def _object(self, content: bytes, request: web.Request) -> web.Response:
        headers = {
            "ETag": f'"{md5(content, usedforsecurity=False).hexdigest()}"',
            "Last-Modified": formatdate(0, usegmt=True),
            "Accept-Ranges": "bytes",
        }
        wanted = request.http_range
        if wanted.start is None:
            return web.Response(body=content, headers=headers, content_type="application/octet-stream")
        start, stop, _ = wanted.indices(len(content))
        if start >= len(content):
            return self._error("InvalidRange", request)
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(content)}"
        return web.Response(
            body=content[start:stop], status=206, headers=headers, content_type="application/octet-stream"
        )

    def _list(self, bucket: str, query: Mapping[str, str]) -> str:
        """List keys and, with a delimiter, common prefixes; the next page begins after the token."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        names: dict[str, bytes | None] = {}
        for key in sorted(self.buckets[bucket]):
            if key.startswith(prefix):
                rest, parted, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
                names[prefix + rest + parted if parted else key] = None if parted else self.buckets[bucket][key]
        after = query.get("continuation-token", query.get("start-after", ""))
        left = [name for name in names if name > after]
        most = min(int(query.get("max-keys", 1000)), self.page)
        shown = left[:most]
        token = f"<NextContinuationToken>{escape(shown[-1])}</NextContinuationToken>" if len(left) > most else ""
        return (
            f'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="{XMLNS}"><Name>{bucket}</Name>'
            f"<Prefix>{escape(prefix)}</Prefix><KeyCount>{len(shown)}</KeyCount><MaxKeys>{most}</MaxKeys>"
            f"<IsTruncated>{'true' if token else 'false'}</IsTruncated>{token}"
            + "".join(_shown(name, names[name]) for name in shown)
            + "</ListBucketResult>"
        )

    def _error(self, code: str, request: web.Request) -> web.Response:
        body = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{code}</Message></Error>'
        text = "" if request.method == "HEAD" else body  # an answer to HEAD has no body, also when it is an error
        return web.Response(text=text, status=STATUS[code], content_type="application/xml")


def _shown(name: str, content: bytes | None) -> str:
    if content is None:
        return f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
    return (
        f"<Contents><Key>{escape(name)}</Key><LastModified>1970-01-01T00:00:00.000Z</LastModified>"
        f"<Size>{len(content)}</Size><StorageClass>STANDARD</StorageClass></Contents>"
    )
