"""Records of several providers are one business: which record is shown, why, and the keys by which others are found."""

from alembic import op

revision = "one_business"
down_revision = "schedules"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
ALTER TABLE local_business
    ADD COLUMN same_as_id uuid REFERENCES local_business ON DELETE SET NULL,
    ADD COLUMN same_reason text,
    ADD COLUMN same_confidence double precision,
    ADD COLUMN same_by text CHECK (same_by IN ('rule', 'person')),
    ADD COLUMN separate_from uuid[] NOT NULL DEFAULT '{}',
    ADD COLUMN compared_at timestamptz,
    ADD COLUMN chain text""")
    op.execute("CREATE INDEX local_business_not_compared ON local_business (tenant_id, id) WHERE compared_at IS NULL")
    op.execute("CREATE INDEX local_business_same_as_id ON local_business (same_as_id, id) WHERE same_as_id IS NOT NULL")
    op.execute("""
CREATE TABLE match_key (
    tenant_id uuid NOT NULL REFERENCES tenant ON DELETE CASCADE,
    key text NOT NULL,  -- a phone, a site, a house with a word of the name, a cell of the map, a brand
    business_id uuid NOT NULL REFERENCES local_business ON DELETE CASCADE,
    PRIMARY KEY (tenant_id, key, business_id)
)""")
    op.execute("CREATE INDEX match_key_business_id ON match_key (business_id)")
    op.execute("SELECT protect_tenant('match_key')")
    # A record whose facts are changed, by any step or person, is compared again; keys of the former facts are deleted.
    op.execute("""
CREATE FUNCTION local_business_compare_again() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    NEW.compared_at := NULL;
    DELETE FROM match_key WHERE business_id = NEW.id;
    RETURN NEW;
END
$$""")
    op.execute("""
CREATE TRIGGER local_business_compare_again
BEFORE UPDATE OF name, phone, website, latitude, longitude, street, postcode ON local_business
FOR EACH ROW WHEN ((OLD.name, OLD.phone, OLD.website, OLD.latitude, OLD.longitude, OLD.street, OLD.postcode)
    IS DISTINCT FROM
    (NEW.name, NEW.phone, NEW.website, NEW.latitude, NEW.longitude, NEW.street, NEW.postcode))
EXECUTE FUNCTION local_business_compare_again()""")


def downgrade() -> None:
    op.execute("DROP TRIGGER local_business_compare_again ON local_business")
    op.execute("DROP FUNCTION local_business_compare_again()")
    op.execute("DROP TABLE match_key")
    op.execute("""
ALTER TABLE local_business DROP COLUMN same_as_id, DROP COLUMN same_reason, DROP COLUMN same_confidence,
    DROP COLUMN same_by, DROP COLUMN separate_from, DROP COLUMN compared_at, DROP COLUMN chain""")
