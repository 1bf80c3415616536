"""Direct submission: objects go in at their noun; what is wrong with one is told by its place and costs no other."""

import pytest

from tests.factories.api_application import is_problem

NOUNS = {
    "places": ({"name": "Molar", "city": "Helsinki"}, "deep_scan_status"),
    "domains": ({"domain": "molar.fi"}, "domain_metadata_status"),
    "sitemaps": ({"url": "https://molar.fi/sitemap.xml"}, "sitemap_import_status"),
    "pages": ({"url": "https://molar.fi/yhteystiedot"}, "page_processing_status"),
    "contacts": ({"email": "anna@molar.fi"}, "contact_verification_status"),
}
INSIDE = [
    "localhost",
    "http://localhost:8000/admin",
    "127.0.0.1",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://2130706433/",
    "0x7f.1",
    "intranet",
    "db.internal",
    "printer.local",
    "metadata.google.internal",
    "router.lan",
    "file:///etc/passwd",
    "http://user:secret@molar.fi@10.0.0.1/",
]


async def submit(client, noun, *items, **options):
    answer = await client.post(f"/api/v3/{noun}/submit", json={"items": list(items), **options})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("noun", NOUNS)
async def test_every_resource_can_be_submitted_and_repeating_changes_nothing(client, admin, noun):
    item, step = NOUNS[noun]
    first = await submit(client, noun, item, queue=True)
    again = await submit(client, noun, item, queue=True)
    listed = (await client.get(f"/api/v3/{noun}")).json()["items"]

    assert (first["created"], first["failed"], first["errors"]) == (1, 0, [])
    assert (again["created"], again["unchanged"], again["queued"]) == (0, 1, 0)
    assert len(listed) == 1
    assert again["search_id"] == first["search_id"]
    assert (first["queued"], listed[0][step]) == (1, "Queued")


async def test_an_invalid_item_does_not_affect_others(client, admin):
    told = await submit(
        client, "domains", {"domain": "a-site.fi"}, {"domain": "localhost"}, {}, {"domain": "b-site.fi"}
    )

    assert (told["created"], told["failed"]) == (2, 2)
    assert [error["index"] for error in told["errors"]] == [1, 2]
    assert told["errors"][1]["message"] == "it has no domain"
    assert await admin.fetchval("SELECT array_agg(name ORDER BY name) FROM domain") == ["a-site.fi", "b-site.fi"]


async def test_spellings_of_a_website_are_one_domain(client, admin):
    forms = ("molar.fi", "www.molar.fi", "https://MOLAR.fi/", "http://molar.fi/#top", "molar.fi.", " molar.fi/yhteys ")
    told = await submit(client, "domains", *({"domain": form} for form in forms))

    assert (told["created"], told["unchanged"], told["failed"]) == (1, 5, 0)
    assert await admin.fetchval("SELECT array_agg(name) FROM domain") == ["molar.fi"]


async def test_spellings_of_a_url_are_one_page(client, admin):
    forms = (
        "https://molar.fi/team",
        "https://molar.fi/team#anna",
        "https://MOLAR.FI/team",
        "https://molar.fi:443/team",
    )
    told = await submit(client, "pages", *({"url": form} for form in forms))

    assert (told["created"], told["unchanged"], told["failed"]) == (1, 3, 0)


@pytest.mark.parametrize(("noun", "field"), [("domains", "domain"), ("sitemaps", "url"), ("pages", "url")])
async def test_internal_addresses_are_refused(client, admin, noun, field):
    told = await submit(client, noun, *({field: address} for address in INSIDE), queue=True)

    assert (told["failed"], told["created"], told["queued"]) == (len(INSIDE), 0, 0)
    assert [error["index"] for error in told["errors"]] == list(range(len(INSIDE)))
    assert all(error["message"] for error in told["errors"])
    assert await admin.fetchval("SELECT count(*) FROM domain") == 0


async def test_an_existing_row_keeps_its_curation_status(client, admin, tenant):
    await admin.execute(
        "INSERT INTO domain (tenant_id, name, curation_status) VALUES ($1, 'molar.fi', 'Not a Fit')", tenant
    )
    told = await submit(client, "domains", {"domain": "molar.fi", "country": "FI"}, queue=True)

    assert (told["updated"], told["queued"]) == (1, 0)
    row = await admin.fetchrow("SELECT country, curation_status, domain_metadata_status FROM domain")
    assert tuple(row) == ("FI", "Not a Fit", "New")


async def test_a_smaller_submission_keeps_the_results_of_the_search(client, admin):
    await submit(client, "domains", {"domain": "a-site.fi"}, {"domain": "b-site.fi"}, name="mine")
    await submit(client, "domains", {"domain": "a-site.fi"}, name="mine")

    assert await admin.fetchval("SELECT result_count FROM search WHERE text = 'domains of mine'") == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body.items"),
        ({"items": []}, "body.items"),
        ({"items": [{"domain": "a.fi"}] * 1_001}, "body.items"),
        ({"items": ["molar.fi"]}, "body.items.0"),
        ({"items": [{"domain": "a.fi"}], "queue": "yes"}, "body.queue"),
        ({"items": [{"domain": "a.fi"}], "when": "now"}, "body.when"),
    ],
)
async def test_an_invalid_submission_is_a_problem(client, admin, body, field):
    problem = is_problem(await client.post("/api/v3/domains/submit", json=body), 422)
    assert field in problem["detail"]
    assert await admin.fetchval("SELECT count(*) FROM domain") == 0


async def test_a_submission_with_a_duplicate_member_is_refused(client, admin):
    body = '{"items": [{"domain": "a-site.fi", "domain": "b-site.fi"}]}'
    answer = await client.post("/api/v3/domains/submit", content=body, headers={"Content-Type": "application/json"})

    assert "'domain' occurs twice in one object" in is_problem(answer, 422)["detail"]
    assert await admin.fetchval("SELECT count(*) FROM domain") == 0


async def test_a_submission_names_the_values_it_left_out_and_the_members_it_did_not_read(client, admin):
    told = await submit(client, "contacts", {"name": "Anna", "phone": "abc", "mood": "good"}, {"name": "Bo"})

    assert (told["created"], told["incomplete"], told["ignored_columns"]) == (2, 1, ["mood"])
    assert [(cell["index"], cell["column"]) for cell in told["cells"]] == [(0, "phone")]
