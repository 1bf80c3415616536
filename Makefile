# Every target sets itself up: a fresh machine needs Python 3.11, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: setup demo test check bench bench-engine bench-sitemap bench-fetch bench-html bench-line bench-api clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/scrapersky demo

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src migrations scripts
	$(BIN)/python -m tests.house.rules

# Two at a time: most tests wait for processes and leases. A file stays together, for the servers it shares; one hash
# seed, so that both collect the same tests.
test: check
	PYTHONHASHSEED=0 $(BIN)/pytest -n 2 --dist loadfile

bench: bench-engine bench-sitemap bench-fetch bench-html bench-line bench-api

bench-engine: $(STAMP)
	$(BIN)/python -m benchmarks.engine

bench-sitemap: $(STAMP)
	$(BIN)/python -m benchmarks.sitemap

bench-fetch: $(STAMP)
	$(BIN)/python -m benchmarks.fetch

bench-html: $(STAMP)
	$(BIN)/python -m benchmarks.contacts

bench-line: $(STAMP)
	$(BIN)/python -m benchmarks.line

bench-api: $(STAMP)
	$(BIN)/python -m benchmarks.api

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
