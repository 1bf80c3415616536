"""Create the indexes of the filters by city, country and rating, and the key by which cities are compared."""

from alembic import op

revision = "list_filters"
down_revision = "fair_order"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A column, not an index on lower(city): with row level security PostgreSQL does not use a function in an index.
    op.execute(
        'ALTER TABLE local_business ADD COLUMN city_key text COLLATE "C" '
        "GENERATED ALWAYS AS (lower(left(city, 200))) STORED"
    )
    op.execute("CREATE INDEX local_business_by_city ON local_business (tenant_id, city_key, updated_at, id)")
    op.execute("CREATE INDEX local_business_by_country ON local_business (tenant_id, country, updated_at, id)")
    op.execute("CREATE INDEX local_business_by_rating ON local_business (tenant_id, rating) WHERE rating IS NOT NULL")
    op.execute("CREATE INDEX place_by_rating ON place (tenant_id, rating) WHERE rating IS NOT NULL")
    op.execute("CREATE INDEX domain_by_country ON domain (tenant_id, country, updated_at, id)")


def downgrade() -> None:
    op.execute("DROP INDEX domain_by_country")
    op.execute("DROP INDEX place_by_rating")
    op.execute("ALTER TABLE local_business DROP COLUMN city_key")
    op.execute("DROP INDEX local_business_by_country")
    op.execute("DROP INDEX local_business_by_rating")
