# Every target sets itself up: a fresh machine needs Python 3.11, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# One hash seed, so that parallel test processes collect the same tests.
PYTEST := PYTHONHASHSEED=0 $(BIN)/pytest

.PHONY: help setup demo check test test-fast coverage docs schema bench bench-engine bench-fairness bench-sitemap bench-fetch \
	bench-html bench-line bench-api lint-openapi clean

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

check: $(STAMP)  ## run linters, type checks, import contracts and project rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src migrations scripts
	$(BIN)/python -m tests.architecture.rules
	$(BIN)/mkdocs build --strict --quiet --site-dir $(VENV)/site

# Three processes: most tests wait for processes and leases. A file runs in one process, because its tests share servers.
test: check  ## run `make check`, then every test
	$(PYTEST) -n 3 --dist loadfile

test-fast: $(STAMP)  ## run the tests that need no process and no clock (under a minute)
	$(PYTEST) -n 2 --dist loadfile -m fast

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

bench: bench-engine bench-sitemap bench-fetch bench-html bench-line bench-api  ## run every benchmark

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

bench-api: $(STAMP)  ## load the API with a million contacts
	$(BIN)/python -m benchmarks.api

clean:  ## remove .venv and caches
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
