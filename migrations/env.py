"""Run Alembic on the connection that `scrapersky.core.schema.migrations` opened and locked."""

from alembic import context
from sqlalchemy import text

from scrapersky.models import Base

connection = context.config.attributes["connection"]
# `SET search_path FROM CURRENT` of a function captures this value: the function looks for names in our schema, and in
# the temporary schema of the caller last. Otherwise a caller could replace a table by a temporary one of its name.
connection.execute(text("SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)"))
context.configure(connection=connection, target_metadata=Base.metadata, compare_type=True)
with context.begin_transaction():
    context.run_migrations()
