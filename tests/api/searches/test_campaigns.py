"""Campaigns over HTTP: a query that cannot be made fails alone."""

from tests.factories.api_application import is_problem

QUERIES = [
    {"what": "dentists", "where": "Turku"},
    {"what": "", "where": "Turku"},
    {"what": "dentists", "where": "Oulu", "limit": 0},
    {"what": "dentists", "where": "Oulu", "limit": -5},
    {"what": "x" * 501, "where": "Oulu"},
    {"what": "dentists", "where": "Oulu", "provider": "google_places"},
    {"what": "dentists", "where": "Oulu", "provider": ""},
    {"what": "dentists", "where": "Oulu", "country": "Atlantis"},
]


async def test_wrong_queries_are_rejected_one_by_one(client):
    answer = await client.post("/api/v3/campaigns", json={"queries": QUERIES})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert made["searches"]["searches"] == 2
    assert [one["line"] for one in made["rejected"]] == [2, 3, 4, 5, 6, 8]
    reasons = [one["reason"] for one in made["rejected"]]
    assert reasons[1] == "The limit is '0'; use a number from 1 to 1,000,000."
    assert reasons[4].startswith("'google_places' is not one of openstreetmap"), "those that are configured"
    assert reasons[5].startswith("There is no country 'Atlantis'")


async def test_a_campaign_of_wrong_queries_alone_is_refused(client):
    body = {"queries": QUERIES[1:3]}
    is_problem(await client.post("/api/v3/campaigns", json=body), 422)
