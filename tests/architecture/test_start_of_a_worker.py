"""A worker starts without modules that it seldom needs: each costs memory in every process, and time at every start."""

import subprocess
import sys

# Pages are read by parser processes, which alone need the finders, and lxml where turbohtml fails.
FINDERS = {
    "lxml",
    "scrapersky.extract.contacts",
    "scrapersky.extract.document.parse",
    "scrapersky.extract.parked_domains",
    "scrapersky.extract.people.names",
    "scrapersky.extract.site_metadata",
}
# Alembic migrates, cryptography opens credentials of destinations, the lists and tldextract judge the first address.
SELDOM = {
    "alembic",
    "mako",
    "cryptography",
    "jwt",
    "requests",
    "tldextract",
    "disposable_email_domains",
    "pyarrow",
    "jinja2",
}
START = "import sys, scrapersky.bootstrap, scrapersky.worker, scrapersky.worker_http; print(*sys.modules)"


def test_a_worker_imports_what_it_seldom_needs_when_it_needs_it():
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    loaded = {name.partition(".")[0] for name in modules}
    assert "sqlalchemy" in loaded
    assert loaded.isdisjoint(SELDOM), loaded & SELDOM
    assert modules.isdisjoint(FINDERS), modules & FINDERS
