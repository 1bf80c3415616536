"""Contacts that no page, file or person has confirmed for a long time are deleted."""

from scrapersky.maintenance.prune import Deletion, Prune

CHUNK_ROWS = 500

# Rows in flight are left for the next time. The copy of an address in the facts of the home page is deleted with its
# contact. The final SELECT has one row for each deleted contact.
_CONTACTS = """
WITH old AS (
    SELECT id FROM contact WHERE tenant_id = $1 AND seen_at < now() - $2::int * interval '1 day'
        AND contact_verification_status <> 'Processing'
    ORDER BY seen_at LIMIT $3 FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM contact c USING old WHERE c.id = old.id
    RETURNING c.domain_id, c.email, coalesce(c.phone, c.fax) AS phone
), copies AS (
    SELECT domain_id, array_remove(array_agg(email), NULL) AS emails, array_remove(array_agg(phone), NULL) AS phones
    FROM gone WHERE domain_id IS NOT NULL GROUP BY domain_id
), cleaned AS (
    UPDATE domain d SET facts = d.facts || jsonb_build_object(
        'emails', coalesce(d.facts->'emails', '[]') - c.emails, 'phones', coalesce(d.facts->'phones', '[]') - c.phones)
    FROM copies c WHERE d.id = c.domain_id AND d.facts IS NOT NULL
)
SELECT FROM gone"""


class ExpireContacts(Prune):
    """Deletes contacts that were last seen longer ago than the retention of the database; 0 days keep all contacts."""

    name = "expire_contacts"
    interval_minutes = 60
    as_tenant = True

    def __init__(self) -> None:
        rows = "contacts not seen for {days} days"
        super().__init__(Deletion(rows, _CONTACTS, (CHUNK_ROWS,), by_tenant=True, retention="contacts"))
