"""The Chromium program: where it is, and the options that close every way around the guarded client."""

import asyncio
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Settings

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell")
# The only environment variables of a process that runs untrusted scripts: no keys, no database URL.
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "TMPDIR")
# A network namespace without interfaces, for machines that allow one to this user.
CLOSED_NETWORK = ("unshare", "--user", "--map-current-user", "--net", "--")
DISABLED_FEATURES = (
    "AutofillServerCommunication,DialMediaRouteProvider,IsolateOrigins,MediaRouter,OptimizationHints,"
    "Prerender2,ServiceWorkerBackgroundSync,Translate,site-per-process"
)
OPTIONS = (
    "--headless",
    "--remote-debugging-pipe",
    # Names are never resolved, also not those of loopback; what is not answered over the pipe ends at a closed port.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-bypass-list=<-loopback>",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-pings",
    "--block-new-web-contents",
    "--deny-permission-prompts",
    # Less to load, less to attack.
    "--blink-settings=imagesEnabled=false",
    "--disable-3d-apis",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-notifications",
    "--disable-speech-api",
    "--mute-audio",
    # One process for all frames: frames of other sites are not loaded.
    "--disable-site-isolation-trials",
    "--renderer-process-limit=1",
    "--js-flags=--max-old-space-size=256",
    f"--disable-features={DISABLED_FEATURES}",
    # Nothing of its own.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserOptions:
    """How the browser is run, and the limits of one visit."""

    program: str
    user_agent: str
    uses_sandbox: bool = True
    processes: int = 1
    seconds: float = 20.0
    memory_bytes: int = 1_000_000_000
    page_bytes: int = 5_000_000


def browser_options(settings: Settings, user_agent: str) -> BrowserOptions | None:
    """Return the options from the settings; None if the browser is off. Raises BadSetting."""
    if settings.crawl_browser == "off":
        return None
    program = find_chromium() if settings.crawl_browser == "on" else shutil.which(settings.crawl_browser)
    if program is None:
        found = "no Chromium" if settings.crawl_browser == "on" else "no program of this name"
        raise BadSetting(
            f"CRAWL_BROWSER={settings.crawl_browser}, but {found} is installed here. Install one "
            "(apt install chromium), set CRAWL_BROWSER to its path, or remove the setting."
        )
    if settings.crawl_browser_sandbox and hasattr(os, "geteuid") and os.geteuid() == 0:
        raise BadSetting(
            "CRAWL_BROWSER: the sandbox of Chromium does not work for root. Run this as another user, or set "
            "CRAWL_BROWSER_SANDBOX=false if the whole process is in a sandbox, such as a container of its own."
        )
    return BrowserOptions(
        program=program,
        user_agent=user_agent,
        uses_sandbox=settings.crawl_browser_sandbox,
        processes=settings.crawl_browser_processes,
        seconds=settings.crawl_browser_timeout_seconds,
        memory_bytes=settings.crawl_browser_max_memory_bytes,
        page_bytes=settings.crawl_max_page_bytes,
    )


def find_chromium() -> str | None:
    """Return the path of the first Chromium of the usual names; None if there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def command_line(options: BrowserOptions, profile: Path, closed_port: int, prefix: tuple[str, ...]) -> list[str]:
    """Build the command; `closed_port` is a port of this machine on which nobody listens.

    The pipe is standard input and output of the shell, and file descriptors 3 and 4 of Chromium.
    """
    return [
        *("/bin/sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null', "sh"),
        *prefix,
        options.program,
        *OPTIONS,
        f"--proxy-server=http://127.0.0.1:{closed_port}",
        f"--user-data-dir={profile}",
        f"--user-agent={options.user_agent}",
        *(() if options.uses_sandbox else ("--no-sandbox",)),
    ]


def environment(profile: Path) -> dict[str, str]:
    """Return the environment of the browser, whose home is its profile."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**passed_on, "HOME": str(profile), "XDG_CONFIG_HOME": str(profile), "XDG_CACHE_HOME": str(profile)}


async def closed_network_prefix() -> tuple[str, ...]:
    """Return the command that starts a program without a network; () if this machine does not allow it."""
    if shutil.which(CLOSED_NETWORK[0]) is None:
        return ()
    trial = await asyncio.create_subprocess_exec(
        *CLOSED_NETWORK, "true", stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    return CLOSED_NETWORK if await trial.wait() == 0 else ()
