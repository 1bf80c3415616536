"""Deliver the end of a run of a search to destinations that want it: a delivery is of a contact, or of a run."""

from alembic import op

revision = "events_of_runs"
down_revision = "provider_failures"
branch_labels = None
depends_on = None

DELIVERY = (
    "ALTER TABLE delivery ALTER COLUMN contact_id DROP NOT NULL",
    "ALTER TABLE delivery ADD COLUMN run_id uuid REFERENCES search_run ON DELETE CASCADE",
    "ALTER TABLE delivery ADD CONSTRAINT delivery_one_subject CHECK (num_nonnulls(contact_id, run_id) = 1) NOT VALID",
    "ALTER TABLE delivery VALIDATE CONSTRAINT delivery_one_subject",
    "CREATE UNIQUE INDEX delivery_of_run ON delivery (run_id, destination_id) WHERE run_id IS NOT NULL",
)
RUN = (
    "ALTER TABLE search_run ADD COLUMN found jsonb",  # what was found and what failed when it was complete
    "ALTER TABLE search_run ADD COLUMN notified uuid[] NOT NULL DEFAULT '{}'",  # destinations for this run alone
)
# The searches of a campaign do not tell their ends one by one: the campaign does.
NOTIFY = """
CREATE FUNCTION search_run_notify() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO delivery (tenant_id, destination_id, run_id, delivery_status)
    SELECT NEW.tenant_id, d.id, NEW.id, 'Queued' FROM destination d JOIN search s ON s.id = NEW.search_id
    WHERE d.tenant_id = NEW.tenant_id AND (d.id = ANY (NEW.notified)
        OR (d.rule @> '{"completions": true}' AND d.disabled_at IS NULL AND s.campaign_id IS NULL))
    ORDER BY d.id ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$"""
TRIGGER = """
CREATE TRIGGER search_run_notify AFTER UPDATE OF ended_at ON search_run FOR EACH ROW
WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION search_run_notify()"""


def upgrade() -> None:
    for statement in (*DELIVERY, *RUN, NOTIFY, TRIGGER):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TRIGGER search_run_notify ON search_run")
    op.execute("DROP FUNCTION search_run_notify()")
    op.execute("ALTER TABLE search_run DROP COLUMN found, DROP COLUMN notified")
    op.execute("DELETE FROM delivery WHERE contact_id IS NULL")
    op.execute("ALTER TABLE delivery DROP COLUMN run_id")  # with its index and its check
    op.execute("ALTER TABLE delivery ALTER COLUMN contact_id SET NOT NULL")
