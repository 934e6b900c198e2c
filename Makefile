# Every target sets up what it needs in a virtual environment inside the checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OLDEST := .venv-oldest
# One BLAS thread per test process: two processes share two cores.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg $(BIN)/python -m pytest

.PHONY: help demo test test-oldest lint types imports accuracy reproduction bench bench-quick format clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $(READY)

demo: $(READY) ## Every method on the digits: one table, one report
	@mkdir -p out
	$(BIN)/supred compare --dataset digits --budget 120s --out out/report.html --force

test: $(READY) ## The whole test suite
	$(PYTEST) -n 2 --dist worksteal

$(OLDEST)/.ready: pyproject.toml requirements/oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint requirements/oldest.txt --editable ".[dev]"
	@touch $@

test-oldest: $(OLDEST)/.ready ## The test suite on the oldest supported dependencies
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg $(OLDEST)/bin/python -m pytest -n 2 --dist worksteal

lint: $(READY) ## Format and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) ## Static types
	$(BIN)/mypy

imports: $(READY) ## The one-way-imports check
	$(BIN)/lint-imports

accuracy: $(READY) ## Accuracy checks on real data (SUPRED_DATA)
	$(BIN)/python -m benchmarks accuracy

reproduction: $(READY) ## The papers' tables and figures (hours; SUPRED_DATA), and docs/reproduction.md
	$(BIN)/python -m reproduction --full
	$(BIN)/python -m reproduction --page

bench: $(READY) ## Speed and memory beside the peers (hours; SUPRED_DATA), and docs/performance.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	$(BIN)/python -m benchmarks bench

bench-quick: $(READY) ## Ratios of speed on generated rows, compared with the recorded ones
	$(BIN)/python -m benchmarks performance --quick

format: $(READY) ## Rewrite the files as `make lint` wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove environments and outputs
	rm -rf $(VENV) $(OLDEST) out build dist
