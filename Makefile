# make demo and make check each work from nothing: they make .venv with the newest suitable Python found, install, run.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
# PYTHON=python3.11 make check picks another one. What pyenv keeps counts, too, where its shims are not switched on.
PYENV := $(if $(PYENV_ROOT),$(PYENV_ROOT),$(HOME)/.pyenv)/versions
PYTHON ?= $(shell for p in python3.13 $(PYENV)/3.13*/bin/python python3.12 $(PYENV)/3.12*/bin/python \
	python3.11 $(PYENV)/3.11*/bin/python python3; do \
	$$p -c 'import sys; sys.exit(not (3,11) <= sys.version_info[:2] <= (3,13))' 2>/dev/null && { echo $$p; break; }; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo check lint types test lit docs bench clean

help: ## what can be made
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11, 3.12 or 3.13 found; install one or run: make $(MAKECMDGOALS) PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(BIN)/python
	$(PIP) install -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[jax,test,lint,docs]'
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run ## the whole chain on a shipped HLO module, explained
	@$(BIN)/neuron-ctrldep demo

check: lint types docs test lit ## everything that must hold: ruff, types, docs, pytest, lit

lint: $(VENV)/.dev ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## mypy, strict
	$(BIN)/mypy

test: $(VENV)/.dev ## pytest, warnings are errors
	$(BIN)/python -m pytest -n auto

lit: $(VENV)/.dev ## lit with FileCheck
	$(BIN)/lit -v lit_tests

docs: $(VENV)/.dev ## the documentation, built strictly
	$(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/.dev ## the measurements of benchmarks/README.md
	$(BIN)/python benchmarks/run.py

clean: ## remove what make made
	rm -rf $(VENV) site
