# Every target sets up .venv by itself with plain pip. EXTRAS=all installs every optional part as well.
PYTHON ?= python3
EXTRAS ?= core
VENV   ?= .venv
BIN     = $(VENV)/bin
JOBS   ?= 2
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test lint format bench docs docs-check fuzz coverage page-coverage mutants schema web browser apart clean

help:
	@echo "make demo              audit embedded real data, in seconds after set-up"
	@echo "make test              lint, types, import rules and the tests a newcomer needs"
	@echo "make test EXTRAS=all   the whole suite, with every optional dependency"
	@echo "make bench             the rows of docs/speed.md: ours, rival, limit, ratio (ARGS=name one benchmark, ARGS=all all, hours)"
	@echo "make docs              the documentation site in docs/_build, examples run (docs-check: its links and spelling)"
	@echo "make fuzz              random input for functions, files, commands and saved results (MINUTES=10 SEED=1)"
	@echo "make coverage          the lines that the tests of 'make test' run; fails below 92% (page-coverage: the page's, below 85%)"
	@echo "make mutants           small faults that tests must notice (NUMBER=120 SEED=0); after make coverage"
	@echo "make schema            write what the page has from Python: the document's schema and types, facts of metrics, test vectors (needs Node)"
	@echo "make web               build the pages of the package from web/ (needs Node)"
	@echo "make format            rewrite the code in the project's format"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml reproductions/pyproject.toml | $(BIN)/python
	$(PIP) -e '.[test]' -e ./reproductions
	@touch $@

# The CPU build of torch comes first: installed as somebody's dependency it would bring gigabytes of GPU packages.
$(VENV)/.all: pyproject.toml reproductions/pyproject.toml | $(BIN)/python
	$(PIP) torch==2.13.0
	$(PIP) -e '.[all,test]' -e ./reproductions
	@touch $@ $(VENV)/.core

lint: $(VENV)/.$(EXTRAS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The page's build tools and the checks of its accessibility come from npm; users of the package need neither.
web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

schema: $(VENV)/.$(EXTRAS) web/node_modules/.package-lock.json
	$(BIN)/python tests/audit_schema.py
	$(BIN)/python tests/try_facts.py
	$(BIN)/python tests/try_files.py --sample
	$(BIN)/python tests/try_vectors.py --sample
	cd web && npm run types

web: web/node_modules/.package-lock.json
	cd web && npm run build

# Pages are tested in the system's Chromium.
browser: web/node_modules/.package-lock.json
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { [ "$$(id -u)" = 0 ] && \
	  apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
	  echo "there is no Chromium: install it, for example with apt-get install chromium"

# Tools that hold other packages back are tested in environments of their own.
$(VENV)-track/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-track
	$(VENV)-track/bin/python -m pip install --quiet --disable-pip-version-check -e '.[track,test]'
	@touch $@

$(VENV)-tensorboard/.done:
	$(PYTHON) -m venv $(VENV)-tensorboard
	$(VENV)-tensorboard/bin/python -m pip install --quiet --disable-pip-version-check \
	  tensorboard==2.12.3 six 'setuptools<81' 'numpy<2' 'protobuf<4'
	@touch $@

$(VENV)-cards/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-cards
	$(VENV)-cards/bin/python -m pip install --quiet --disable-pip-version-check -e '.[cards]' pytest pytest-timeout hypothesis
	@touch $@

# Evaluation harnesses, whose own logs are read. The CPU build of torch comes first here too.
$(VENV)-inspect/.done:
	$(PYTHON) -m venv $(VENV)-inspect
	$(VENV)-inspect/bin/python -m pip install --quiet --disable-pip-version-check inspect_ai==0.3.100
	@touch $@

$(VENV)-lm-eval/.done:
	$(PYTHON) -m venv $(VENV)-lm-eval
	$(VENV)-lm-eval/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(VENV)-lm-eval/bin/python -m pip install --quiet --disable-pip-version-check lm-eval
	@touch $@

apart: $(VENV)-track/.done $(VENV)-tensorboard/.done $(VENV)-cards/.done $(VENV)-inspect/.done $(VENV)-lm-eval/.done
	$(VENV)-track/bin/python -m pytest -q tests/integrations/test_mlflow.py
	$(VENV)-cards/bin/python -m pytest -q tests/report/test_exports.py

ifeq ($(EXTRAS),all)
test: browser apart docs-check
export BIASAMP_TENSORBOARD = $(abspath $(VENV)-tensorboard/bin/python)
export BIASAMP_INSPECT = $(abspath $(VENV)-inspect/bin/python)
export BIASAMP_LM_EVAL = $(abspath $(VENV)-lm-eval/bin/python)
endif

test: lint
	BIASAMP_TEST_EXTRAS=$(EXTRAS) $(BIN)/python -m pytest -n $(JOBS) --dist loadscope $(ARGS)

demo: $(VENV)/.$(EXTRAS)
	$(BIN)/biasamp demo

# What the benchmarks are held against; it needs torch, and so comes last.
$(VENV)/.bench: $(VENV)/.all
	$(PIP) -e '.[bench]'
	@touch $@

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(ARGS)

# The examples of the gallery run while the site is built, and a warning is an error.
$(VENV)/.docs: $(VENV)/.core
	$(PIP) -e '.[docs]'
	@touch $@

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -q -j $(JOBS) -b html docs docs/_build/html

docs-check: docs
	$(BIN)/python docs/check_site.py docs/_build/html
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs src/biasamp reproductions/src

MINUTES ?= 1
SEED    ?= 0
fuzz: $(VENV)/.$(EXTRAS)
	PYTHONPATH=tests $(BIN)/python tests/fuzz.py --minutes $(MINUTES) --seed $(SEED)

# Which test runs which line is kept: it tells make mutants what to run.
coverage: $(VENV)/.$(EXTRAS)
	BIASAMP_TEST_EXTRAS=$(EXTRAS) $(BIN)/python -m pytest -n $(JOBS) --dist loadscope --cov=biasamp --cov-context=test \
	  --cov-report=term:skip-covered --cov-fail-under=92 --junitxml=.coverage-times.xml $(ARGS)

page-coverage: $(VENV)/.all browser
	PYTHONPATH=tests $(BIN)/python tests/page_coverage.py --jobs $(JOBS)

NUMBER ?= 120
mutants: $(VENV)/.$(EXTRAS)
	PYTHONPATH=tests $(BIN)/python tests/mutants.py --number $(NUMBER) --seed $(SEED) --jobs $(JOBS)

format: $(VENV)/.core
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(VENV)-track $(VENV)-tensorboard $(VENV)-cards $(VENV)-inspect $(VENV)-lm-eval build dist demo docs/_build
