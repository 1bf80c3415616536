-- Contacts that must not be written to (suppressed), and personal data that must not come back (erased).
-- The triggers decide, whichever way a contact comes: from a page, an import or a person.

CREATE TABLE suppression (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('email', 'domain', 'phone', 'person')),
    value text,  -- null after an erasure
    value_hash text NOT NULL,  -- SHA-256 of the value in small letters
    reason text,
    origin text NOT NULL DEFAULT 'person',  -- person, import, erasure or destination
    created_by uuid REFERENCES "user" ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (tenant_id, value_hash, kind)
);
CREATE INDEX suppression_by_kind ON suppression (tenant_id, kind, updated_at, id);
CREATE INDEX suppression_by_prefix ON suppression (tenant_id, value text_pattern_ops);
CREATE INDEX suppression_by_update ON suppression (tenant_id, updated_at, id);
CREATE INDEX suppression_erased ON suppression (tenant_id) WHERE origin = 'erasure';
SELECT protect_tenant('suppression');
GRANT SELECT ON suppression TO scrapersky_engine;

CREATE FUNCTION sha256_hex(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT encode(sha256(convert_to(value, 'UTF8')), 'hex')
$$;

-- Contacts and suppressions are written at the same time. A writer of suppressions waits here for the open writers of
-- contacts of the same tenant (which hold the lock shared), and the other way round.
CREATE FUNCTION suppression_lock() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    for_tenant uuid := CASE WHEN TG_OP = 'INSERT' THEN NEW.tenant_id ELSE OLD.tenant_id END;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('suppression ' || for_tenant, 0));
    RETURN CASE WHEN TG_OP = 'INSERT' THEN NEW ELSE OLD END;
END
$$;
CREATE TRIGGER suppression_lock BEFORE INSERT OR DELETE ON suppression
FOR EACH ROW EXECUTE FUNCTION suppression_lock();

-- A new suppression marks the contacts it is about and withdraws their queued work. A deleted one clears the mark.
CREATE FUNCTION suppression_apply() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    change record;
    host text;
    matches uuid[] := '{}';
BEGIN
    -- Arrays and ranges of plain columns: such comparisons use an index whatever the planner knows of `changed`, and
    -- row level security lets no others use one.
    FOR change IN
        SELECT tenant_id, array_agg(value) FILTER (WHERE kind = 'email') AS emails,
            array_agg(value) FILTER (WHERE kind = 'phone') AS phones,
            coalesce(array_agg(reverse(value)) FILTER (WHERE kind = 'domain'), '{}') AS hosts
        FROM changed WHERE value IS NOT NULL GROUP BY tenant_id
    LOOP
        matches := matches
            || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id AND email = ANY (change.emails))
            || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id AND phone = ANY (change.phones))
            || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id AND fax = ANY (change.phones));
        FOREACH host IN ARRAY change.hosts LOOP
            matches := matches || ARRAY(SELECT id FROM contact
                WHERE tenant_id = change.tenant_id AND email_host >= host || '.' AND email_host < host || '/');
        END LOOP;
    END LOOP;
    IF matches = '{}' THEN
        RETURN NULL;
    END IF;
    UPDATE contact SET suppressed_at = CASE WHEN TG_OP = 'INSERT' THEN now() ELSE suppressed_at END, updated_at = now()
        WHERE id = ANY (matches) AND (suppressed_at IS NULL) = (TG_OP = 'INSERT');
    IF TG_OP = 'INSERT' THEN
        UPDATE contact SET contact_verification_status = 'New'
            WHERE id = ANY (matches) AND contact_verification_status = 'Queued';
        UPDATE delivery SET delivery_status = 'New', updated_at = now()
            WHERE contact_id = ANY (matches) AND delivery_status = 'Queued';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER suppression_apply_insert AFTER INSERT ON suppression REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION suppression_apply();
CREATE TRIGGER suppression_apply_delete AFTER DELETE ON suppression REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION suppression_apply();

-- Return a text (also JSON) without the addresses and numbers that were erased.
CREATE FUNCTION redact_erased(for_tenant uuid, content text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    redacted text := content;
    tokens text[];
    digests text[];
    token text;
BEGIN
    IF content IS NULL OR NOT EXISTS (SELECT FROM suppression WHERE tenant_id = for_tenant AND origin = 'erasure') THEN
        RETURN content;
    END IF;
    WITH word AS (
        SELECT rtrim(m[1], '.') AS word FROM regexp_matches(content,
            '([^][[:space:]@<>"(),;:{}|/?=&\\]{1,64}@[^][[:space:]@<>"(),;:{}|/?=&\\'']{1,253})', 'g') m
        UNION SELECT m[1] FROM regexp_matches(content, '(\+[0-9][0-9 ()./-]{5,20}[0-9])', 'g') m
    ), candidate AS (
        SELECT word, lower(word) AS normal FROM word WHERE word LIKE '%@%'
        UNION SELECT regexp_replace(word, '^.*''', ''), lower(regexp_replace(word, '^.*''', ''))
            FROM word WHERE word LIKE '%@%'
        UNION SELECT word, '+' || regexp_replace(word, '[^0-9]', '', 'g') FROM word WHERE word NOT LIKE '%@%'
    )
    SELECT array_agg(word), array_agg(sha256_hex(normal)) INTO tokens, digests FROM candidate;
    FOR token IN
        SELECT t.token FROM unnest(tokens, digests) t(token, digest) WHERE t.digest IN (
            SELECT value_hash FROM suppression
            WHERE tenant_id = for_tenant AND origin = 'erasure' AND value_hash = ANY (digests))
    LOOP
        redacted := replace(redacted, '["' || token || '"]', '[]');
        redacted := replace(redacted, '["' || token || '", ', '[');
        redacted := replace(replace(redacted, ', "' || token || '",', ','), ', "' || token || '"]', ']');
        redacted := replace(redacted, ': "' || token || '"', ': null');
        redacted := replace(redacted, token, '[erased]');
    END LOOP;
    RETURN redacted;
END
$$;

-- Look up every new or changed contact. The generic plan matters: a new plan for every row takes five times as long.
CREATE FUNCTION contact_check_suppression() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    mail text := lower(NEW.email);
    host text := split_part(mail, '@', 2);
    person text;
    keys text[] := array_remove(ARRAY[mail, NEW.phone, NEW.fax], NULL);
    digests text[];
    erased text[];
    is_suppressed boolean;
    has_erasures boolean;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('suppression ' || NEW.tenant_id, 0));
    IF NOT EXISTS (SELECT FROM suppression WHERE tenant_id = NEW.tenant_id) THEN
        NEW.suppressed_at := NULL;
        RETURN NEW;
    END IF;
    WHILE host <> '' LOOP
        keys := keys || host;
        host := CASE WHEN position('.' IN host) > 0 THEN substr(host, position('.' IN host) + 1) ELSE '' END;
    END LOOP;
    IF NEW.name IS NOT NULL AND NEW.domain_id IS NOT NULL THEN
        SELECT lower(NEW.name COLLATE "C") || ' @ ' || d.name INTO person FROM domain d WHERE d.id = NEW.domain_id;
        keys := keys || person;
    END IF;
    -- Hashed beforehand: under row level security an index is used for plain comparisons only.
    digests := ARRAY(SELECT sha256_hex(k.key) FROM unnest(keys) k(key));
    SELECT array_agg(keys[array_position(digests, value_hash)]) FILTER (WHERE origin = 'erasure'),
            coalesce(bool_or(origin <> 'erasure'), false),
            EXISTS (SELECT FROM suppression WHERE tenant_id = NEW.tenant_id AND origin = 'erasure')
        INTO erased, is_suppressed, has_erasures
        FROM suppression WHERE tenant_id = NEW.tenant_id AND value_hash = ANY (digests);
    IF erased IS NOT NULL THEN
        -- An erased contact is not stored. A contact that shares an erased field is stored without that field.
        IF TG_OP = 'INSERT' AND (mail = ANY (erased) OR split_part(NEW.identity, ':', 2) = ANY (erased)
                OR (person = ANY (erased) AND NEW.identity LIKE 'person:%')) THEN
            RETURN NULL;
        END IF;
        NEW.email := CASE WHEN mail = ANY (erased) THEN NULL ELSE NEW.email END;
        NEW.phone := CASE WHEN NEW.phone = ANY (erased) THEN NULL ELSE NEW.phone END;
        NEW.fax := CASE WHEN NEW.fax = ANY (erased) THEN NULL ELSE NEW.fax END;
        NEW.title := CASE WHEN person = ANY (erased) THEN NULL ELSE NEW.title END;
        NEW.name := CASE WHEN person = ANY (erased) THEN NULL ELSE NEW.name END;
        NEW.snippet := NULL;
    END IF;
    IF has_erasures THEN
        NEW.snippet := redact_erased(NEW.tenant_id, NEW.snippet);
        NEW.address := redact_erased(NEW.tenant_id, NEW.address);
        NEW.profiles := redact_erased(NEW.tenant_id, NEW.profiles::text)::jsonb;
    END IF;
    NEW.suppressed_at := CASE WHEN is_suppressed THEN coalesce(NEW.suppressed_at, now()) END;
    RETURN NEW;
END
$$;
CREATE TRIGGER contact_suppression BEFORE INSERT OR UPDATE OF name, email, phone, fax, snippet, suppressed_at ON contact
FOR EACH ROW EXECUTE FUNCTION contact_check_suppression();

-- Remove erased data that a provider or a home page repeats, from the columns that can hold an address or a number.
CREATE FUNCTION redact_erased_columns() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    content text;
    redacted text;
BEGIN
    IF NOT EXISTS (SELECT FROM suppression WHERE tenant_id = NEW.tenant_id AND origin = 'erasure') THEN
        RETURN NEW;
    END IF;
    content := to_jsonb(NEW)::text;
    redacted := redact_erased(NEW.tenant_id, content);
    IF redacted <> content THEN
        NEW := jsonb_populate_record(NEW, redacted::jsonb);
        NEW.name := coalesce(NEW.name, '[erased]');
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER place_redact_erased BEFORE INSERT OR UPDATE OF name, address, phone, website, details ON place
FOR EACH ROW EXECUTE FUNCTION redact_erased_columns();
CREATE TRIGGER local_business_redact_erased
BEFORE INSERT OR UPDATE OF name, address, phone, website, profiles, details ON local_business
FOR EACH ROW EXECUTE FUNCTION redact_erased_columns();
CREATE TRIGGER domain_redact_erased BEFORE INSERT OR UPDATE OF title, description, facts ON domain
FOR EACH ROW EXECUTE FUNCTION redact_erased_columns();

-- A page whose address contains erased data is not stored.
CREATE FUNCTION skip_erased_page() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RETURN CASE WHEN redact_erased(NEW.tenant_id, NEW.url) = NEW.url THEN NEW END;
END
$$;
CREATE TRIGGER page_drop_erased BEFORE INSERT ON page FOR EACH ROW WHEN (NEW.url LIKE '%@%')
EXECUTE FUNCTION skip_erased_page();
