# Every target sets up what it needs in a virtual environment inside the checkout.
PYTHON ?= python3
VENV := .venv
# where a virtual environment has its programs
PROGRAMS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(PROGRAMS)
READY := $(VENV)/.ready
OLDEST := .venv-oldest
DOCS := .venv-docs
NEWEST := .venv-newest
# One BLAS thread per test process: two processes share two cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest
# PART=0 to 15: every sixteenth file of the tests; empty: all that `make test` runs.
PART ?=
FILES = $(if $(PART),$(shell find tests -name 'test_*.py' | LC_ALL=C sort | awk 'NR % 16 == $(PART)'))

.PHONY: help demo test test-torch test-oldest test-newest test-coverage lint spelling workflows types imports accuracy reproduction \
	bench bench-quick docs docs-quick docs-serve dist fuzz format clean

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

$(VENV)/.torch: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[torch]"
	@touch $@

test-torch: $(VENV)/.torch ## The tests on torch's arrays (and CuPy's and CUDA's, where they are)
	SCIPY_ARRAY_API=1 $(PYTEST) -n 2 -rs tests/common/test_arrays.py tests/base/test_devices.py \
		tests/rbf_net/test_devices.py tests/low_dim_svm/test_devices.py tests/rows/test_device.py \
		tests/app/cli/test_device.py

$(OLDEST)/.ready: pyproject.toml requirements/oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint requirements/oldest.txt --editable ".[dev]"
	@touch $@

test-oldest: $(OLDEST)/.ready ## The test suite on the oldest supported dependencies (PART=0: a sixteenth)
	$(ONE_THREAD) $(OLDEST)/bin/python -m pytest -n 2 --dist worksteal $(FILES)

test-newest: ## The test suite on the newest pre-releases; may fail
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --pre --upgrade \
		--editable ".[dev]"
	-$(ONE_THREAD) $(NEWEST)/bin/python -m pytest -n 2 --dist worksteal $(FILES)

test-coverage: $(READY) ## The test suite, and which lines of src it runs (at least 92 %)
	$(PYTEST) -n 2 --dist worksteal --cov=supred --cov-report=term:skip-covered --cov-report=xml --cov-fail-under=92

lint: $(READY) ## Format and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

spelling: $(READY) ## Common misspellings
	$(BIN)/codespell

workflows: $(READY) ## The workflows and CITATION.cff against their schemas; actionlint where it is installed
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	@if command -v actionlint >/dev/null; then actionlint; fi

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

$(DOCS)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/$(PROGRAMS)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(DOCS)/$(PROGRAMS)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@

# One BLAS thread: the pictures of a gallery must not depend on the cores of a machine.
SPHINX := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg $(DOCS)/$(PROGRAMS)/python -m sphinx -W --keep-going -n -b html docs

docs: $(DOCS)/.ready ## The site, its gallery run: docs/_build/html/index.html
	$(SPHINX) docs/_build/html

docs-quick: $(DOCS)/.ready ## The site without running the gallery, and every link inside it checked
	$(SPHINX) -D plot_gallery=0 docs/_build/quick

docs-serve: docs ## The site on http://localhost:8000
	$(DOCS)/$(PROGRAMS)/python -m http.server --bind localhost --directory docs/_build/html 8000

dist: $(READY) ## Build sdist and wheel, and try the wheel in an empty environment
	rm -rf dist build
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist

SECONDS ?= 1800
fuzz: $(READY) ## Random cases for half an hour (SECONDS); each failure is lines that reproduce it
	$(BIN)/python -m benchmarks fuzz --seconds $(SECONDS)

format: $(READY) ## Rewrite the files as `make lint` wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove environments and outputs
	rm -rf $(VENV) $(OLDEST) $(NEWEST) $(DOCS) out build dist docs/_build docs/gallery docs/api/generated
