# attnviz: everything a person or a CI runs. Needs python3 (3.11 or newer), make and bash.
#   make advisories   ask the databases of known holes about each package of requirements.lock; needs a network
#   make run          install what the app needs and the command .venv/bin/attnviz, start the app, print its address
#                     (PORT=8501 ADDRESS=127.0.0.1)
#   make test         checks and all tests but the slow ones, JOBS at once (as many as there are cores, at most 4); gets
#                     a browser where there is none
#   make test-all     the slow ones too
#   make check        format, lint, types, layers, contracts: no model, no browser; the JavaScript and its tests where
#                     Node is there
#   make bench        the figures of benchmarks/README.md, measured here; AGAINST=<commit>: beside those of that commit,
#                     both in turns, with their ratios  (BENCH_ARGS, e.g. --rounds 30)
#   make format       rewrite the sources in the house format
#   make screenshots  take the pictures of the docs from the running app
#   make demo         write the demo site into DEMO=site: models that run in the browser, and pages with fixed texts
#   make ranges       install the wheel with the lowest and the newest versions that pyproject.toml allows and run the
#                     library there; downloads torch, several GB with CUDA
#   make train NAME=… make an embedded model again, e.g. NAME=stories  (TRAIN_ARGS, e.g. --threads 1)
#   make clean        remove .venv and caches
# PYTHON names another python3; PIP_ARGS is passed to pip, e.g. PIP_ARGS='--extra-index-url …' for a mirror,
# NPM_ARGS to npm. HASHED=1: packages are compared with the hashes of requirements.lock before they are installed.

SHELL := bash
.DEFAULT_GOAL := run
MAKEFLAGS += --no-builtin-rules --no-print-directory

PYTHON ?= python3
VENV ?= .venv
PORT ?= 8501
ADDRESS ?= 127.0.0.1
PIP_ARGS ?=
NPM_ARGS ?=
PYTEST_ARGS ?=
JOBS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((n < 4 ? n : 4)))
NAME ?=
DEMO ?= site
TRAIN_ARGS ?=
AGAINST ?=
BENCH_ARGS ?=
HASHED ?=
export PYTHON VENV PIP_ARGS NPM_ARGS HASHED

BIN := $(VENV)/bin
APP_STAMP := $(VENV)/.installed-app
DEV_STAMP := $(VENV)/.installed-dev
CODE := app.py attnviz pages tests scripts benchmarks
# one thread for each of JOBS workers; files stay together and in the order of tests/conftest.py; the
# servers and commands that tests start read bytecode, also where a container forbids to write it
PYTEST := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(JOBS) \
	--dist loadfile --no-loadscope-reorder --durations=15 --durations-min=3

.PHONY: run test test-all suite check lint bench format screenshots demo ranges train clean advisories

run: $(APP_STAMP)
	@exec $(BIN)/python -m attnviz app --port $(PORT) --address $(ADDRESS)

check: lint
	$(BIN)/python -m pytest -q tests/contracts -m "not slow" $(PYTEST_ARGS)

# the checks run beside the tests: mypy keeps one core busy for a minute, a browser waits for its server meanwhile
test: $(DEV_STAMP)
	@$(MAKE) -j2 lint suite SLOW='-m "not slow"'

test-all: $(DEV_STAMP)
	@$(MAKE) -j2 lint suite

suite: $(DEV_STAMP)
	@chromium=$$(scripts/ensure_browser --shell) && ATTNVIZ_CHROMIUM=$$chromium $(PYTEST) $(SLOW) $(PYTEST_ARGS)

lint: $(DEV_STAMP)
	$(BIN)/ruff format --check $(wildcard $(CODE))
	$(BIN)/ruff check $(wildcard $(CODE))
	$(BIN)/mypy
	$(BIN)/lint-imports
	@scripts/javascript check

bench: $(DEV_STAMP)
	chromium=$$(scripts/ensure_browser) && ATTNVIZ_CHROMIUM=$$chromium $(BIN)/python -m benchmarks.walk \
		$(if $(AGAINST),--against $(AGAINST)) $(BENCH_ARGS)

format: $(DEV_STAMP)
	$(BIN)/ruff format $(wildcard $(CODE))
	$(BIN)/ruff check --fix $(wildcard $(CODE))
	@scripts/javascript format

screenshots: $(DEV_STAMP)
	chromium=$$(scripts/ensure_browser) && ATTNVIZ_CHROMIUM=$$chromium $(BIN)/python -m scripts.screenshots

demo: $(APP_STAMP)
	@$(BIN)/python -m scripts.demo "$(DEMO)"

advisories:
	@scripts/advisories

ranges:
	@scripts/try_ranges

train: $(DEV_STAMP)
	@test -n "$(NAME)" || { echo "say which: make train NAME=stories"; exit 2; }
	$(BIN)/python -m scripts.train.$(subst -,_,$(NAME)) $(TRAIN_ARGS)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(APP_STAMP): requirements.txt scripts/make_venv scripts/link_command
	@scripts/make_venv requirements.txt $@

$(DEV_STAMP): requirements-dev.txt requirements.txt scripts/make_venv scripts/link_command
	@scripts/make_venv requirements-dev.txt $@
	@touch $(APP_STAMP)
