"""How Alembic runs here: on the connection that `scrapersky.core.migrations` hands over, already locked."""

from alembic import context

from scrapersky.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
