"""The peer: a Scrapy spider with its best settings that does the same work. Runs in the peers' environment."""

import json
import re
import resource
import sys
import time

import asyncpg
import scrapy
from phonenumbers import PhoneNumberFormat, PhoneNumberMatcher, format_number
from scrapy.crawler import CrawlerProcess

EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
NAME = re.compile(r"[A-Z][\w'-]{1,20}(?: [A-Z][\w'-]{1,20}){1,3}$")
ROLE = re.compile(
    r"\b(?:director|manager|head|dentist|hygienist|receptionist|accountant|owner|founder)\b", re.IGNORECASE
)
SOCIAL = re.compile(r"https?://(?:www\.)?(?:facebook|linkedin|instagram|x|twitter|youtube)\.com/[^\s\"'<>]{1,200}")


class Pages(scrapy.Spider):
    """Fetches every page, finds the contacts in the usual way, gives one item a page."""

    name = "pages"
    contacts = True

    async def start(self):
        for number in range(self.first, self.last):
            yield scrapy.Request(f"{self.site}/page/{number % 40}?{number}", dont_filter=True)

    def parse(self, response):
        if not self.contacts:
            yield {"url": response.url, "size": len(response.text), "found": []}
            return
        text = " ".join(response.xpath("//body//text()[not(parent::script or parent::style)]").getall())
        links = response.css("a::attr(href)").getall()
        found = {("email", value.lower()) for value in EMAIL.findall(text)}
        found |= {("email", link[7:].lower()) for link in links if link.startswith("mailto:")}
        phones = (
            *PhoneNumberMatcher(text, "FI"),
            *(m for k in links if k.startswith("tel:") for m in PhoneNumberMatcher(k[4:], "FI")),
        )
        found |= {("phone", format_number(match.number, PhoneNumberFormat.E164)) for match in phones}
        found |= {("social", link) for link in links if SOCIAL.match(link)}
        for heading in response.css("h2, h3, h4, strong, b"):
            name = heading.xpath("normalize-space()").get()
            if NAME.match(name) and ROLE.search(heading.xpath("string(following-sibling::*[1])").get()):
                found.add(("person", name))
        yield {"url": response.url, "size": len(response.text), "found": sorted(found)}


class Store:
    """Copies what was found into PostgreSQL, a hundred pages at a time."""

    def __init__(self):
        self.rows, self.pages, self.bytes, self.kept = [], 0, 0, 0

    async def process_item(self, item):
        self.pages += 1
        self.bytes += item["size"]
        self.rows += [(item["url"], kind, value) for kind, value in item["found"]]
        if self.pages % 100 == 0:
            await self.flush()
        return item

    async def flush(self):
        rows, self.rows = self.rows, []
        self.kept += len(rows)
        if rows:
            if not hasattr(self, "pool"):
                self.pool = await asyncpg.create_pool(DATABASE, min_size=1, max_size=2)
            await self.pool.copy_records_to_table("found", records=rows)

    async def close_spider(self):
        await self.flush()
        totals.update(pages=self.pages, bytes=self.bytes, rows=self.kept)
        if hasattr(self, "pool"):
            await self.pool.close()


site, DATABASE, mode, first, last = sys.argv[1:]
totals: dict = {}
process = CrawlerProcess(
    {
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "ITEM_PIPELINES": {Store: 100},
    }
)
process.crawl(Pages, site=site, first=int(first), last=int(last), contacts=mode == "contacts")
started, started_cpu = time.perf_counter(), time.process_time()
process.start()
usage = resource.getrusage(resource.RUSAGE_SELF)
print(
    json.dumps(
        totals
        | {
            "seconds": time.perf_counter() - started,
            "cpu": time.process_time() - started_cpu,
            "rss": usage.ru_maxrss / 1024,
        }
    )
)
