"""A login role that owns nothing, as `scrapersky migrate` makes it from two URLs."""

from sqlalchemy import make_url

from scrapersky.core.database import Database
from scrapersky.core.schema.migrations import migrate
from tests.conftest import make_settings


async def admitted_url(owner_url: str, name: str = "line_login", password: str | None = None) -> str:
    """The URL of the login role for the migrated database of `owner_url`."""
    url = make_url(owner_url).set(username=name, password=password).render_as_string(hide_password=False)
    database = Database(url, make_settings(url), owner_url=owner_url)
    assert await migrate(database) == []
    await database.close()
    return url
