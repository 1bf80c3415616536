"""`scrapersky` on a database that counts the rows of a search too slowly: the statement never ends in time."""

from sqlalchemy import text

from scrapersky.cli import main
from scrapersky.store.searches import progress

SLOW = text("SELECT pg_sleep(60), CAST(:search AS uuid)")

if __name__ == "__main__":
    vars(progress).update(
        _PROGRESS=SLOW, _REASONS=text("SELECT pg_sleep(60), CAST(:search AS uuid), CAST(:limit AS int)")
    )
    main()
