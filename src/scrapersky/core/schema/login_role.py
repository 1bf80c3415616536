"""The role that the application logs in as: it owns nothing, and may only become one of the two roles of the schema."""

import structlog
from sqlalchemy import Connection, text

from scrapersky.core.database import Database
from scrapersky.core.errors import BadSetting

log = structlog.get_logger(__name__)


def admit_login(connection: Connection, database: Database) -> None:
    """Let the user of DATABASE_URL become the two roles, as the owner of the tables; create the user if it is missing.

    Raises BadSetting if the owner may not do it.
    """
    name = database.url.username
    if name is None or name == database.owner_url.username:
        return
    values = {"name": name, "password": database.url.password or database.url.query.get("password")}
    state = connection.execute(_STATE, values).one()
    if state.is_admitted:
        return
    if not state.may_create and not (state.exists and state.may_grant):
        raise BadSetting(
            f"The user {database.owner_url.username} of MIGRATION_DATABASE_URL may not admit the user {name} of "
            f"DATABASE_URL. Let an administrator {'' if state.exists else 'create it with LOGIN NOINHERIT, and '}"
            "grant it scrapersky_app and scrapersky_engine. Nothing was changed."
        )
    if not state.exists:
        connection.exec_driver_sql(connection.scalar(_CREATE, values) or "")
        log.info("database_login_created", login=name)
    connection.exec_driver_sql(connection.scalar(_GRANT, values) or "")


def become_engine(connection: Connection) -> None:
    """Act as the engine for the rest of the transaction, unless the login role may read the revision itself."""
    connection.execute(_BECOME_ENGINE)


def warn_of_privileges(connection: Connection) -> None:
    """Log a warning if the login role is a superuser, bypasses row level security or owns the tables."""
    if connection.scalar(_IS_PRIVILEGED):
        log.warning("database_login_privileged", login=connection.scalar(text("SELECT session_user")))


_STATE = text("""
SELECT login.oid IS NOT NULL AS exists,
    login.oid IS NOT NULL AND pg_has_role(login.oid, 'scrapersky_app', 'MEMBER')
        AND pg_has_role(login.oid, 'scrapersky_engine', 'MEMBER') AS is_admitted,
    self.rolsuper OR self.rolcreaterole AS may_create,
    self.rolsuper OR pg_has_role('scrapersky_engine', 'USAGE WITH ADMIN OPTION') AS may_grant
FROM pg_roles self LEFT JOIN pg_roles login ON login.rolname = :name WHERE self.rolname = current_user""")
_CREATE = text(
    "SELECT format('CREATE ROLE %I LOGIN NOINHERIT PASSWORD %L', CAST(:name AS text), CAST(:password AS text))"
)
_GRANT = text("SELECT format('GRANT scrapersky_app, scrapersky_engine TO %I', CAST(:name AS text))")
_BECOME_ENGINE = text(
    "SELECT set_config('role', 'scrapersky_engine', true) WHERE NOT has_table_privilege('alembic_version', 'SELECT')"
)
_IS_PRIVILEGED = text("""
SELECT rolsuper OR rolbypassrls OR pg_has_role(session_user, relowner, 'MEMBER')
FROM pg_roles, pg_class WHERE rolname = session_user AND pg_class.oid = to_regclass('tenant')""")
