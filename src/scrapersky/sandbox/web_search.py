"""A web search over the sites of a world, as SearXNG and Brave answer: directories first, then sites of the name."""

from urllib.parse import parse_qs

from scrapersky.sandbox.server.response import Request, Response, json_response
from scrapersky.sandbox.world.unlisted import DIRECTORY_HOST, named_hosts
from scrapersky.sandbox.world.world import World

MAX_SAME_NAME = 3


class FakeWebSearch:
    """Answers queries of the form `"name" street town`."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.key = "brave-sandbox-key"
        self.calls = 0

    def answer(self, request: Request, path: str) -> Response:
        """Respond as SearXNG (/search) or as Brave (/res/v1/web/search)."""
        query = parse_qs(request.query).get("q", [""])[0]
        if path == "/search":
            if "format=json" not in request.query:
                return Response(403, b"Forbidden")
            self.calls += 1
            return json_response({"query": query, "results": self._results(query)})
        if path != "/res/v1/web/search":
            return json_response({"error": "not found"}, 404)
        if request.headers.get("x-subscription-token") != self.key:
            return json_response({"error": {"status": 401, "code": "SUBSCRIPTION_TOKEN_INVALID"}}, 401)
        self.calls += 1
        return json_response({"type": "search", "web": {"type": "search", "results": self._results(query)}})

    def _results(self, query: str) -> list[dict[str, str]]:
        name = query.split('"')[1] if query.count('"') >= 2 else query
        same = [business for business in self._world if business.name == name]
        meant = [business for business in same if business.street in query and business.city.name in query]
        others = [business for business in same if business not in meant][:MAX_SAME_NAME]
        urls = [f"http://{DIRECTORY_HOST}/c/{business.number}" for business in (*meant, *others)[:2]]
        for business in (*others, *meant):
            urls += [
                f"http://{host}/"
                for host in named_hosts(business.name, business.country.ending)[:1]
                if self._world.lure_at(host) is not None
            ]
            urls += [f"{business.site_url}about"] if business.site_url else []
        return [{"url": url, "title": name, "content": ""} for url in dict.fromkeys(urls)]
