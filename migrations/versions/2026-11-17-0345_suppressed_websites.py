"""Compare the web site of a place or business with suppressed domains before its domain is known."""

from alembic import op

revision = "suppressed_websites"
down_revision = "user_preferences"
branch_labels = None
depends_on = None

# The hashes of the host of a URL and of the domains above it, as the table `suppression` has them.
SITE_HASHES = r"""
CREATE FUNCTION site_hashes(url text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT AS $$
    SELECT array_agg(sha256_hex(array_to_string(labels[n:], '.')))
    FROM string_to_array(rtrim(lower(substring(
        url FROM '^\s*(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?(?://)?(?:[^/?#@]*@)?([^/?#:@]+)')), '.'), '.') labels,
        generate_series(1, cardinality(labels)) n
$$"""


def upgrade() -> None:
    op.execute(SITE_HASHES)


def downgrade() -> None:
    op.execute("DROP FUNCTION site_hashes(text)")
