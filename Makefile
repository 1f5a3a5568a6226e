# Each target first makes a virtual environment in .venv with the pinned set.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INTEGRATIONS := .venv-integrations
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

# Cached bytecode makes collection and every started command faster.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-all test-integrations check clean
.DEFAULT_GOAL := demo

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

# From law to report for banking, with rules of recorded models; then contrast pairs, with a recorded model beside the
# baselines. No key, no network.
PAIRS = 2.2 --env payments
demo: $(READY)
	$(BIN)/lawtrace run
	$(BIN)/lawtrace run --tasks $(PAIRS) --limit 16 --model 'replay:pairs-payments#solver' \
	  --model baseline:reference --model baseline:literal --model baseline:habit --set 'attempts.styles=["goal"]'
	@echo "Read how the model solved one task:  $(BIN)/lawtrace messages pairs-payments --role executor --limit 1"
	@echo "Test a model on the same pairs:      $(BIN)/lawtrace run --tasks $(PAIRS) --model openai:NAME"

# The fast tier: run it at every commit.
test: $(READY)
	$(PYTEST) -m "not slow and not browser and not integration"

# What the fast tier leaves out.
test-slow: $(READY)
	$(PYTEST) -m "(slow or browser) and not integration"

test-all: $(READY)
	$(PYTEST)

# The tests that need Inspect, Ray, LangChain, the Agents SDK or verifiers: an environment of its own, 1.8 GB.
$(INTEGRATIONS)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(INTEGRATIONS)
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,integrations]'
	touch $(INTEGRATIONS)/.ready

# The metadata of the build would hide those of the installed package, by which Inspect knows it.
test-integrations: $(INTEGRATIONS)/.ready
	rm -rf lawtrace.egg-info
	$(INTEGRATIONS)/bin/python -m pytest -n auto --dist worksteal -m integration

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python .ci/budgets.py
	$(BIN)/pyright

clean:
	rm -rf $(VENV) $(INTEGRATIONS) .pytest_cache .ruff_cache .hypothesis
