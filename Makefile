# make demo and make test do all their own setting up. make install, as root, sets up a table PC (udev/README.md).
VENV := .venv
PY := $(VENV)/bin/python
COMPILE := uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate

# For make install: the Python that runs the service, and where things go.
PYTHON ?= /usr/bin/python3
PREFIX ?= /opt/firmware-bridge
LIBDIR ?= /usr/local/lib
DESTDIR ?=
INSTALL := PIP='$(PY) -m pip' PYTHON='$(PYTHON)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' DESTDIR='$(DESTDIR)' udev/install.sh

.PHONY: setup dev demo test parts lint test-long check bench format lock install uninstall clean

$(VENV)/.runtime: requirements.lock pyproject.toml
	@python3 -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Python 3.11 or newer with venv is needed: apt-get install python3-venv" >&2; exit 1; }
	python3 -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

$(VENV)/.bench: requirements-bench.lock $(VENV)/.runtime
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-bench.lock
	@touch $@

setup: $(VENV)/.runtime        ## make .venv and install the project into it
dev: $(VENV)/.dev              ## the same, with what the tests and checks need

demo: setup                    ## ten rounds at a simulated table, through the real daemon
	$(VENV)/bin/table-simulator demo --house licensed --rounds 10 --rig group --pace 1

test: lint parts               ## all checks, then the whole test suite with its real parts
	$(PY) -m pytest -n 2 --dist loadgroup -m "not long"

parts: dev                     ## what the suites with real parts need on this machine
	@for part in tests/parts/*.sh; do $$part || exit; done

test-long: dev                 ## the long proofs
	$(PY) -m pytest -m long

lint: dev                      ## style, format, types, floors of imports, dead code
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/vulture

check: lint                    ## the inner loop: lint and the fast tests
	$(PY) -m pytest -q -n 2 -m "not long and not real"

bench: $(VENV)/.bench          ## speeds beside those of others, in one run
	@for bench in ranking decoding round_trip replay; do $(PY) -m tests.bench.$$bench || exit; done

format: dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

lock: dev                      ## all locks anew, from the ranges in pyproject.toml
	$(VENV)/bin/$(COMPILE) pyproject.toml --group build -o requirements.lock
	$(VENV)/bin/$(COMPILE) pyproject.toml --group build --group dev -c requirements.lock -o requirements-dev.lock
	$(VENV)/bin/$(COMPILE) --group bench -c requirements-dev.lock -o requirements-bench.lock

install: setup                 ## the program and its service onto this machine, or into DESTDIR
	@$(INSTALL) install

uninstall:                     ## take away what make install put there
	@$(INSTALL) uninstall

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
