"""The peer of the line: a Scrapy spider that reads the same sites, sitemaps and pages. Runs in the peers' environment.

It is told what ours had to find out: which sitemaps a site has and which of its pages are worth reading.
"""

import json
import re
import sys
import time
from pathlib import Path

import asyncpg
import scrapy
from phonenumbers import PhoneNumberFormat, PhoneNumberMatcher, format_number
from scrapy.crawler import CrawlerProcess
from scrapy.resolver import CachingThreadedResolver
from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.sitemap import Sitemap
from twisted.internet import defer

EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
NAME = re.compile(r"[^\W\d_][\w'-]{1,20}(?: [^\W\d_][\w'-]{1,20}){1,3}$")
SOCIAL = re.compile(r"https?://(?:www\.)?(?:facebook|linkedin|instagram|tiktok|youtube)\.com/[^\s\"'<>]{1,200}")


class OneMachine(CachingThreadedResolver):
    """Every name leads to the sandbox."""

    def getHostByName(self, name, timeout=()):  # noqa: N802 - Twisted calls it so
        return defer.succeed(ADDRESS)


class Sites(scrapy.Spider):
    """For each site: its home page, its sitemaps, and the pages worth reading."""

    name = "sites"

    async def start(self):
        for site in PLAN:
            yield scrapy.Request(site["start_url"], self.parse_home, dont_filter=True)
            for url in site["sitemaps"]:
                yield scrapy.Request(url, self.parse_sitemap, dont_filter=True)
            for url in site["pages"]:
                yield scrapy.Request(url, self.parse_page, dont_filter=True, cb_kwargs={"country": site["country"]})

    def parse_home(self, response):
        yield {
            "home": response.url,
            "title": response.css("title::text").get(),
            "description": response.css("meta[name=description]::attr(content)").get(),
            "language": response.css("html::attr(lang)").get(),
            "links": len(response.css("a::attr(href)").getall()),
        }

    def parse_sitemap(self, response):
        body = gunzip(response.body) if gzip_magic_number(response) else response.body
        if response.url.endswith(".txt"):
            yield {"listed": body.decode().split()}
        elif body.lstrip().startswith(b"<?xml") and b"<rss" in body[:200]:
            yield {"listed": scrapy.Selector(text=body.decode(), type="xml").xpath("//item/link/text()").getall()}
        else:
            yield {"listed": [entry["loc"] for entry in Sitemap(body)]}

    def parse_page(self, response, country):
        text = " ".join(response.xpath("//body//text()[not(parent::script or parent::style)]").getall())
        links = response.css("a::attr(href)").getall()
        found = {("email", value.lower()) for value in EMAIL.findall(text)}
        found |= {("email", link[7:].lower()) for link in links if link.startswith("mailto:")}
        phones = (
            *PhoneNumberMatcher(text, country),
            *(match for link in links if link.startswith("tel:") for match in PhoneNumberMatcher(link[4:], country)),
        )
        found |= {("phone", format_number(match.number, PhoneNumberFormat.E164)) for match in phones}
        found |= {("social", link) for link in links if SOCIAL.match(link)}
        for heading in response.css("h2, h3, h4, strong, b, td, dt"):
            name = heading.xpath("normalize-space()").get()
            if NAME.match(name):
                found.add(("person", name))
        yield {"page": response.url, "found": sorted(found)}


class Store:
    """Copies what was found into PostgreSQL, a hundred answers at a time."""

    def __init__(self):
        self.listed, self.found, self.answers, self.pages, self.kept = [], [], 0, 0, 0

    async def process_item(self, item):
        self.answers += 1
        self.listed += [(url,) for url in item.get("listed", ())]
        if "page" in item:
            self.pages += 1
            self.found += [(item["page"], kind, value) for kind, value in item["found"]]
        if self.answers % 100 == 0:
            await self.flush()
        return item

    async def flush(self):
        if not hasattr(self, "pool"):
            self.pool = await asyncpg.create_pool(DATABASE, min_size=1, max_size=2)
        listed, self.listed, found, self.found = self.listed, [], self.found, []
        self.kept += len(found)
        await self.pool.copy_records_to_table("listed", records=listed)
        await self.pool.copy_records_to_table("found", records=found)

    async def close_spider(self):
        await self.flush()
        totals.update(answers=self.answers, pages=self.pages, rows=self.kept)
        await self.pool.close()


ADDRESS, DATABASE, plan_file, part, parts = sys.argv[1:]
PLAN = json.loads(Path(plan_file).read_text())[int(part) :: int(parts)]
totals: dict = {}
process = CrawlerProcess(
    {
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "CRITICAL",
        "DNS_RESOLVER": OneMachine,
        "ITEM_PIPELINES": {Store: 100},
    }
)
process.crawl(Sites)
started = time.perf_counter()
process.start()
print(json.dumps(totals | {"seconds": time.perf_counter() - started}))
