"""Record the runs of searches, when each run saw which result, and when a fact of a business or a contact changed.

Results that were stored before have no times of their own here: NULL means as early as can be.
"""

from alembic import op

revision = "search_runs"
down_revision = "one_business"
branch_labels = None
depends_on = None

COLUMNS = (
    "ALTER TABLE search ADD COLUMN is_partial boolean NOT NULL DEFAULT false",  # the provider has more places
    "ALTER TABLE search_place ADD COLUMN seen_at timestamptz",
    "ALTER TABLE search_place ALTER COLUMN seen_at SET DEFAULT now()",
    "ALTER TABLE search_business ADD COLUMN found_at timestamptz, ADD COLUMN seen_at timestamptz",
    "ALTER TABLE search_business ALTER COLUMN found_at SET DEFAULT now(), ALTER COLUMN seen_at SET DEFAULT now()",
    "ALTER TABLE search_domain ADD COLUMN found_at timestamptz",
    "ALTER TABLE search_domain ALTER COLUMN found_at SET DEFAULT now()",
    # fields of the row that changed, each with the time of its latest change; no former value
    "ALTER TABLE local_business ADD COLUMN changed_at timestamptz, ADD COLUMN field_changes jsonb",
    "ALTER TABLE contact ADD COLUMN changed_at timestamptz, ADD COLUMN field_changes jsonb",
    "GRANT UPDATE (changed_at, field_changes) ON local_business, contact TO scrapersky_engine",
)
TABLE = """
CREATE TABLE search_run (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    search_id uuid NOT NULL REFERENCES search ON DELETE CASCADE,
    number integer NOT NULL,  -- from 1
    began_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    is_complete boolean NOT NULL DEFAULT false,  -- no work was left; otherwise the next run ended it
    is_whole boolean NOT NULL DEFAULT false,  -- complete, and no limit or budget kept a place out
    counts jsonb,  -- what was new, gone and changed when it was complete
    UNIQUE (search_id, number)
)"""

# `anew` ends an open run and begins another; otherwise an open run goes on.
BEGIN = """
CREATE FUNCTION begin_search_run(for_tenant uuid, for_search uuid, anew boolean) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF anew THEN
        UPDATE search_run SET ended_at = now() WHERE search_id = for_search AND ended_at IS NULL;
    ELSIF EXISTS (SELECT FROM search_run WHERE search_id = for_search AND ended_at IS NULL) THEN
        RETURN;
    END IF;
    INSERT INTO search_run (tenant_id, search_id, number)
    SELECT for_tenant, for_search, coalesce(max(number), 0) + 1 FROM search_run WHERE search_id = for_search
    ON CONFLICT DO NOTHING;
END
$$"""
# A search that is queued begins a run; one that had failed or ended at its budget continues its run, if it is open.
QUEUED = """
CREATE FUNCTION search_begin_run() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM begin_search_run(NEW.tenant_id, NEW.id,
        TG_OP = 'UPDATE' AND OLD.place_search_status = 'Completed' AND NOT OLD.stopped_by_budget);
    IF NEW.campaign_id IS NOT NULL THEN
        PERFORM begin_search_run(NEW.tenant_id, NEW.campaign_id, false);
    END IF;
    RETURN NULL;
END
$$"""
QUEUED_TRIGGERS = (
    "CREATE TRIGGER search_begin_first_run AFTER INSERT ON search FOR EACH ROW "
    "WHEN (NEW.place_search_status = 'Queued') EXECUTE FUNCTION search_begin_run()",
    "CREATE TRIGGER search_begin_run AFTER UPDATE OF place_search_status ON search FOR EACH ROW "
    "WHEN (NEW.place_search_status = 'Queued' AND OLD.place_search_status NOT IN ('Queued', 'Processing')) "
    "EXECUTE FUNCTION search_begin_run()",
)

# A campaign has seen what its searches have seen.
OF_CAMPAIGNS = """
CREATE OR REPLACE FUNCTION search_place_link_campaigns() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_place (search_id, place_id, tenant_id)
    SELECT campaign_id, NEW.place_id, NEW.tenant_id FROM campaign_search WHERE search_id = NEW.search_id
    ON CONFLICT {conflict};
    RETURN NULL;
END
$$"""
SEEN = "(search_id, place_id) DO UPDATE SET seen_at = excluded.seen_at"
OF_CAMPAIGNS_TRIGGER = """
CREATE OR REPLACE TRIGGER search_place_link_campaigns AFTER INSERT{again} ON search_place
FOR EACH ROW EXECUTE FUNCTION search_place_link_campaigns()"""
# The businesses of a place were found and seen when the place was.
OF_PLACE = """
CREATE OR REPLACE FUNCTION search_place_link_businesses() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_business (search_id, business_id, tenant_id, found_at, seen_at)
    SELECT NEW.search_id, id, NEW.tenant_id, NEW.found_at, NEW.seen_at FROM local_business
    WHERE tenant_id = NEW.tenant_id AND place_id = NEW.place_id
    ON CONFLICT (search_id, business_id) DO UPDATE SET seen_at = excluded.seen_at;
    RETURN NULL;
END
$$"""
FORMER_OF_PLACE = """
CREATE OR REPLACE FUNCTION search_place_link_businesses() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_business (search_id, business_id, tenant_id)
    SELECT NEW.search_id, id, NEW.tenant_id FROM local_business
    WHERE tenant_id = NEW.tenant_id AND place_id = NEW.place_id
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$"""
OF_PLACE_TRIGGER = """
CREATE OR REPLACE TRIGGER search_place_link_businesses AFTER INSERT{again} ON search_place
FOR EACH ROW EXECUTE FUNCTION search_place_link_businesses()"""
OF_BUSINESS = """
CREATE OR REPLACE FUNCTION local_business_link_searches() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_business (search_id, business_id, tenant_id, found_at, seen_at)
    SELECT search_id, NEW.id, NEW.tenant_id, found_at, seen_at FROM search_place WHERE place_id = NEW.place_id
    ON CONFLICT DO NOTHING;
    INSERT INTO search_business (search_id, business_id, tenant_id)
    SELECT NEW.search_id, NEW.id, NEW.tenant_id WHERE NEW.search_id IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$"""
FORMER_OF_BUSINESS = """
CREATE OR REPLACE FUNCTION local_business_link_searches() RETURNS trigger
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO search_business (search_id, business_id, tenant_id)
    SELECT search_id, NEW.id, NEW.tenant_id FROM search_place WHERE place_id = NEW.place_id
    UNION SELECT NEW.search_id, NEW.id, NEW.tenant_id WHERE NEW.search_id IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$"""

# The arguments of the trigger are the fields. A verdict that is given for the first time is no change.
CHANGED = """
CREATE FUNCTION note_field_changes() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    former jsonb := to_jsonb(OLD);
    latter jsonb := to_jsonb(NEW);
    field text;
BEGIN
    FOREACH field IN ARRAY TG_ARGV LOOP
        IF former -> field IS DISTINCT FROM latter -> field
            AND NOT (field = 'verdict' AND former -> field = 'null') THEN
            NEW.changed_at := now();
            NEW.field_changes := coalesce(NEW.field_changes, '{}') || jsonb_build_object(field, now());
        END IF;
    END LOOP;
    RETURN NEW;
END
$$"""
# Data that had to be deleted by the terms of a provider did not change.
CHANGED_TRIGGERS = (
    """
CREATE TRIGGER local_business_note_changes
BEFORE UPDATE OF name, address, phone, website, business_status, hours ON local_business FOR EACH ROW
WHEN ((OLD.name, OLD.address, OLD.phone, OLD.website, OLD.business_status, OLD.hours)
    IS DISTINCT FROM (NEW.name, NEW.address, NEW.phone, NEW.website, NEW.business_status, NEW.hours)
    AND OLD.expired_at IS NOT DISTINCT FROM NEW.expired_at)
EXECUTE FUNCTION note_field_changes('name', 'address', 'phone', 'website', 'business_status', 'hours')""",
    """
CREATE TRIGGER contact_note_changes BEFORE UPDATE OF name, title, email, phone, verdict ON contact FOR EACH ROW
WHEN ((OLD.name, OLD.title, OLD.email, OLD.phone, OLD.verdict)
    IS DISTINCT FROM (NEW.name, NEW.title, NEW.email, NEW.phone, NEW.verdict))
EXECUTE FUNCTION note_field_changes('name', 'title', 'email', 'phone', 'verdict')""",
)

UPGRADE = (
    *COLUMNS,
    TABLE,
    "CREATE INDEX search_run_open ON search_run (began_at) WHERE ended_at IS NULL",
    "SELECT protect_tenant('search_run')",
    "GRANT SELECT, INSERT, UPDATE ON search_run TO scrapersky_engine",
    BEGIN,
    QUEUED,
    *QUEUED_TRIGGERS,
    OF_CAMPAIGNS.format(conflict=SEEN),
    OF_CAMPAIGNS_TRIGGER.format(again=" OR UPDATE OF seen_at"),
    OF_PLACE,
    OF_PLACE_TRIGGER.format(again=" OR UPDATE OF seen_at"),
    OF_BUSINESS,
    CHANGED,
    *CHANGED_TRIGGERS,
)
DOWNGRADE = (
    "DROP TRIGGER local_business_note_changes ON local_business",
    "DROP TRIGGER contact_note_changes ON contact",
    "DROP FUNCTION note_field_changes()",
    FORMER_OF_BUSINESS,
    FORMER_OF_PLACE,
    OF_PLACE_TRIGGER.format(again=""),
    OF_CAMPAIGNS.format(conflict="DO NOTHING"),
    OF_CAMPAIGNS_TRIGGER.format(again=""),
    "DROP TRIGGER search_begin_run ON search",
    "DROP TRIGGER search_begin_first_run ON search",
    "DROP FUNCTION search_begin_run()",
    "DROP FUNCTION begin_search_run(uuid, uuid, boolean)",
    "DROP TABLE search_run",
    "ALTER TABLE contact DROP COLUMN changed_at, DROP COLUMN field_changes",
    "ALTER TABLE local_business DROP COLUMN changed_at, DROP COLUMN field_changes",
    "ALTER TABLE search_domain DROP COLUMN found_at",
    "ALTER TABLE search_business DROP COLUMN found_at, DROP COLUMN seen_at",
    "ALTER TABLE search_place DROP COLUMN seen_at",
    "ALTER TABLE search DROP COLUMN is_partial",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
