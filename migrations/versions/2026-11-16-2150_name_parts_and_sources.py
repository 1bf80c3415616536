"""Give contacts the parts of the name, the source of each value, and what they need to undo automatic merges."""

from alembic import op

revision = "name_parts_and_sources"
down_revision = "alarms"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
ALTER TABLE contact
    ADD COLUMN first_name text, ADD COLUMN last_name text,  -- empty where the order of the name is not known
    ADD COLUMN honorific text,  -- form of address: Herr, Ms
    ADD COLUMN degree text,  -- Dr. med., MBA
    ADD COLUMN name_latin text,  -- the name in Latin letters, where the page gives it beside another script
    ADD COLUMN sources jsonb,  -- by field: the source of values that are not from source_url
    ADD COLUMN is_merged_by_rule boolean NOT NULL DEFAULT false,  -- merged_into_id was not set by a person
    ADD COLUMN is_separate boolean NOT NULL DEFAULT false  -- a person split it: reading pages does not merge it""")


def downgrade() -> None:
    op.execute("""
ALTER TABLE contact DROP COLUMN first_name, DROP COLUMN last_name, DROP COLUMN honorific, DROP COLUMN degree,
    DROP COLUMN name_latin, DROP COLUMN sources, DROP COLUMN is_merged_by_rule, DROP COLUMN is_separate""")
