"""Data that a provider lets us keep for a limited time is deleted when the time is over; the place id stays."""

from scrapersky.core.vocabularies import EXPIRED_NAME
from scrapersky.maintenance.prune import Deletion, Prune
from scrapersky.store.searches.journal import KEPT_HOURS

CHUNK_ROWS = 1_000

_PLACES = """
WITH due AS (
    SELECT id FROM place WHERE tenant_id = $1 AND expires_at < now()
    ORDER BY expires_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
), linked AS (
    SELECT l.business_id, l.domain_id, l.url FROM due JOIN local_business b ON b.place_id = due.id
    JOIN business_domain l ON l.business_id = b.id WHERE l.url IS NOT NULL
), links AS (
    UPDATE business_domain l SET url = NULL FROM linked
    WHERE l.business_id = linked.business_id AND l.domain_id = linked.domain_id
), sites AS (
    UPDATE domain d SET start_url = coalesce(d.final_url, 'https://' || d.name || '/') FROM linked
    WHERE d.id = linked.domain_id AND d.start_url = linked.url
), contacts AS (
    DELETE FROM contact c USING due JOIN local_business b ON b.place_id = due.id
    WHERE c.business_id = b.id AND c.found_by = 'provider' AND c.edited_at IS NULL
), businesses AS (
    UPDATE local_business b SET name = $3, address = NULL, street = NULL, city = NULL, region = NULL, postcode = NULL,
        country = NULL, latitude = NULL, longitude = NULL, timezone = NULL, phone = NULL,
        website = CASE WHEN website_how IS NULL OR website_how = 'record' THEN NULL ELSE website END,
        website_proof = NULL, profiles = NULL, categories = '{}', rating = NULL, rating_count = NULL,
        price_level = NULL, hours = NULL, business_status = NULL, details = NULL, chain = NULL,
        expired_at = now(), updated_at = now()
    FROM due WHERE b.place_id = due.id
)
UPDATE place p SET name = $3, address = NULL, latitude = NULL, longitude = NULL, phone = NULL, website = NULL,
    categories = '{}', rating = NULL, rating_count = NULL, business_status = NULL, details = NULL, expires_at = NULL,
    updated_at = now()
FROM due WHERE p.id = due.id"""
# What a provider returned to a search that was never finished is the provider's as well.
_JOURNALS = "DELETE FROM search_journal WHERE tenant_id = $1 AND stored_at < now() - $2::int * interval '1 hour'"


class ExpireProviderData(Prune):
    """Deletes everything but the id from places past their `expires_at`, and from the businesses made of them.

    What our own crawler found on the site of a business is not the provider's and stays, with its domain; the exact URL
    that the provider gave for the site does not.
    """

    name = "expire_provider_data"
    interval_minutes = 60
    as_tenant = True

    def __init__(self) -> None:
        super().__init__(
            Deletion("expired details of places", _PLACES, (CHUNK_ROWS, EXPIRED_NAME), by_tenant=True),
            Deletion("pages of unfinished searches", _JOURNALS, (KEPT_HOURS,), by_tenant=True),
        )
