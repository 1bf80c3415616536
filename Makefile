# Every target sets itself up: a fresh machine needs Python 3.11, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
BROWSER_STAMP := $(VENV)/.browser-ready
MODULES := src/scrapersky/console/static/*.js
# Bytecode is kept, whatever the environment says: without it each of the many processes compiles all sources again.
export PYTHONDONTWRITEBYTECODE :=
# One hash seed, so that parallel test processes collect the same tests.
PYTEST := PYTHONHASHSEED=0 $(BIN)/pytest

CHECKS := check-types check-style check-imports check-security check-rules check-modules check-docs
BENCHES := bench-engine bench-fairness bench-sitemap bench-fetch bench-html bench-line bench-sites bench-campaign bench-api bench-leads bench-start \
	bench-matching bench-console bench-scale

.PHONY: help setup demo check $(CHECKS) test test-fast browser test-browser screenshots coverage docs schema bench $(BENCHES) profile-line lint-openapi clean

help:  ## list the targets (default)
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(STAMP)  ## create .venv from requirements-dev.lock

$(STAMP): requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(STAMP)

demo: $(STAMP)  ## run the whole pipeline on a sandbox, without internet
	$(BIN)/scrapersky demo

check: $(STAMP)  ## run linters, type checks, import contracts and project rules, two at a time
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(CHECKS)

check-types:
	$(BIN)/mypy

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-imports:
	$(BIN)/lint-imports

check-security:
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src migrations scripts

check-rules:
	$(BIN)/python -m tests.architecture.rules

check-modules:
	$(BIN)/deno fmt --quiet --check $(MODULES)
	$(BIN)/deno lint --quiet $(MODULES)
	$(BIN)/deno check --quiet $(MODULES)

check-docs:
	$(BIN)/mkdocs build --strict --quiet --site-dir $(VENV)/site

# Five processes on two cores: most tests wait for processes and leases. A file runs in one process, because its tests share servers.
test: check  ## run `make check`, then every test; those in a browser where a Chromium is found
	@if $(BIN)/python -m tests.browser.chromium; then $(MAKE) --no-print-directory $(BROWSER_STAMP); fi
	$(PYTEST) -n 5 --dist loadfile

$(BROWSER_STAMP): $(STAMP) requirements-browser.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-browser.lock
	touch $(BROWSER_STAMP)

browser: $(BROWSER_STAMP)  ## install what the tests in a browser need: Playwright, and Debian's Chromium if there is none
	@$(BIN)/python -m tests.browser.chromium || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
		&& apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium > /dev/null; } \
		|| { echo "Install Chromium or Chrome, or set CHROMIUM to the path of one."; exit 1; }

test-browser: browser  ## run the tests in a real browser only
	REQUIRE_BROWSER=1 $(PYTEST) tests/browser

test-fast: $(STAMP)  ## run the tests that need no process and no clock (under a minute)
	$(PYTEST) -n 2 --dist loadfile -m fast

screenshots: browser  ## write the pictures of docs/images from the console over a sandbox
	PYTHONPATH=. $(BIN)/python scripts/screenshots.py

coverage: $(STAMP)  ## run every test and report branch coverage
	$(PYTEST) -n 2 --dist loadfile --cov --cov-report=term --cov-report=html:$(VENV)/coverage

docs: $(STAMP)  ## build the documentation site into site/; a broken link or an unlisted page fails
	$(BIN)/mkdocs build --strict

lint-openapi: $(STAMP)  ## check the OpenAPI document with Spectral, which npm installs
	$(BIN)/python scripts/openapi.py > $(VENV)/openapi.json
	npx --yes @stoplight/spectral-cli@6.16.3 lint --fail-severity warn --ruleset .spectral.yaml $(VENV)/openapi.json

schema: $(STAMP)  ## write docs/schema.sql from a freshly migrated database, and the picture docs/schema.svg
	$(BIN)/python scripts/dump_schema.py > docs/schema.sql
	$(BIN)/python scripts/draw_schema.py > docs/schema.svg

bench: $(STAMP)  ## run every benchmark, also after one that fails; writes docs/performance.md
	@failed=; for one in $(BENCHES); do $(MAKE) --no-print-directory $$one || failed="$$failed $$one"; done; \
		$(BIN)/python -m benchmarks.history && { [ -z "$$failed" ] || { echo "FAILED:$$failed"; exit 1; }; }

bench-engine: $(STAMP)  ## compare the engine with other PostgreSQL job queues
	$(BIN)/python -m benchmarks.engine

bench-fairness: $(STAMP)  ## the delay of four small tenants beside one with 100,000 rows
	$(BIN)/python -m benchmarks.fairness

bench-sitemap: $(STAMP)  ## compare sitemap parsing and import with other libraries and COPY
	$(BIN)/python -m benchmarks.sitemap

bench-fetch: $(STAMP)  ## compare fetch, extract and store with a Scrapy spider
	$(BIN)/python -m benchmarks.fetch

bench-html: $(STAMP)  ## measure contact extraction per page
	$(BIN)/python -m benchmarks.contacts

bench-line: $(STAMP)  ## compare the whole pipeline with a Scrapy spider
	$(BIN)/python -m benchmarks.line

bench-sites: $(STAMP)  ## count found and wrong web sites of businesses whose map has none
	$(BIN)/python -m benchmarks.sites

bench-campaign: $(STAMP)  ## make 1,000 queries as one campaign: memory of a worker, load of each host
	$(BIN)/python -m benchmarks.campaign

bench-api: $(STAMP)  ## load the API with a million contacts
	$(BIN)/python -m benchmarks.api

bench-leads: $(STAMP)  ## measure the cost of a row of a lead file, and its memory, with 200,000 businesses
	$(BIN)/python -m benchmarks.leads

bench-start: $(STAMP)  ## measure the memory of worker and serve after their start, and the first contact of the demo
	$(BIN)/python -m benchmarks.start

bench-scale: $(STAMP)  ## measure the cost of an item with 10,000 to 1,000,000 pages, churn, and 1, 2, 4 workers
	$(BIN)/python -m benchmarks.scale

profile-line: $(STAMP)  ## write a flame graph of the line, and a table of CPU by step
	$(BIN)/python -m benchmarks.profile_line

bench-matching: $(STAMP)  ## measure how right the matcher of businesses is
	PYTHONPATH=. $(BIN)/python -m benchmarks.matching

bench-console: browser  ## measure the budgets of the console with a million contacts
	PYTHONPATH=. $(BIN)/python -m benchmarks.console

clean:  ## remove .venv and caches
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
