-- The two roles that the application acts as. Neither can log in: the login role of DATABASE_URL owns the tables and
-- switches to one of them.
--   scrapersky_app     acts for one tenant; row level security shows it the rows of that tenant only
--   scrapersky_engine  claims and settles the queue rows of all tenants; it can change queue columns, and little else

-- Roles belong to the whole server. Another database of this application may have created them already, or may be
-- creating them at this moment. A login role that was granted them beforehand does not need CREATEROLE.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'scrapersky_app') THEN
        CREATE ROLE scrapersky_app NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'scrapersky_engine') THEN
        CREATE ROLE scrapersky_engine NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

DO $$
BEGIN
    IF NOT pg_has_role('scrapersky_app', 'USAGE') THEN
        GRANT scrapersky_app TO CURRENT_USER;
    END IF;
    IF NOT pg_has_role('scrapersky_engine', 'USAGE') THEN
        GRANT scrapersky_engine TO CURRENT_USER;
    END IF;
END
$$;

-- GET /health/ready compares the revision over the engine's connections.
GRANT SELECT ON alembic_version TO scrapersky_engine;
