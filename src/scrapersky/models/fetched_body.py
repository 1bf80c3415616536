"""The cache of response bodies."""

from datetime import datetime

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.models.base import Base


class FetchedBody(Base):
    """The response to a request for a web page, a sitemap or a robots.txt, shared by all workers until it expires."""

    __tablename__ = "fetched_body"
    __table_args__ = (Index("fetched_body_by_expiry", "expires_at"),)

    url_hash: Mapped[bytes] = mapped_column(primary_key=True)  # a URL may be too long for an index
    head: Mapped[str]  # JSON as text: status, headers, redirects
    body: Mapped[bytes]
    size_bytes: Mapped[int]
    expires_at: Mapped[datetime]
