# Two commands on a fresh machine: `make replicate` and `make test`.
#
#   make replicate                                          the embedded default, offline
#   make replicate SCALE=mnist DATA_DIR=/path/to/datasets   a larger scale; both optional
#   make replicate PAPER=zhou2022 SCALE=mnist               one paper, or several: PAPER='zhou2022 meng2023'
#   make bench                                              speed against peers, in results/bench/

# The first interpreter in the supported range.
PYTHON ?= $(shell for p in python3.12 python3.11 python3.13 python3 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& echo $$p && break; done)
PAPER ?=
SCALE ?=
CONFIG ?=
DATA_DIR ?=
CORES ?= all

VENV := .venv
BIN := $(VENV)/bin
EMPTY :=
COMMA := ,
SETTINGS := $(if $(SCALE),scale=$(SCALE)) \
	$(if $(PAPER),'papers=[$(subst $(EMPTY) ,$(COMMA),$(strip $(PAPER)))]') \
	$(if $(DATA_DIR),data_dir='$(DATA_DIR)')
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES) --rerun-incomplete --show-failed-logs \
	$(if $(CONFIG),--configfile '$(CONFIG)') $(if $(strip $(SETTINGS)),--config $(SETTINGS))

.PHONY: replicate test test-slurm bench cite lint clean

replicate: $(VENV)/installed
	$(SNAKEMAKE)
	@echo "report: results/reports/index.html"

test: $(VENV)/installed
	$(BIN)/python -m pytest

# A private Slurm of two nodes on this machine, as root; Debian's packages are installed if missing.
test-slurm: $(VENV)/installed
	$(BIN)/python tests/slurm

bench: $(VENV)/installed
	$(BIN)/python workflow/scripts/bench.py --output results/bench

# CITATION.cff and docs/papers.bib from the papers' own files.
cite: $(VENV)/installed
	$(BIN)/python workflow/scripts/cite.py

lint: $(VENV)/installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

clean:
	find results -mindepth 1 -maxdepth 1 ! -name reference -exec rm -rf {} +
	rm -rf .snakemake

# The marker is written last, so that an interrupted installation is completed, not believed.
$(VENV)/installed: envs/requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11, 3.12 or 3.13 found; set PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement envs/requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@
