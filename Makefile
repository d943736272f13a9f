# Thin on purpose: every target is one command of the package or of its tools.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
# held by hand: a newer one may bring gigabytes of CUDA with it
TORCH ?= 2.13.0
# mutants of each room, or all
SAMPLE ?= 60

.PHONY: core setup demo test check lint docs readme gallery wheel platform-wheel package-check constraints validate bench mutants clean

core: $(VENV)/.core  # what simulates and controls; no PyTorch, no tools
setup: $(VENV)/.ready  # all of it

$(VENV)/.core: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable . --constraint constraints.txt
	touch $@

$(VENV)/.ready: $(VENV)/.core
	$(BIN)/pip install --quiet --editable ".[dev]" --constraint constraints.txt
	$(BIN)/laserloop simulate diagonal --ticks 1 > /dev/null  # compiles the kernels once, for all later starts
	$(BIN)/laserloop control diagonal --ticks 1 > /dev/null
	touch $@

demo: core
	$(BIN)/laserloop demo --out out/demo

test: setup lint
	$(BIN)/python .ci/packages.py  # a browser, clang, CMake: what is missing is installed where it can be
	$(BIN)/pytest -n 2 --durations=10

check: setup lint  # minutes less: the tests of what differs from the main branch
	$(BIN)/python .ci/check.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: setup  # a warning is an error
	$(BIN)/sphinx-build -E -W --keep-going -q -b html docs out/docs
	@echo "Docs: out/docs/index.html"

readme: setup  # the README's tables, from the results under docs/
	$(BIN)/python docs/_ext/readme_table.py

gallery: setup  # runs every example; its page and pictures
	$(BIN)/python benchmarks/gallery.py

wheel: setup
	$(BIN)/python -m build --outdir out/dist

platform-wheel: wheel  # a wheel with the controllers compiled, for machines without a compiler
	$(BIN)/python .ci/platform_wheel.py out/dist

package-check: platform-wheel  # minutes: the wheels in empty environments, oldest and newest
	$(BIN)/python .ci/package_check.py out/dist

constraints:  # all of .[dev] as it is newest today, and the oldest versions that pyproject.toml admits
	rm -rf out/constraints
	$(PYTHON) -m venv out/constraints
	out/constraints/bin/pip install --quiet ".[dev]" "torch==$(TORCH)" uv
	out/constraints/bin/python .ci/pin.py

validate: setup
	$(BIN)/pytest -n 2 -m validation

mutants: setup  # a third of an hour: which breaks do the tests notice? SAMPLE=all: many hours
	$(BIN)/python benchmarks/mutants.py --sample $(SAMPLE)

bench: setup
	$(BIN)/laserloop bench plant --json out/bench_plant.json

clean:
	rm -rf $(VENV) out build dist mutants
