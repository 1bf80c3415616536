"""The settings of a process, read from the environment and .env. Workflow settings are in engine/tuning.py."""

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args
from uuid import UUID

import platformdirs
from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from scrapersky.core.errors import BadSetting
from scrapersky.core.user_agent import robot_name
from scrapersky.core.vocabularies import JobFunction, parse_functions

# An unknown variable with one of these prefixes is a typing error: the process refuses to start.
OWN_PREFIXES = (
    "SCRAPERSKY_",
    "SCHEDULER_",
    "CRAWL_",
    "PROVIDER_",
    "DESTINATION_ALLOWED_",
    "SITE_SEARCH_",
    "MIGRATION_DATABASE_",
)
MAX_SECONDS = 2_000_000  # 23 days: the longest timeout of a statement
MAX_BYTES = 1_000_000_000_000
_IN_DATABASE = (
    "is one setting of the database now, the same for all hosts: remove it, and run `scrapersky retention {}`"
)
RETIRED_PREFIXES = {
    "SCRAPERSKY_CONTACT_RETENTION_DAYS": _IN_DATABASE.format("contacts DAYS"),
    "SCRAPERSKY_AUDIT_RETENTION_DAYS": _IN_DATABASE.format("audit DAYS"),
    "SCRAPERSKY_JOB_RETENTION_DAYS": _IN_DATABASE.format("jobs DAYS"),
    "SCHEDULER_RUN_RETENTION_DAYS": _IN_DATABASE.format("runs DAYS"),
    "SCRAPERSKY_ALLOW_REMOTE": (
        "is not needed since requests are authenticated: SCRAPERSKY_ENVIRONMENT=production accepts remote clients"
    ),
    "SITEMAP_SCHEDULER_": (
        "was split: use DEEP_SCAN_SCHEDULER_, DOMAIN_EXTRACTION_SCHEDULER_ and SITEMAP_IMPORT_SCHEDULER_ instead"
    ),
}

MAX_LIST_LENGTH = 2_000  # a bound in the pattern of a field takes memory for each repetition: 4 MB for a list of URLs
MAX_ORIGINS_LENGTH = 13_200  # fifty of the longest


class Settings(BaseSettings):
    """The settings of a process. The alias of a field is its variable; the description is printed in .env.example."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    # -- the process -----------------------------------------------------------------------------------------------
    environment: Literal["development", "production"] = Field(
        "development",
        alias="SCRAPERSKY_ENVIRONMENT",
        description="development accepts local clients only; production also remote ones",
    )
    data_dir: Path = Field(
        Path(platformdirs.user_data_dir("scrapersky")),
        alias="SCRAPERSKY_DATA_DIR",
        description="directory of the embedded PostgreSQL and of the generated secret key",
    )
    host: str = Field("127.0.0.1", alias="SCRAPERSKY_HOST", description="address that the web process listens on")
    port: int = Field(8000, alias="SCRAPERSKY_PORT", ge=0, le=65535, description="port that the web process listens on")
    worker_http: bool = Field(
        True, alias="SCRAPERSKY_WORKER_HTTP", description="whether a worker serves /metrics and /health on its own port"
    )
    worker_host: str = Field(
        "127.0.0.1",
        alias="SCRAPERSKY_WORKER_HOST",
        description="address that a worker serves /metrics and /health on; 0.0.0.0 in a container",
    )
    worker_port: int = Field(
        9464,
        alias="SCRAPERSKY_WORKER_PORT",
        ge=0,
        le=65535,
        description="port of a worker; further workers on the same machine take the next free ones, up to nine above",
    )
    secret_key: SecretStr | None = Field(
        None,
        alias="SCRAPERSKY_SECRET_KEY",
        description="signs tokens and encrypts stored secrets; 32 random bytes or more; required in production",
    )
    metrics_token: SecretStr | None = Field(
        None,
        alias="SCRAPERSKY_METRICS_TOKEN",
        min_length=24,
        description="bearer token for /metrics and /health/details; 24 characters or more",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", alias="SCRAPERSKY_LOG_LEVEL", description="lowest severity that is logged"
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", alias="SCRAPERSKY_LOG_FORMAT", description="auto writes text to a terminal and JSON elsewhere"
    )

    # -- the API -------------------------------------------------------------------------------------------------
    allowed_hosts: str = Field(
        "",
        alias="SCRAPERSKY_ALLOWED_HOSTS",
        pattern="^[a-z0-9., -]*$",
        max_length=MAX_LIST_LENGTH,
        description="host names of this service, comma separated; other hosts are rejected; required in production",
    )
    trusted_proxies: str = Field(
        "",
        alias="SCRAPERSKY_TRUSTED_PROXIES",
        pattern="^[0-9a-f.:/, ]*$",
        max_length=MAX_LIST_LENGTH,
        description="addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted",
    )
    cors_origins: str = Field(
        "",
        alias="SCRAPERSKY_CORS_ORIGINS",
        pattern="^(https?://[a-z0-9.:-]+([, ]{1,3}|$))*$",
        max_length=MAX_ORIGINS_LENGTH,
        description="origins whose pages may call the API, comma separated, exact match; empty means none",
    )
    request_statement_timeout_seconds: float = Field(
        10,
        alias="SCRAPERSKY_REQUEST_STATEMENT_TIMEOUT_SECONDS",
        gt=0,
        description="timeout of one SQL statement of an API request",
    )
    response_timeout_seconds: float = Field(
        30,
        alias="SCRAPERSKY_RESPONSE_TIMEOUT_SECONDS",
        gt=0,
        description="time until a response must start; imports get ten times as long",
    )
    rate_limit_per_key: float = Field(
        600,
        alias="SCRAPERSKY_RATE_LIMIT_PER_KEY",
        ge=0,
        description="requests per minute per user or API key; 0 means no limit",
    )
    rate_limit_per_ip: float = Field(
        1200,
        alias="SCRAPERSKY_RATE_LIMIT_PER_IP",
        ge=0,
        description="requests per minute per client address; 0 means no limit",
    )
    login_rate_limit_per_account: float = Field(
        5,
        alias="SCRAPERSKY_LOGIN_RATE_LIMIT_PER_ACCOUNT",
        gt=0,
        description="login attempts per minute for one account from one client address",
    )
    login_rate_limit_per_ip: float = Field(
        20, alias="SCRAPERSKY_LOGIN_RATE_LIMIT_PER_IP", gt=0, description="login attempts per minute per client address"
    )
    max_sessions: int = Field(
        20,
        alias="SCRAPERSKY_MAX_SESSIONS",
        ge=1,
        le=200,
        description="sessions per user; a further one ends the least recently used",
    )
    map_tiles: str = Field(
        "",
        alias="SCRAPERSKY_MAP_TILES",
        max_length=500,
        pattern=r"^$|^https?://[^\s\"'<>;,]+$",
        description="address of map tiles with {z}, {x} and {y}, for the map of the console; empty means none",
    )
    map_tiles_attribution: str = Field(
        "",
        alias="SCRAPERSKY_MAP_TILES_ATTRIBUTION",
        max_length=200,
        description="whom the map tiles are from, shown beside the map",
    )

    # -- the database ----------------------------------------------------------------------------------------------
    database_url: SecretStr | None = Field(
        None, alias="DATABASE_URL", description="URL of a PostgreSQL 14 to 18; empty means the embedded one"
    )
    migration_database_url: SecretStr | None = Field(
        None,
        alias="MIGRATION_DATABASE_URL",
        description="URL of the owner of the tables, for migrate, backup and restore only; empty means DATABASE_URL",
    )
    database_pool_size: int | None = Field(
        None,
        alias="SCRAPERSKY_DATABASE_POOL_SIZE",
        ge=3,
        le=200,
        description="maximum number of connections of a process, LISTEN included; empty means 8, for `serve` 12",
    )
    database_statement_timeout_seconds: float = Field(
        30, alias="SCRAPERSKY_DATABASE_STATEMENT_TIMEOUT_SECONDS", gt=0, description="timeout of one SQL statement"
    )

    # -- the scheduler ---------------------------------------------------------------------------------------------
    system_user_id: UUID | None = Field(
        None,
        alias="SCHEDULER_SYSTEM_USER_ID",
        description="user that workflows act as; empty means the one created by the first migration",
    )
    interval_seconds: float | None = Field(
        None,
        alias="SCHEDULER_INTERVAL_SECONDS",
        gt=0,
        description="overrides the interval of every workflow (tests, demos)",
    )
    misfire_grace_seconds: int = Field(
        60, alias="SCHEDULER_MISFIRE_GRACE_SECONDS", ge=1, description="how late a scheduled run may still start"
    )
    poll_interval_seconds: float = Field(
        1.0,
        alias="SCHEDULER_POLL_INTERVAL_SECONDS",
        gt=0,
        le=60,
        description="time between two polls of the queues without a notification",
    )
    poll_only: bool = Field(
        False,
        alias="SCHEDULER_POLL_ONLY",
        description="poll only, without LISTEN/NOTIFY: for connection poolers in transaction mode",
    )
    max_cycle_seconds: float = Field(
        30,
        alias="SCHEDULER_MAX_CYCLE_SECONDS",
        gt=0,
        description="maximum time of one cycle; a longer queue is continued in the next cycle",
    )
    idle_timeout_seconds: float = Field(
        1.0,
        alias="SCHEDULER_IDLE_TIMEOUT_SECONDS",
        ge=0,
        description="how long a cycle with an empty queue waits for a notification before it ends",
    )
    shutdown_grace_seconds: float = Field(
        25,
        alias="SCHEDULER_SHUTDOWN_GRACE_SECONDS",
        ge=0,
        description="time that running work gets to finish at shutdown",
    )

    # -- the crawler -----------------------------------------------------------------------------------------------
    crawl_user_agent: str = Field(
        "scrapersky",
        alias="CRAWL_USER_AGENT",
        description="name of the robot for User-Agent and robots.txt, or a whole User-Agent with name and contact",
    )
    crawl_contact_url: str | None = Field(
        None,
        alias="CRAWL_CONTACT_URL",
        pattern="^(https?://|mailto:)[!-~]{1,200}$",
        description="URL or mailto: address for site owners, sent in the User-Agent header",
    )
    crawl_allowed_ports: str = Field(
        "80,443,8080,8443",
        alias="CRAWL_ALLOWED_PORTS",
        pattern="^[0-9, ]{1,100}$",
        description="ports that may be fetched from, comma separated",
    )
    crawl_proxy_url: SecretStr | None = Field(
        None,
        alias="CRAWL_PROXY_URL",
        description="proxies for all requests, used in turn, as http://host:port,socks5://user:password@host:port",
    )
    crawl_ca_file: Path | None = Field(
        None,
        alias="CRAWL_CA_FILE",
        description="PEM file of further trusted certificate authorities; verification is never disabled",
    )
    crawl_allowed_private_networks: str = Field(
        "",
        alias="CRAWL_ALLOWED_PRIVATE_NETWORKS",
        description="private addresses that may be fetched from, for tests and the sandbox only",
    )
    crawl_host_overrides: str = Field(
        "",
        alias="CRAWL_HOST_OVERRIDES",
        description="name=address:port, comma separated, resolved without DNS, for tests and the sandbox only",
    )
    crawl_fetch_timeout_seconds: float = Field(
        30, alias="CRAWL_FETCH_TIMEOUT_SECONDS", gt=0, le=600, description="timeout of one fetch, including redirects"
    )
    crawl_connect_timeout_seconds: float = Field(
        5, alias="CRAWL_CONNECT_TIMEOUT_SECONDS", gt=0, le=60, description="timeout of one connection attempt"
    )
    crawl_max_redirects: int = Field(
        5,
        alias="CRAWL_MAX_REDIRECTS",
        ge=0,
        le=10,
        description="maximum number of redirects; the address of each is checked",
    )
    crawl_max_page_bytes: int = Field(
        5_000_000,
        alias="CRAWL_MAX_PAGE_BYTES",
        ge=10_000,
        description="maximum size of a page, compressed and decompressed",
    )
    crawl_max_page_memory_bytes: int = Field(
        67_108_864,
        alias="CRAWL_MAX_PAGE_MEMORY_BYTES",
        ge=1_000_000,
        description="memory for pages that are fetched or wait for a parser, per process",
    )
    crawl_max_stream_bytes: int = Field(
        52_428_800,
        alias="CRAWL_MAX_STREAM_BYTES",
        ge=10_000,
        description="maximum size of a streamed body (sitemaps), compressed and decompressed",
    )
    crawl_max_connections: int = Field(
        256,
        alias="CRAWL_MAX_CONNECTIONS",
        ge=1,
        le=10_000,
        description="maximum number of open connections per process",
    )
    crawl_max_dns_lookups: int = Field(
        32,
        alias="CRAWL_MAX_DNS_LOOKUPS",
        ge=1,
        le=1000,
        description="maximum number of concurrent DNS lookups per process",
    )
    crawl_dns_timeout_seconds: float = Field(
        5, alias="CRAWL_DNS_TIMEOUT_SECONDS", gt=0, le=60, description="timeout of one DNS lookup"
    )
    crawl_dns_servers: str = Field(
        "",
        alias="CRAWL_DNS_SERVERS",
        description="DNS servers for MX lookups, as address:port, comma separated; empty means those of this machine",
    )
    crawl_browser: str = Field(
        "off",
        alias="CRAWL_BROWSER",
        max_length=400,
        description="on, or the path of a Chromium: it reads pages that are drawn by JavaScript or ask for a bot check",
    )
    crawl_browser_processes: int = Field(
        1, alias="CRAWL_BROWSER_PROCESSES", ge=1, le=8, description="pages that browsers draw at a time, per process"
    )
    crawl_browser_timeout_seconds: float = Field(
        20, alias="CRAWL_BROWSER_TIMEOUT_SECONDS", gt=0, le=40, description="timeout of one page in the browser"
    )
    crawl_browser_max_memory_bytes: int = Field(
        1_000_000_000,
        alias="CRAWL_BROWSER_MAX_MEMORY_BYTES",
        ge=100_000_000,
        description="memory of one browser; it is killed if it needs more",
    )
    crawl_browser_sandbox: bool = Field(
        True,
        alias="CRAWL_BROWSER_SANDBOX",
        description="use the sandbox of Chromium; false only if the whole process is in a sandbox",
    )
    crawl_obey_robots: bool = Field(True, alias="CRAWL_OBEY_ROBOTS", description="obey robots.txt")
    crawl_robots_ttl_seconds: int = Field(
        86_400, alias="CRAWL_ROBOTS_TTL_SECONDS", ge=1, le=86_400, description="how long a robots.txt is cached"
    )
    crawl_body_cache_seconds: int = Field(
        900,
        alias="CRAWL_BODY_CACHE_SECONDS",
        ge=0,
        le=86_400,
        description="how long home pages and sitemaps are kept for the steps that read them again; 0 keeps none",
    )
    crawl_fill_page_budget: bool = Field(
        True,
        alias="CRAWL_FILL_PAGE_BUDGET",
        description="read shallow pages of unknown kind if a site has fewer known pages than may be read",
    )
    crawl_parser_processes: int | None = Field(
        None,
        alias="CRAWL_PARSER_PROCESSES",
        ge=1,
        le=64,
        description="at most this many processes parse pages; empty means one per core",
    )
    crawl_max_concurrency_per_host: int = Field(
        2,
        alias="CRAWL_MAX_CONCURRENCY_PER_HOST",
        ge=1,
        le=50,
        description="maximum number of concurrent visits per host, by all workers",
    )
    crawl_host_delay_seconds: float = Field(
        1.0,
        alias="CRAWL_HOST_DELAY_SECONDS",
        ge=0,
        le=3600,
        description="time between two visits to a host, by all workers",
    )
    crawl_host_lease_seconds: float = Field(
        120, alias="CRAWL_HOST_LEASE_SECONDS", ge=1, le=3600, description="when a visit that was never ended expires"
    )
    crawl_max_robots_delay_seconds: float = Field(
        30,
        alias="CRAWL_MAX_ROBOTS_DELAY_SECONDS",
        ge=0,
        le=3600,
        description="maximum Crawl-delay of a robots.txt that is obeyed",
    )
    crawl_max_retry_after_seconds: float = Field(
        3600, alias="CRAWL_MAX_RETRY_AFTER_SECONDS", ge=0, description="maximum Retry-After that is obeyed"
    )

    # -- the files of leads ----------------------------------------------------------------------------------------
    preferred_functions: str = Field(
        "",
        alias="SCRAPERSKY_PREFERRED_FUNCTIONS",
        description=(
            f"functions whose contacts are the best of a business, comma separated, the most preferred first: "
            f"{', '.join(JobFunction)}; empty means the most senior"
        ),
    )

    # -- the destinations ------------------------------------------------------------------------------------------
    destination_allowed_private_networks: str = Field(
        "",
        alias="DESTINATION_ALLOWED_PRIVATE_NETWORKS",
        description=(
            "private addresses that contacts may be delivered to, comma separated, such as 192.168.1.0/24 or "
            "10.0.0.5:5678; the crawler does not use it"
        ),
    )

    # -- the providers ---------------------------------------------------------------------------------------------
    provider_nominatim_url: str = Field(
        "https://nominatim.openstreetmap.org",
        alias="PROVIDER_NOMINATIM_URL",
        pattern="^https?://[!-~]{1,200}$",
        description="base URL of Nominatim, which finds the area of a place name",
    )
    provider_nominatim_delay_seconds: float = Field(
        1.0,
        alias="PROVIDER_NOMINATIM_DELAY_SECONDS",
        ge=0,
        le=3600,
        description="time between two requests to Nominatim, by all workers; below 1 only for your own server",
    )
    provider_overpass_url: str = Field(
        "https://overpass-api.de/api",
        alias="PROVIDER_OVERPASS_URL",
        pattern="^https?://[!-~]{1,200}$",
        description="base URL of Overpass, which lists the OpenStreetMap objects of an area; without /interpreter",
    )
    provider_osm_cache_ttl_seconds: float = Field(
        3600,
        alias="PROVIDER_OSM_CACHE_TTL_SECONDS",
        ge=0,
        le=604_800,
        description="how long an Overpass response is cached, for all workers; 0 disables the cache",
    )
    site_search_from_names: bool = Field(
        True,
        alias="SITE_SEARCH_FROM_NAMES",
        description="look for the missing web site of a business at domains made from its name",
    )
    site_search_max_candidates: int = Field(
        6,
        alias="SITE_SEARCH_MAX_CANDIDATES",
        ge=1,
        le=20,
        description="domains that are tried for one business, by its name and by a web search each",
    )
    site_search_searxng_url: str = Field(
        "",
        alias="SITE_SEARCH_SEARXNG_URL",
        pattern="^$|^https?://[!-~]{1,200}$",
        description="base URL of a SearXNG that answers in JSON, for missing web sites; empty means no web search",
    )
    site_search_brave_api_key: SecretStr | None = Field(
        None,
        alias="SITE_SEARCH_BRAVE_API_KEY",
        description="key of the Brave Search API, for missing web sites; empty means no web search",
    )
    site_search_brave_url: str = Field(
        "https://api.search.brave.com",
        alias="SITE_SEARCH_BRAVE_URL",
        pattern="^https?://[!-~]{1,200}$",
        description="base URL of the Brave Search API",
    )
    site_search_brave_cents_per_call: float = Field(
        0.5,
        alias="SITE_SEARCH_BRAVE_CENTS_PER_CALL",
        ge=0,
        le=1000,
        description="price of one call of your plan; it is booked against the budget of the search",
    )
    provider_google_api_key: SecretStr | None = Field(
        None,
        alias="PROVIDER_GOOGLE_API_KEY",
        description="API key for the Places API (New); enables the provider google_places",
    )
    provider_google_url: str = Field(
        "https://places.googleapis.com",
        alias="PROVIDER_GOOGLE_URL",
        pattern="^https?://[!-~]{1,200}$",
        description="base URL of the Places API (New)",
    )
    provider_file_path: str | None = Field(
        None,
        alias="PROVIDER_FILE_PATH",
        description="CSV, JSON or JSONL file of businesses; enables the provider file",
    )
    provider_overture_path: str | None = Field(
        None,
        alias="PROVIDER_OVERTURE_PATH",
        description="Overture places as Parquet, a path or s3:// URL; enables the provider overture",
    )
    provider_overture_endpoint: str | None = Field(
        None,
        alias="PROVIDER_OVERTURE_ENDPOINT",
        pattern="^https?://[!-~]{1,200}$",
        description="URL of an S3-compatible server, if the bucket is not at Amazon",
    )
    provider_overture_region: str = Field(
        "us-west-2",
        alias="PROVIDER_OVERTURE_REGION",
        pattern="^[a-z0-9-]{1,40}$",
        description="AWS region of the bucket",
    )

    @field_validator("*")
    @classmethod
    def _check_numbers(cls, given: Any) -> Any:
        return bounded(given)

    @field_validator("crawl_user_agent")
    @classmethod
    def _check_user_agent(cls, given: str) -> str:
        robot_name(given)
        return given

    @field_validator("preferred_functions")
    @classmethod
    def _check_functions(cls, given: str) -> str:
        parse_functions(given)
        return given

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use the values that `load` passes, and no other source."""
        return (init_settings,)


def bounded(given: Any) -> Any:
    """Return the value of a setting; raise ValueError for a number that no clock and no column can hold."""
    limit = MAX_SECONDS if isinstance(given, float) else MAX_BYTES
    if isinstance(given, int | float) and given > limit:
        raise ValueError(f"should be less than or equal to {limit}")
    return given


class Environment:
    """The variables of the process over those of .env, and which of the two each value came from."""

    def __init__(self, variables: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> None:
        self._file = _values_in(env_file) if env_file is not None and env_file.is_file() else {}
        self._process = {
            name: value for name, value in (os.environ if variables is None else variables).items() if value
        }

    def get(self, name: str) -> str | None:
        """Return the value of a variable, or None if it is unset or empty."""
        return self._process.get(name, self._file.get(name))

    def source(self, name: str) -> str:
        """Return the source of a value: environment, .env or default."""
        if name in self._process:
            return "environment"
        return ".env" if name in self._file else "default"

    def names(self) -> list[str]:
        """Return the names of all variables that are set."""
        return sorted({*self._file, *self._process})


def _values_in(env_file: Path) -> dict[str, str]:
    try:
        return {name: value for name, value in dotenv_values(env_file).items() if value}
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{env_file} cannot be read ({error}). Make it a readable text file, or remove it.") from error


def load(environment: Environment) -> Settings:
    """Read and validate the settings. Raises BadSetting with the variable and the cure."""
    values = {name: value for name in setting_names() if (value := environment.get(name)) is not None}
    try:
        return Settings(**values)  # type: ignore[arg-type]  # text in, validated by the model
    except ValidationError as error:
        raise BadSetting(explain(error, values)) from None


def setting_names() -> list[str]:
    """Return the variable of each field, in the order of the class."""
    return [field.alias or name for name, field in Settings.model_fields.items()]


def explain(error: ValidationError, values: Mapping[str, Any], prefix: str = "") -> str:
    """Describe a validation error: the variable, its value and what is allowed."""
    sentences = []
    for problem in error.errors():
        name = prefix + str(problem["loc"][0] if problem["loc"] else "")
        given = "********" if name in _secret_names() else values.get(name, problem.get("input"))
        message = _message(name, problem)
        sentences.append(f"{name}={given!s} is invalid: it {message}. Change it, or remove it to use the default.")
    return " ".join(sentences)


def _message(name: str, problem: ErrorDetails) -> str:
    """Return the end of a sentence that begins with `it`."""
    if problem["type"] == "string_pattern_mismatch":
        field = next(field for key, field in Settings.model_fields.items() if (field.alias or key) == name)
        return f"should be: {field.description} (it does not match {problem['ctx']['pattern']})"
    if problem["type"] == "too_short":  # a secret
        return f"should have at least {problem['ctx']['min_length']} characters"
    return problem["msg"].removeprefix("Input ").removeprefix("String ").removeprefix("Value error, ")


def _secret_names() -> set[str]:
    """Return the variables whose values are never printed."""
    kinds = {field.alias or name: field.annotation for name, field in Settings.model_fields.items()}
    return {name for name, kind in kinds.items() if SecretStr in (kind, *get_args(kind))}


def refuse_unknown(environment: Environment, known: Iterable[str], prefixes: Iterable[str] = ()) -> None:
    """Raise BadSetting for the first variable that has a known prefix but is not a setting."""
    known = set(known)
    own = (*OWN_PREFIXES, *prefixes)
    for name in environment.names():
        if name in known:
            continue
        for retired, cure in RETIRED_PREFIXES.items():
            if name.startswith(retired):
                raise BadSetting(f"{name} is not a setting any more: it {cure}.")
        if name.startswith(own):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else "`scrapersky settings` lists all of them."
            raise BadSetting(f"{name} is not a setting. {hint}")
