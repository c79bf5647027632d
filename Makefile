# Everything a newcomer needs: `make demo` to see it, `make test` to trust it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INSTALL = $(BIN)/python $(PIP_INSTALL)
# What builds the compiled core; editable installs build it again when its source changes, and so need it afterwards too.
BUILD_TOOLS := meson-python cython meson ninja
OBJECTS := build/objects
EDITABLE = --no-build-isolation -Cbuild-dir=$(OBJECTS) --editable
# Tests take the package as a wheel holds it: importing an editable one runs ninja, in every process of theirs.
AS_WHEEL = --no-build-isolation --no-deps --upgrade
IN_PACKAGE = MESONPY_EDITABLE_SKIP="$(abspath $(OBJECTS))" PYTHONPATH="$(abspath $(1))"
PYTHONS ?= 3.12 3.13 3.14

.PHONY: help setup package hooks demo studio studio-page test test-all test-checked test-sanitized test-pythons test-versions lint browser fuzz fuzz-coverage bench experiments docs clean

help:
	@echo "make demo          set up, and learn an example"
	@echo "make studio        set up, and open the studio in the browser; MODEL=… DATA=… open your files"
	@echo "make test          set up, check style, types and imports, run the tests"
	@echo "make test-all      the same with the slow tests, then test-checked and test-sanitized"
	@echo "make test-checked  run the tests with a core that checks every array bound and every overflow of integers"
	@echo "make test-sanitized run the tests of the core under AddressSanitizer, where the compiler has it"
	@echo "make test-pythons  run the tests on other Pythons, where installed: $(PYTHONS)"
	@echo "make test-versions run the tests with the lowest versions that are allowed, and with the newest"
	@echo "make fuzz          random inputs for everything that reads or learns, for some minutes"
	@echo "make bench         credo against its peers; JSON=1 keeps the figures"
	@echo "make experiments   all experiments, and the page of evidence; QUICK=1 runs a small part of each"
	@echo "make docs          the documentation as a site, in site/"
	@echo "make studio-page   build the page of the studio again, which needs Node.js"
	@echo "make setup         only set up: .venv with credo in it"
	@echo "make hooks         check style, types and imports before every commit"

setup: $(READY)

# The demo needs credo alone; tests and benchmarks need its peers too.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "credo needs Python 3.11 or newer; set PYTHON=…"; exit 1; }
	@command -v $${CC:-cc} >/dev/null || { echo "credo compiles its core and needs a C compiler: install gcc (Debian, Ubuntu: apt install gcc libc6-dev python3-dev) or clang, or the command line tools of Xcode."; exit 1; }
	@$(PYTHON) -c 'import pathlib, sys, sysconfig; sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())' || { echo "credo compiles its core and needs the headers of Python: install python3-dev (Debian, Ubuntu) or python3-devel (Fedora)."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) $(BUILD_TOOLS)
	PATH="$(abspath $(BIN)):$$PATH" $(INSTALL) $(EDITABLE) .
	@touch $(INSTALLED)

$(READY): $(INSTALLED)
	PATH="$(abspath $(BIN)):$$PATH" $(INSTALL) $(EDITABLE) '.[test,bench]'
	@touch $(READY)

package: $(READY)
	@PATH="$(abspath $(BIN)):$$PATH" $(INSTALL) $(AS_WHEEL) --target build/package -Cbuild-dir=$(OBJECTS) .

hooks: $(READY)
	PATH="$(abspath $(BIN)):$$PATH" $(INSTALL) $(EDITABLE) '.[dev]'
	$(BIN)/pre-commit install

demo: $(INSTALLED)
	$(BIN)/credo demo

STUDIO := $(VENV)/.studio

$(STUDIO): $(INSTALLED)
	PATH="$(abspath $(BIN)):$$PATH" $(INSTALL) $(EDITABLE) '.[studio]'
	@touch $(STUDIO)

studio: $(STUDIO)
	$(BIN)/credo studio $(MODEL) $(DATA)

# What it builds is committed, so that nothing else needs Node.js.
studio-page:
	cd frontend && npm install --no-package-lock --no-audit --no-fund && node build.mjs

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(call IN_PACKAGE,src) $(BIN)/lint-imports

# Each process of the tests computes on one thread: more of them would only take the cores from each other.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

# From Python 3.12 on, it ends with the coverage: the files below 90 % and the total. Before, measuring doubles the time of the
# tests; COVERAGE=1 measures all the same.
COVERAGE ?= $(shell $(PYTHON) -c 'import sys; print(int(sys.version_info >= (3, 12)))')

test: lint browser package
ifeq ($(COVERAGE),1)
	$(call IN_PACKAGE,build/package) COVERAGE_CORE=$$($(BIN)/python -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")') \
	$(ONE_THREAD) $(BIN)/pytest -n auto --cov --cov-report=
	@$(BIN)/coverage report --sort=cover | awk '$$NF + 0 < 90 || $$1 == "TOTAL"'
else
	$(call IN_PACKAGE,build/package) $(ONE_THREAD) $(BIN)/pytest -n auto
	@echo "Coverage was not measured: set COVERAGE=1, or use Python 3.12 or newer."
endif

test-all: lint browser package
	$(call IN_PACKAGE,build/package) $(ONE_THREAD) $(BIN)/pytest -n auto -m ''
	$(MAKE) --no-print-directory test-checked test-sanitized

test-checked: $(READY)
	PATH="$(abspath $(BIN)):$$PATH" $(INSTALL) $(AS_WHEEL) --target build/checked/package -Cbuild-dir=build/checked/objects \
	  -Csetup-args=-Dchecked=true .
	$(call IN_PACKAGE,build/checked/package) $(ONE_THREAD) $(BIN)/pytest -n auto

# Only tests of the core: the sanitizer is loaded before everything else, and browsers do not bear it.
SANITIZER = $(shell $${CC:-cc} -print-file-name=libasan.so)
SANITIZED := tests/core tests/statistics tests/io/test_csv.py tests/io/test_decimals.py tests/estimation/solvers

test-sanitized: $(READY)
ifneq ($(wildcard $(SANITIZER)),)
	PATH="$(abspath $(BIN)):$$PATH" $(INSTALL) $(AS_WHEEL) --target build/sanitized/package -Cbuild-dir=build/sanitized/objects \
	  -Csetup-args=-Db_sanitize=address -Csetup-args=-Db_lundef=false -Csetup-args=-Doptimization=1 .
	$(call IN_PACKAGE,build/sanitized/package) LD_PRELOAD=$(SANITIZER) ASAN_OPTIONS=detect_leaks=0 $(ONE_THREAD) \
	  $(BIN)/python -m pytest -n auto $(SANITIZED)
else
	@echo "This compiler has no AddressSanitizer: skipped."
endif

# A Python that cannot be run is skipped. PYENV_VERSION picks it where pyenv has it, and means nothing elsewhere.
test-pythons: $(PYTHONS:%=test-python-%)

test-python-%:
	@if PYENV_VERSION=$* python$* --version >/dev/null 2>&1; then $(MAKE) --no-print-directory .venv-$*/.ready; \
	else echo "There is no Python $* here: skipped."; fi
	@if [ -e .venv-$*/.ready ]; then \
	  .venv-$*/bin/python $(PIP_INSTALL) --no-deps --force-reinstall . && $(ONE_THREAD) .venv-$*/bin/pytest -n auto $(TESTS); fi

.venv-%/.ready: pyproject.toml constraints.txt
	PYENV_VERSION=$* python$* -m venv .venv-$*
	.venv-$*/bin/python $(PIP_INSTALL) '.[test]'
	@touch $@

# Every version that pyproject.toml allows should work: the lowest of each direct dependency and the newest that exists.
# TESTS=tests/io runs a part of the tests.
TESTS ?= tests

test-versions: .venv-lowest/.ready .venv-newest/.ready
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest --no-deps --reinstall-package credo .
	$(ONE_THREAD) .venv-lowest/bin/pytest -n auto $(TESTS)
	.venv-newest/bin/python -m pip install --quiet --no-deps --force-reinstall .
	$(ONE_THREAD) .venv-newest/bin/pytest -n auto $(TESTS)

.venv-lowest/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest --resolution lowest-direct '.[test]'
	@touch $@

.venv-newest/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install --quiet --upgrade '.[test]'
	@touch $@

# Pages are tested in Chromium. Where it is missing and may be installed, it is; where not, those tests are skipped.
browser:
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$name >/dev/null && exit 0; done; \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing Chromium …" \
	  && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	|| echo "There is no Chromium, and it cannot be installed from here: pages are not tested in a browser."

# It goes on where the last run of the same code ended; INPUTS=100000 FUZZ_SECONDS=3600 SEED=1 make it longer, or another one.
INPUTS ?= 2000
FUZZ_SECONDS ?= 120
SEED ?= 0

fuzz: setup
	$(BIN)/python -m fuzz --inputs $(INPUTS) --seconds $(FUZZ_SECONDS) --seed $(SEED) --resume

# Atheris has wheels for Linux and macOS; it is installed here, and not with the other packages.
fuzz-coverage: setup
	$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install --quiet atheris
	for kind in $(or $(KIND),knowledge bif xmlbif xdsl uai net dsl csv saved); do \
	  $(BIN)/python -m fuzz.coverage $$kind -max_total_time=$(FUZZ_SECONDS) || exit 1; done

# JSON=1 keeps the figures in benchmarks/results.json, which docs/evidence.md quotes; ONLY="learn read_bif" runs some.
bench: setup
	$(BIN)/python -m benchmarks $(ONLY) $(if $(JSON),--json)

# It goes on where the last run ended; QUICK=1 runs a small part of each. The pages of results and docs/evidence.md are
# written again.
RIVALS := $(VENV)/.rivals

$(RIVALS): $(READY)
	PATH="$(abspath $(BIN)):$$PATH" $(INSTALL) $(EDITABLE) '.[rivals]'
	@touch $(RIVALS)

experiments: $(RIVALS)
	$(BIN)/python -m experiments $(if $(QUICK),--quick) $(ONLY)
	$(BIN)/python docs/evidence.py

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) $(PYTHONS:%=.venv-%) .venv-lowest .venv-newest demo site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
