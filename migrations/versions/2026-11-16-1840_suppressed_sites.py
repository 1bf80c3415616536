"""Suppress every contact of a suppressed domain: people, numbers and profiles, too, not only its addresses."""

from alembic import op

revision = "suppressed_sites"
down_revision = "retention"
branch_labels = None
depends_on = None

# Contacts whose web site was suppressed before. The owner of the tables reads them without row level security.
MARK = """
UPDATE contact c SET suppressed_at = c.suppressed_at FROM domain d, suppression s
WHERE d.id = c.domain_id AND s.tenant_id = d.tenant_id AND s.kind = 'domain' AND s.value = d.name"""

APPLY = """
CREATE OR REPLACE FUNCTION suppression_apply() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    change record;
    host text;
    sites uuid[];
    matches uuid[] := '{}';
BEGIN
    -- Arrays and ranges of plain columns: such comparisons use an index whatever the planner knows of `changed`, and
    -- row level security lets no others use one.
    FOR change IN
        SELECT tenant_id, array_agg(value) FILTER (WHERE kind = 'email') AS emails,
            array_agg(value) FILTER (WHERE kind = 'phone') AS phones,
            coalesce(array_agg(value) FILTER (WHERE kind = 'domain'), '{}') AS domains
        FROM changed WHERE value IS NOT NULL GROUP BY tenant_id
    LOOP
        matches := matches
            || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id AND email = ANY (change.emails))
            || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id AND phone = ANY (change.phones))
            || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id AND fax = ANY (change.phones));
        FOREACH host IN ARRAY change.domains LOOP
            matches := matches || ARRAY(SELECT id FROM contact WHERE tenant_id = change.tenant_id
                AND email_host >= reverse(host) || '.' AND email_host < reverse(host) || '/');
        END LOOP;
        sites := ARRAY(SELECT id FROM domain WHERE tenant_id = change.tenant_id AND name = ANY (change.domains));
        matches := matches || ARRAY(SELECT id FROM contact
            WHERE tenant_id = change.tenant_id AND domain_id = ANY (sites));
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
$$"""
CHECK = """
CREATE OR REPLACE FUNCTION contact_check_suppression() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    mail text := lower(NEW.email);
    host text := split_part(mail, '@', 2);
    site text;
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
    IF NEW.domain_id IS NOT NULL THEN
        SELECT d.name INTO site FROM domain d WHERE d.id = NEW.domain_id;
        person := lower(NEW.name COLLATE "C") || ' @ ' || site;
        keys := keys || array_remove(ARRAY[site, person], NULL);
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
$$"""

FORMER_APPLY = """
CREATE OR REPLACE FUNCTION suppression_apply() RETURNS trigger
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
$$"""
FORMER_CHECK = """
CREATE OR REPLACE FUNCTION contact_check_suppression() RETURNS trigger
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
$$"""


TRIGGER = """
CREATE TRIGGER contact_suppression
BEFORE INSERT OR UPDATE OF name, email, phone, fax, snippet, suppressed_at, domain_id ON contact
FOR EACH ROW EXECUTE FUNCTION contact_check_suppression()"""
FORMER_TRIGGER = """
CREATE TRIGGER contact_suppression BEFORE INSERT OR UPDATE OF name, email, phone, fax, snippet, suppressed_at ON contact
FOR EACH ROW EXECUTE FUNCTION contact_check_suppression()"""


def upgrade() -> None:
    replace(APPLY, CHECK, TRIGGER)
    # Files and deliveries leave out people of whom a suppressed contact of the same site has the name.
    op.execute("CREATE INDEX contact_suppressed_of_domain ON contact (domain_id) WHERE suppressed_at IS NOT NULL")


def downgrade() -> None:
    op.execute("DROP INDEX contact_suppressed_of_domain")
    replace(FORMER_APPLY, FORMER_CHECK, FORMER_TRIGGER)


def replace(apply: str, check: str, trigger: str) -> None:
    op.execute(apply)
    op.execute(check)
    op.execute("DROP TRIGGER contact_suppression ON contact")
    op.execute(trigger)
    op.execute("ALTER TABLE contact NO FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE domain NO FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE suppression NO FORCE ROW LEVEL SECURITY")
    op.execute(MARK)
    op.execute("ALTER TABLE contact FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE domain FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE suppression FORCE ROW LEVEL SECURITY")
