"""The terms of providers are kept: data past its time is deleted."""

from scrapersky.engine.maintenance import run_periodic
from scrapersky.maintenance.expire_provider_data import ExpireProviderData


async def add_place(admin, tenant, number: str, expires: str) -> None:
    place = await admin.fetchval(
        "INSERT INTO place (tenant_id, provider, provider_id, name, phone, latitude, details, expires_at) "
        f"VALUES ($1, 'google_places', $2, 'Molar', '+358912345678', 60.1, '{{}}', {expires}) RETURNING id",
        tenant,
        number,
    )
    await admin.execute(
        "INSERT INTO local_business (tenant_id, place_id, name, phone, chain, curation_status) "
        "VALUES ($1, $2, 'Molar', '+358912345678', 'molar.fi', 'Selected')",
        tenant,
        place,
    )


async def test_expired_places_lose_everything_but_their_id(database, admin, tenant, other_tenant):
    await add_place(admin, tenant, "old", "now() - interval '1 day'")
    await add_place(admin, other_tenant, "old", "now() - interval '1 day'")
    await add_place(admin, tenant, "fresh", "now() + interval '1 day'")
    await add_place(admin, tenant, "free", "NULL")
    await run_periodic(ExpireProviderData(), database)
    places = {
        (row["tenant_id"], row["provider_id"]): row
        for row in await admin.fetch(
            "SELECT p.*, b.phone AS b_phone, b.chain, b.expired_at AS b_expired_at, b.curation_status AS chosen "
            "FROM place p JOIN local_business b ON b.place_id = p.id"
        )
    }
    for owner in (tenant, other_tenant):
        old = places[owner, "old"]
        assert (old["phone"], old["latitude"], old["b_phone"], old["details"]) == (None, None, None, None)
        assert old["chain"] is None
        assert old["b_expired_at"] is not None
        assert old["chosen"] == "Selected", "what a person decided stays"
    for kept in ("fresh", "free"):
        assert places[tenant, kept]["phone"] == places[tenant, kept]["b_phone"] == "+358912345678"
    result = await admin.fetchval("SELECT result FROM maintenance WHERE name = 'expire_provider_data'")
    assert result == "deleted 2 expired details of places, 0 pages of unfinished searches"
