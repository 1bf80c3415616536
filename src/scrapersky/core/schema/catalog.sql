-- Describe every object of the current schema that decides how statements behave: a row is the name of an object and one
-- line about it. The same schema gives the same rows on PostgreSQL 14 to 18, whatever the login role is called.
-- Indexes, constraints and triggers are objects of their own: a database may have more of them than its migrations made,
-- but not more columns, policies or privileges of a table.
WITH
schema AS (SELECT current_schema()::regnamespace::oid AS oid),
tables AS (
    SELECT class.oid, class.relname, class.relowner, class.relacl, class.relrowsecurity, class.relforcerowsecurity
    FROM pg_class class JOIN schema ON class.relnamespace = schema.oid WHERE class.relkind IN ('r', 'p')
),
sequences AS (
    SELECT class.relname, class.relowner, class.relacl
    FROM pg_class class JOIN schema ON class.relnamespace = schema.oid WHERE class.relkind = 'S'
),
functions AS (
    SELECT function.*, format('function %s(%s)', proname, pg_get_function_identity_arguments(function.oid)) AS object
    FROM pg_proc function JOIN schema ON function.pronamespace = schema.oid
),
privileges AS (
    SELECT 'table ' || relname AS object, '' AS part, relowner AS owner, relacl AS acl FROM tables
    UNION ALL
    SELECT 'table ' || relname, ' of column ' || attname, relowner, attacl
    FROM tables JOIN pg_attribute ON attrelid = tables.oid WHERE attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT 'sequence ' || relname, '', relowner, relacl FROM sequences
    UNION ALL
    SELECT object, '', proowner, coalesce(proacl, acldefault('f', proowner)) FROM functions
),
catalog AS (
    SELECT 'table ' || relname AS object,
        format('row security %s, forced %s', relrowsecurity, relforcerowsecurity) AS line
    FROM tables
    UNION ALL
    SELECT 'table ' || relname, 'column ' || attname || ' ' || format_type(atttypid, atttypmod)
        || CASE WHEN attnotnull THEN ' not null' ELSE '' END
        || CASE WHEN attgenerated <> '' THEN ' generated' WHEN attidentity <> '' THEN ' identity' ELSE '' END
        || coalesce(' default ' || pg_get_expr(adbin, adrelid, true), '')
    FROM tables JOIN pg_attribute ON attrelid = tables.oid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attnum > 0 AND NOT attisdropped
    UNION ALL
    -- PostgreSQL 18 lists NOT NULL as a constraint; the line of the column has it already.
    SELECT 'constraint ' || relname || '.' || conname, pg_get_constraintdef(pg_constraint.oid, true)
    FROM tables JOIN pg_constraint ON conrelid = tables.oid WHERE contype NOT IN ('n', 't')
    UNION ALL
    SELECT 'index ' || class.relname,
        regexp_replace(pg_get_indexdef(indexrelid, 0, true), ' ON (ONLY )?\S+ USING', ' on ' || tables.relname || ' using')
        || CASE WHEN indisvalid THEN '' ELSE ' (invalid)' END
    FROM tables JOIN pg_index ON indrelid = tables.oid JOIN pg_class class ON class.oid = indexrelid
    WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
    UNION ALL
    SELECT 'trigger ' || relname || '.' || tgname, pg_get_triggerdef(pg_trigger.oid, true)
        || CASE tgenabled WHEN 'O' THEN '' ELSE ' (disabled or changed)' END
    FROM tables JOIN pg_trigger ON tgrelid = tables.oid WHERE NOT tgisinternal
    UNION ALL
    SELECT 'table ' || relname, format('policy %s for %s to %s using %s check %s %s', polname, polcmd,
        (SELECT string_agg(CASE role WHEN relowner THEN 'the owner' WHEN 0 THEN 'public'
            ELSE pg_get_userbyid(role) END, ', ' ORDER BY pg_get_userbyid(role)) FROM unnest(polroles) AS role),
        pg_get_expr(polqual, polrelid, true), pg_get_expr(polwithcheck, polrelid, true),
        CASE WHEN polpermissive THEN 'permissive' ELSE 'restrictive' END)
    FROM tables JOIN pg_policy ON polrelid = tables.oid
    WHERE NOT (polname = 'backup_rows' AND polroles = ARRAY[relowner])  -- `scrapersky backup` adds it where needed
    UNION ALL
    SELECT 'sequence ' || relname, 'exists' FROM sequences
    UNION ALL
    SELECT object, format('returns %s, language %s, volatility %s, strict %s, security definer %s, owner %s, %s, body %s',
        pg_get_function_result(functions.oid), lanname, provolatile, proisstrict, prosecdef,
        CASE WHEN pg_get_userbyid(proowner) = 'scrapersky_engine' THEN 'scrapersky_engine' ELSE 'login role' END,
        replace(array_to_string(proconfig, ' '), quote_ident(current_schema()) || ', pg_temp', 'own schema'), md5(prosrc))
    FROM functions JOIN pg_language ON pg_language.oid = prolang
    UNION ALL
    SELECT object, format('grant %s%s to %s', string_agg(privilege_type, ', ' ORDER BY privilege_type), part,
        CASE grantee WHEN 0 THEN 'public' ELSE pg_get_userbyid(grantee) END)
    FROM privileges, aclexplode(acl)
    WHERE grantee = 0 OR (grantee <> owner AND pg_get_userbyid(grantee) IN ('scrapersky_app', 'scrapersky_engine'))
    GROUP BY object, part, grantee
),
described AS (
    SELECT string_agg(object || ': ' || line, E'\n' ORDER BY (object || ': ' || line) COLLATE "C") AS lines
    FROM catalog WHERE CAST(:objects AS text[]) IS NULL OR object = ANY (:objects)
)
-- Null if the fingerprint is the expected one.
SELECT CASE WHEN encode(sha256(convert_to(lines, 'UTF8')), 'hex') <> :fingerprint THEN lines END FROM described
