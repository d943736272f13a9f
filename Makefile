# Thin on purpose: every target is one command of the package or of its tools.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3

.PHONY: setup demo test lint validate bench clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable ".[dev]" --constraint constraints.txt
	$(BIN)/laserloop simulate diagonal --ticks 1 > /dev/null  # compiles the kernels once, for all later starts
	$(BIN)/laserloop control diagonal --ticks 1 > /dev/null
	touch $@

demo: setup
	$(BIN)/laserloop demo --out out/demo

test: setup lint
	$(BIN)/pytest -n 2

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

validate: setup
	$(BIN)/pytest -n 2 -m validation

bench: setup
	$(BIN)/laserloop bench plant --json out/bench_plant.json

clean:
	rm -rf $(VENV) out build dist
