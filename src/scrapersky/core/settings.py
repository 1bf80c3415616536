"""Every setting outside a single workflow: name, default, purpose. Read from the environment and .env."""

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args
from uuid import UUID

import platformdirs
from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from scrapersky.core.errors import BadSetting

# A name that starts like this is ours; an unknown one is a typing error and stops the start.
OWN_PREFIXES = ("SCRAPERSKY_", "SCHEDULER_", "CRAWL_", "PROVIDER_")
RETIRED_PREFIXES = {
    "SCRAPERSKY_ALLOW_REMOTE": (
        "is not needed since everybody is asked who they are: SCRAPERSKY_ENVIRONMENT=production serves other machines"
    ),
    "SITEMAP_SCHEDULER_": (
        "was split: use DEEP_SCAN_SCHEDULER_, DOMAIN_EXTRACTION_SCHEDULER_ and SITEMAP_IMPORT_SCHEDULER_ instead"
    ),
}


class Settings(BaseSettings):
    """The settings of a process. A field's alias is the variable's name, its description the line in .env.example."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    # -- the place -------------------------------------------------------------------------------------------------
    environment: Literal["development", "production"] = Field(
        "development", alias="SCRAPERSKY_ENVIRONMENT", description="development listens on this machine only"
    )
    data_dir: Path = Field(
        Path(platformdirs.user_data_dir("scrapersky")),
        alias="SCRAPERSKY_DATA_DIR",
        description="where the embedded PostgreSQL keeps its data",
    )
    host: str = Field("127.0.0.1", alias="SCRAPERSKY_HOST", description="address the web process listens on")
    port: int = Field(8000, alias="SCRAPERSKY_PORT", ge=0, le=65535, description="port the web process listens on")
    secret_key: SecretStr | None = Field(
        None,
        alias="SCRAPERSKY_SECRET_KEY",
        description="signs tokens and seals stored keys, 32 random bytes or more; production does not start without",
    )
    metrics_token: SecretStr | None = Field(
        None,
        alias="SCRAPERSKY_METRICS_TOKEN",
        min_length=24,
        description="lets a scraper read /metrics and /health/details without a user; 24 characters or more",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", alias="SCRAPERSKY_LOG_LEVEL", description="the least severe log line that is written"
    )
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", alias="SCRAPERSKY_LOG_FORMAT", description="auto writes text to a terminal and JSON elsewhere"
    )

    # -- the wall before the API -----------------------------------------------------------------------------------
    allowed_hosts: str = Field(
        "",
        alias="SCRAPERSKY_ALLOWED_HOSTS",
        pattern="^[a-z0-9., -]{0,2000}$",
        description="names this service is called by, comma separated; others are refused; production needs them",
    )
    trusted_proxies: str = Field(
        "",
        alias="SCRAPERSKY_TRUSTED_PROXIES",
        pattern="^[0-9a-f.:/, ]{0,2000}$",
        description="addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed",
    )
    cors_origins: str = Field(
        "",
        alias="SCRAPERSKY_CORS_ORIGINS",
        pattern="^(https?://[a-z0-9.:-]{1,253}([, ]{1,3}|$)){0,50}$",
        description="origins whose pages may call the API, exact and comma separated; empty means none",
    )
    request_seconds: float = Field(
        10, alias="SCRAPERSKY_REQUEST_SECONDS", gt=0, description="longest time a statement of a request may take"
    )
    answer_seconds: float = Field(
        30,
        alias="SCRAPERSKY_ANSWER_SECONDS",
        gt=0,
        description="time until an answer must begin, ten times that for imports",
    )
    rate_per_key: float = Field(
        600,
        alias="SCRAPERSKY_RATE_PER_KEY",
        ge=0,
        description="requests a minute of one user or API key; 0 is no limit",
    )
    rate_per_address: float = Field(
        1200, alias="SCRAPERSKY_RATE_PER_ADDRESS", ge=0, description="requests a minute of one address; 0 is no limit"
    )
    login_rate_per_account: float = Field(
        5, alias="SCRAPERSKY_LOGIN_RATE_PER_ACCOUNT", gt=0, description="attempts a minute to log in to one account"
    )
    login_rate_per_address: float = Field(
        20, alias="SCRAPERSKY_LOGIN_RATE_PER_ADDRESS", gt=0, description="attempts a minute to log in from one address"
    )
    max_sessions: int = Field(
        20,
        alias="SCRAPERSKY_MAX_SESSIONS",
        ge=1,
        le=200,
        description="logins of one user; one more ends the least used",
    )

    # -- the database ----------------------------------------------------------------------------------------------
    database_url: SecretStr | None = Field(
        None, alias="DATABASE_URL", description="a PostgreSQL 14 to 18; empty means the embedded one"
    )
    database_pool_size: int = Field(
        10, alias="SCRAPERSKY_DATABASE_POOL_SIZE", ge=2, le=200, description="connections of one process, at most"
    )
    database_timeout_seconds: float = Field(
        30, alias="SCRAPERSKY_DATABASE_TIMEOUT_SECONDS", gt=0, description="longest time one statement may take"
    )

    # -- the scheduler ---------------------------------------------------------------------------------------------
    system_user_id: UUID | None = Field(
        None,
        alias="SCHEDULER_SYSTEM_USER_ID",
        description="the user the workflows act as; empty means the one made by the first migration",
    )
    interval_seconds: float | None = Field(
        None, alias="SCHEDULER_INTERVAL_SECONDS", gt=0, description="overrules every workflow's interval (tests, demos)"
    )
    misfire_grace_seconds: int = Field(
        60, alias="SCHEDULER_MISFIRE_GRACE_SECONDS", ge=1, description="how late a run may still start"
    )
    poll_seconds: float = Field(
        1.0, alias="SCHEDULER_POLL_SECONDS", gt=0, le=60, description="how often queues are looked at without a wake-up"
    )
    poll_only: bool = Field(
        False, alias="SCHEDULER_POLL_ONLY", description="no LISTEN/NOTIFY: for poolers in transaction mode"
    )
    cycle_seconds: float = Field(
        30, alias="SCHEDULER_CYCLE_SECONDS", gt=0, description="longest one run drains its queue before it reports"
    )
    linger_seconds: float = Field(
        1.0, alias="SCHEDULER_LINGER_SECONDS", ge=0, description="how long a dry run waits for a wake-up before it ends"
    )
    grace_seconds: float = Field(
        25, alias="SCHEDULER_GRACE_SECONDS", ge=0, description="time running work gets to finish at shutdown"
    )
    run_retention_days: int = Field(
        30, alias="SCHEDULER_RUN_RETENTION_DAYS", ge=1, description="how long run history is kept"
    )
    audit_retention_days: int = Field(
        365, alias="SCRAPERSKY_AUDIT_RETENTION_DAYS", ge=1, le=36_500, description="how long the audit is kept"
    )
    job_retention_days: int = Field(
        30, alias="SCRAPERSKY_JOB_RETENTION_DAYS", ge=1, le=36_500, description="how long jobs that are over are kept"
    )
    contact_retention_days: int = Field(
        0,
        alias="SCRAPERSKY_CONTACT_RETENTION_DAYS",
        ge=0,
        le=36_500,
        description="contacts that no page, file or person has confirmed for so long are deleted; 0 keeps them",
    )

    # -- the crawler -----------------------------------------------------------------------------------------------
    crawl_user_agent: str = Field(
        "scrapersky",
        alias="CRAWL_USER_AGENT",
        pattern="^[A-Za-z][A-Za-z_-]{0,39}$",
        description="the name we give web sites, and the one their robots.txt may speak to",
    )
    crawl_contact_url: str | None = Field(
        None,
        alias="CRAWL_CONTACT_URL",
        pattern="^(https?://|mailto:)[!-~]{1,200}$",
        description="where a site's owner can read who you are and complain; sent with every request",
    )
    crawl_ports: str = Field(
        "80,443,8080,8443",
        alias="CRAWL_PORTS",
        pattern="^[0-9, ]{1,100}$",
        description="the ports of web sites that are fetched from",
    )
    crawl_proxy: SecretStr | None = Field(
        None,
        alias="CRAWL_PROXY",
        description="the only way out, as http://host:port; it must itself refuse private addresses",
    )
    crawl_ca_file: Path | None = Field(
        None,
        alias="CRAWL_CA_FILE",
        description="certificate authorities to trust besides the machine's, PEM; verification is never switched off",
    )
    crawl_private_allowance: str = Field(
        "",
        alias="CRAWL_PRIVATE_ALLOWANCE",
        description="for tests and the sandbox only: addresses of private networks that may be fetched from",
    )
    crawl_known_hosts: str = Field(
        "",
        alias="CRAWL_KNOWN_HOSTS",
        description="for tests and the sandbox only: name=address:port, comma separated, answered without DNS",
    )
    crawl_deadline_seconds: float = Field(
        30, alias="CRAWL_DEADLINE_SECONDS", gt=0, le=600, description="longest time one fetch takes, redirects included"
    )
    crawl_connect_seconds: float = Field(
        5, alias="CRAWL_CONNECT_SECONDS", gt=0, le=60, description="longest time one address takes to accept us"
    )
    crawl_max_redirects: int = Field(
        5, alias="CRAWL_MAX_REDIRECTS", ge=0, le=10, description="redirects followed, each one checked like the first"
    )
    crawl_page_bytes: int = Field(
        5_000_000, alias="CRAWL_PAGE_BYTES", ge=10_000, description="largest page, raw and inflated"
    )
    crawl_stream_bytes: int = Field(
        52_428_800,
        alias="CRAWL_STREAM_BYTES",
        ge=10_000,
        description="largest streamed body (sitemaps), raw and inflated",
    )
    crawl_connections: int = Field(
        256, alias="CRAWL_CONNECTIONS", ge=1, le=10_000, description="open connections of one process, at most"
    )
    crawl_dns_threads: int = Field(
        32, alias="CRAWL_DNS_THREADS", ge=1, le=1000, description="names looked up at the same time, at most"
    )
    crawl_dns_seconds: float = Field(
        5, alias="CRAWL_DNS_SECONDS", gt=0, le=60, description="longest wait for a name server"
    )
    crawl_name_servers: str = Field(
        "",
        alias="CRAWL_NAME_SERVERS",
        description="who is asked where mail goes, as address:port, comma separated; empty means this machine's own",
    )
    crawl_robots: bool = Field(True, alias="CRAWL_ROBOTS", description="honour robots.txt")
    crawl_robots_ttl_seconds: int = Field(
        86_400, alias="CRAWL_ROBOTS_TTL_SECONDS", ge=1, le=86_400, description="how long a robots.txt is remembered"
    )
    crawl_parsers: int | None = Field(
        None, alias="CRAWL_PARSERS", ge=1, le=64, description="processes that read pages; empty means one per core"
    )
    crawl_host_slots: int = Field(
        2, alias="CRAWL_HOST_SLOTS", ge=1, le=50, description="visits to one host at the same time"
    )
    crawl_host_delay_seconds: float = Field(
        1.0, alias="CRAWL_HOST_DELAY_SECONDS", ge=0, le=3600, description="time between two visits to one host"
    )
    crawl_host_lease_seconds: float = Field(
        120, alias="CRAWL_HOST_LEASE_SECONDS", ge=1, le=3600, description="when a visit that was never ended lapses"
    )
    crawl_max_delay_seconds: float = Field(
        30, alias="CRAWL_MAX_DELAY_SECONDS", ge=0, le=3600, description="longest Crawl-delay of a robots.txt we follow"
    )
    crawl_max_retry_after_seconds: float = Field(
        3600, alias="CRAWL_MAX_RETRY_AFTER_SECONDS", ge=0, description="longest Retry-After we follow"
    )

    # -- the providers ---------------------------------------------------------------------------------------------
    provider_nominatim_url: str = Field(
        "https://nominatim.openstreetmap.org",
        alias="PROVIDER_NOMINATIM_URL",
        pattern="^https?://[!-~]{1,200}$",
        description="who says where a place lies; a server of your own may be asked as often as you like",
    )
    provider_nominatim_pause_seconds: float = Field(
        1.0,
        alias="PROVIDER_NOMINATIM_PAUSE_SECONDS",
        ge=0,
        le=3600,
        description="time between two questions of all workers to Nominatim; less than 1 only for your own server",
    )
    provider_overpass_url: str = Field(
        "https://overpass-api.de/api",
        alias="PROVIDER_OVERPASS_URL",
        pattern="^https?://[!-~]{1,200}$",
        description="who knows what OpenStreetMap has in an area; the address before /interpreter",
    )
    provider_osm_cache_seconds: float = Field(
        3600,
        alias="PROVIDER_OSM_CACHE_SECONDS",
        ge=0,
        le=604_800,
        description="how long an answer of Overpass is used again, by all workers; 0 asks every time",
    )
    provider_google_key: SecretStr | None = Field(
        None,
        alias="PROVIDER_GOOGLE_KEY",
        description="a key for the Places API (New); without one there is no provider google_places",
    )
    provider_google_url: str = Field(
        "https://places.googleapis.com",
        alias="PROVIDER_GOOGLE_URL",
        pattern="^https?://[!-~]{1,200}$",
        description="where the Places API (New) is asked",
    )
    provider_file_path: str | None = Field(
        None,
        alias="PROVIDER_FILE_PATH",
        description="a CSV, JSON or JSONL file of businesses; without one there is no provider file",
    )
    provider_overture_path: str | None = Field(
        None,
        alias="PROVIDER_OVERTURE_PATH",
        description="Overture places as parquet, a path or s3://; without one there is no provider overture",
    )
    provider_overture_endpoint: str | None = Field(
        None,
        alias="PROVIDER_OVERTURE_ENDPOINT",
        pattern="^https?://[!-~]{1,200}$",
        description="the server of the bucket, if it is not Amazon's: a mirror of your own that speaks S3",
    )
    provider_overture_region: str = Field(
        "us-west-2",
        alias="PROVIDER_OVERTURE_REGION",
        pattern="^[a-z0-9-]{1,40}$",
        description="where Amazon keeps the bucket",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load` hands over: the environment is read in one place."""
        return (init_settings,)


class Environment:
    """The variables of the process over those of .env, and which of the two each value came from."""

    def __init__(self, variables: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> None:
        self._file = _values_in(env_file) if env_file is not None and env_file.is_file() else {}
        self._process = {
            name: value for name, value in (os.environ if variables is None else variables).items() if value
        }

    def get(self, name: str) -> str | None:
        """The value of a variable; an empty one counts as not set."""
        return self._process.get(name, self._file.get(name))

    def source(self, name: str) -> str:
        """Where the value of this name comes from: environment, .env or default."""
        if name in self._process:
            return "environment"
        return ".env" if name in self._file else "default"

    def names(self) -> list[str]:
        """Every variable that is set."""
        return sorted({*self._file, *self._process})


def _values_in(env_file: Path) -> dict[str, str]:
    try:
        return {name: value for name, value in dotenv_values(env_file).items() if value}
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{env_file} cannot be read ({error}). Make it a readable text file, or remove it.") from error


def load(environment: Environment) -> Settings:
    """The settings of this environment, or BadSetting with the name and the cure."""
    values = {name: value for name in setting_names() if (value := environment.get(name)) is not None}
    try:
        return Settings(**values)  # type: ignore[arg-type]  # text in, validated by the model
    except ValidationError as error:
        raise BadSetting(explain(error, values)) from None


def setting_names() -> list[str]:
    """The variable of each field, in the order of the class."""
    return [field.alias or name for name, field in Settings.model_fields.items()]


def explain(error: ValidationError, values: Mapping[str, Any], prefix: str = "") -> str:
    """A validation error as sentences: the variable, what was given, what would do."""
    sentences = []
    for problem in error.errors():
        name = prefix + str(problem["loc"][0] if problem["loc"] else "")
        given = "********" if name in _secret_names() else values.get(name, problem.get("input"))
        message = problem["msg"].removeprefix("Input ").removeprefix("Value error, ")
        sentences.append(f"{name}={given!s} does not work: it {message}. Change it, or remove it to use the default.")
    return " ".join(sentences)


def _secret_names() -> set[str]:
    """The variables whose values are never shown."""
    kinds = {field.alias or name: field.annotation for name, field in Settings.model_fields.items()}
    return {name for name, kind in kinds.items() if SecretStr in (kind, *get_args(kind))}


def refuse_unknown(environment: Environment, known: Iterable[str], prefixes: Iterable[str] = ()) -> None:
    """Stop at the first variable that starts like one of ours and is none."""
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
