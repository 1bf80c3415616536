"""The sandbox: web sites, providers and name servers on loopback, in one process, made from a seed number."""

import asyncio
import json
import ssl
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

from scrapersky.sandbox.crm.brevo import FakeBrevo
from scrapersky.sandbox.crm.hubspot import FakeHubSpot
from scrapersky.sandbox.crm.webhook import FakeWebhook
from scrapersky.sandbox.google.service import FakeGoogle
from scrapersky.sandbox.osm.servers import FakeNominatim, FakeOverpass
from scrapersky.sandbox.server.certificates import Authority
from scrapersky.sandbox.server.dns_server import NameServer
from scrapersky.sandbox.server.fault_injection import UnknownFault
from scrapersky.sandbox.server.http_server import HttpServer
from scrapersky.sandbox.server.response import Request, Response, json_response
from scrapersky.sandbox.server.traffic import Traffic
from scrapersky.sandbox.sites.responder import SiteResponder
from scrapersky.sandbox.truth import truth
from scrapersky.sandbox.web_search import FakeWebSearch
from scrapersky.sandbox.world.spatial_index import Map
from scrapersky.sandbox.world.world import World

LOOPBACK = "127.0.0.1"
HUBSPOT, BREVO, HOOKS = "hubspot.example", "brevo.example", "hooks.example"


class Sandbox:
    """`async with Sandbox(seed=7) as sandbox:` serves the world of this seed until the block ends.

    `latency_seconds` is how long every response of a site takes: needed where simultaneous requests are counted.
    `address` is a loopback address unless other machines use the sandbox. It listens on two ports: sites over https
    have certificates of a temporary authority, which processes with the settings of `environment()` trust.
    """

    def __init__(
        self,
        seed: int = 7,
        businesses: int = 200,
        *,
        address: str = LOOPBACK,
        port: int = 0,
        secure_port: int = 0,
        latency_seconds: float = 0.0,
    ) -> None:
        self.world = World(seed, businesses)
        self.sites = SiteResponder(self.world)
        self.traffic = Traffic()
        self.latency_seconds = latency_seconds
        places = Map(self.world)
        self.google = FakeGoogle(places)
        self.nominatim = FakeNominatim()
        self.overpass = FakeOverpass(places)
        self.web_search = FakeWebSearch(self.world)
        self.hubspot, self.brevo, self.hooks = FakeHubSpot(), FakeBrevo(), FakeWebhook()
        self.address = address
        self._port, self._secure_port = port, secure_port
        self._servers: list[asyncio.Server] = []
        self._authority: Authority | None = None
        self.names = NameServer(self.world)

    async def __aenter__(self) -> Self:
        self._authority = Authority(self.sites.secured)
        self._port = await self._listen(self._port, None)
        self._secure_port = await self._listen(self._secure_port, self._authority.server_context())
        await self.names.listen(self.address)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._servers:
            self._servers.pop().close()
        if self._authority is not None:
            self._authority.close()
            self._authority = None
        self.names.close()

    async def _listen(self, port: int, context: ssl.SSLContext | None) -> int:
        """Start a server and return its port."""

        def build_connection() -> HttpServer:
            return HttpServer(self.respond, self.traffic, self._latency, secure=context is not None)

        loop = asyncio.get_running_loop()
        server = await loop.create_server(build_connection, self.address, port, ssl=context, backlog=4096)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    # -- where it is ---------------------------------------------------------------------------------------------------

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._port

    @property
    def authority_file(self) -> str:
        """The value of CRAWL_CA_FILE: the authority that signed the certificates of the sites."""
        if self._authority is None:
            raise RuntimeError("the sandbox is not open: use it with `async with`")
        return str(self._authority.file)

    @property
    def url(self) -> str:
        """The sandbox's own address."""
        return f"http://{self.address}:{self.port}"

    @property
    def known_hosts(self) -> str:
        """The value of CRAWL_HOST_OVERRIDES: every name leads here."""
        return f"*:443={self.address}:{self._secure_port}, *={self.address}:{self.port}"

    @property
    def allowance(self) -> str:
        """The value of CRAWL_ALLOWED_PRIVATE_NETWORKS: these ports of this address and nothing else."""
        return f"{self.address}:{self.port}, {self.address}:{self._secure_port}"

    @property
    def google_url(self) -> str:
        """The base URL of Google Places."""
        return f"{self.url}/google"

    @property
    def nominatim_url(self) -> str:
        """The base URL of Nominatim."""
        return f"{self.url}/nominatim"

    @property
    def overpass_url(self) -> str:
        """The base URL of Overpass: /interpreter and /status are below it."""
        return f"{self.url}/overpass/api"

    @property
    def web_search_url(self) -> str:
        """The base URL of SearXNG and of Brave; no setting of `environment` names it."""
        return f"{self.url}/websearch"

    @property
    def hubspot_url(self) -> str:
        """The base URL of HubSpot."""
        return f"http://{HUBSPOT}"

    @property
    def brevo_url(self) -> str:
        """The base URL of Brevo."""
        return f"http://{BREVO}"

    @property
    def hooks_url(self) -> str:
        """The host of the receivers of web hooks, and of n8n."""
        return f"http://{HOOKS}"

    def environment(self) -> dict[str, str]:
        """Return the settings that make an installation use the sandbox instead of the internet."""
        return {
            "CRAWL_HOST_OVERRIDES": self.known_hosts,
            "CRAWL_ALLOWED_PRIVATE_NETWORKS": self.allowance,
            "CRAWL_CA_FILE": self.authority_file,
            "CRAWL_DNS_SERVERS": self.names.address,
            "PROVIDER_NOMINATIM_URL": self.nominatim_url,
            "PROVIDER_OVERPASS_URL": self.overpass_url,
            "PROVIDER_GOOGLE_URL": self.google_url,
            "PROVIDER_GOOGLE_API_KEY": self.google.key,
        }

    def addresses(self) -> dict[str, Any]:
        """Return all URLs and keys of the sandbox, as JSON values."""
        return {
            "seed": self.world.seed,
            "businesses": len(self.world),
            "url": self.url,
            "environment": self.environment(),
            "truth_url": f"{self.url}/truth",
            "traffic_url": f"{self.url}/traffic",
        }

    def truth(self) -> list[dict[str, Any]]:
        """Return what is true, one entry per business."""
        return truth(self.sites)

    # -- responses -----------------------------------------------------------------------------------------------------

    def respond(self, request: Request) -> Response:
        """Respond to a request: a site by its host, a provider or the sandbox itself by its port."""
        if request.host == HUBSPOT:
            return self.hubspot.answer(request)
        if request.host == BREVO:
            return self.brevo.answer(request)
        if request.host == HOOKS:
            return self.hooks.answer(request)
        if request.host not in (self.address, "localhost"):
            return self.sites.answer(request)
        first, _, rest = request.path.removeprefix("/").partition("/")
        if first == "google":
            return self.google.answer(request, f"/{rest}")
        if first == "nominatim":
            return self.nominatim.answer(request, f"/{rest}")
        if first == "overpass":
            return self.overpass.answer(request, f"/{rest}")
        if first == "websearch":
            return self.web_search.answer(request, f"/{rest}")
        if first == "truth":
            return json_response(self.truth())
        if first == "traffic":
            return json_response(self.traffic.report())
        if first == "fault":
            return self._fault(request)
        return json_response(self.addresses(), 200 if not first else 404)

    def _fault(self, request: Request) -> Response:
        """Order faults: `POST /fault?provider=google&kind=per_minute&times=2`."""
        asked = {name: values[0] for name, values in parse_qs(request.query).items()}
        providers: dict[str, FakeGoogle | FakeNominatim | FakeOverpass | FakeHubSpot | FakeBrevo] = {
            "google": self.google,
            "nominatim": self.nominatim,
            "overpass": self.overpass,
            "hubspot": self.hubspot,
            "brevo": self.brevo,
        }
        provider = providers.get(asked.get("provider", ""))
        times = asked.get("times", "1")
        if provider is None or not times.isdecimal():
            return json_response({"error": f"provider is one of {', '.join(providers)}, times a number"}, 400)
        try:
            provider.fail(asked.get("kind", ""), int(times))
        except UnknownFault as unknown:
            return json_response({"error": str(unknown)}, 400)
        return json_response({"failing": times})

    def _latency(self) -> float:
        return self.latency_seconds


async def serve(seed: int, businesses: int, port: int, stop: asyncio.Event) -> None:
    """Serve until stopped; print the addresses as one line of JSON."""
    async with Sandbox(seed, businesses, port=port) as sandbox:
        print(json.dumps(sandbox.addresses()), flush=True)  # noqa: T201  # the line is what the caller reads
        await stop.wait()
