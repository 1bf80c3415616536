-- Functions that this migration and later ones call to declare a table or a function in one line.
-- They are of use to the owner of the tables only.

-- Restrict a table to the rows of the current tenant (setting app.tenant_id). The engine sees the rows of all tenants.
-- `app_privileges` is what the application may do with the rows of the current tenant.
CREATE FUNCTION protect_tenant(target regclass, app_privileges text DEFAULT 'SELECT, INSERT, UPDATE, DELETE')
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);  -- for the owner of the table, too
    EXECUTE format(
        'CREATE POLICY tenant_rows ON %s TO scrapersky_app
            USING (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)
            WITH CHECK (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', target);
    EXECUTE format('CREATE POLICY engine_rows ON %s TO scrapersky_engine USING (true) WITH CHECK (true)', target);
    EXECUTE format('GRANT %s ON %s TO scrapersky_app', app_privileges, target);
END
$$;

-- Let a SECURITY DEFINER function act as the engine, which sees the rows of all tenants. The engine needs CREATE on the
-- schema to become the owner of a function, and loses it again at once.
CREATE FUNCTION run_as_engine(target regprocedure)
RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    EXECUTE format('GRANT CREATE ON SCHEMA %I TO scrapersky_engine', current_schema());
    EXECUTE format('ALTER FUNCTION %s OWNER TO scrapersky_engine', target);
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM scrapersky_engine', current_schema());
END
$$;

REVOKE EXECUTE ON FUNCTION protect_tenant(regclass, text), run_as_engine(regprocedure) FROM PUBLIC;
