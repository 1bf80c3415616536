"""A sitemap index with 50,000 children beside honest sites: `find` reads a few dozen, and writes the file of all."""

import csv
import json

from tests.hostile.odd_web import OddWeb
from tests.hostile.test_hostile_line import HONEST_SITE, hostile_sites

MAX_SITEMAPS = 60  # requested of the site with the index
HONEST = ("honest-a.fi", "honest-b.fi", "honest-c.fi")


async def test_an_index_of_50000_sitemaps_delays_no_other_site(process, database_url, tmp_path):
    (tmp_path / "sites.txt").write_text("\n".join(["index.fi", *HONEST]))
    out = tmp_path / "leads.csv"
    async with OddWeb(routes=hostile_sites()["index"]) as index, OddWeb(routes=HONEST_SITE) as honest:
        places = {"index.fi": index.place, **dict.fromkeys(HONEST, honest.place)}
        said = await process(
            *("find", "--domains", str(tmp_path / "sites.txt"), "--out", str(out), "--json"),
            DATABASE_URL=database_url,
            CRAWL_ALLOWED_PRIVATE_NETWORKS=f"{index.place},{honest.place}",
            CRAWL_HOST_OVERRIDES=",".join(f"{name}={place}" for name, place in places.items()),
            CRAWL_HOST_DELAY_SECONDS="0",
            SITEMAP_IMPORT_SCHEDULER_MAX_ATTEMPTS="1",
            CONTACT_VERIFICATION_SCHEDULER_MAX_ATTEMPTS="1",
        ).leave(400)
    assert "Traceback" not in said.err
    assert said.code in (0, 3), said.err
    found = {row["email"] for row in csv.DictReader(out.open(encoding="utf-8-sig"))}
    assert {f"info@{name}" for name in HONEST} <= found
    assert json.loads(said.out)["rows"] >= len(HONEST)
    requested = sum(count for path, count in index.hits.items() if "sitemap" in path)
    assert 0 < requested <= MAX_SITEMAPS, index.hits.most_common(5)
