# Two commands on a fresh machine: `make replicate` and `make test`.
#
#   make replicate                                          the embedded default, offline
#   make replicate SCALE=mnist DATA_DIR=/path/to/datasets   a larger scale; both optional
#   make replicate PAPER=zhou2022 SCALE=mnist               one paper, or several: PAPER='zhou2022 meng2023'
#   make replicate STUDY=zhou2022/fsdp-k SCALE=mnist        one study, or several
#   make replicate CONFIG=mine.yaml CORES=4                 a configuration file of yours; jobs at a time
#   make replicate PAPER=meng2023 SCALE=mnist SEEDS=decide  more seeds to studies whose claims need them: 5, 10, 20
#   make list PAPER=zhou2022                                what there is: of all papers, or of one
#   make status                                             how far it is: while it runs, and after
#   make keep PAPER=meng2023 SCALE=mnist                    finished results into results/reference, with provenance
#   make verify PAPER=meng2023 SCALE=mnist                  a sample of kept runs trained again and compared
#   make judge RESULTS=mine.csv BETTER=mine WORSE=dpsgd     a table of yours judged by the same rules; nothing is trained
#   make report-reference                                   the report from kept results alone, in results/kept/
#   make docs                                               generated parts of the docs, and their site with a page per paper
#   make bench                                              speed against peers, in results/bench/
#   make install                                            the environment alone, .venv

# The first interpreter in the supported range.
PYTHON ?= $(shell for p in python3.12 python3.11 python3.13 python3 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& echo $$p && break; done)
PAPER ?=
STUDY ?=
SCALE ?=
CONFIG ?=
DATA_DIR ?=
CORES ?= all
SEEDS ?=
RESULTS ?=
BETTER ?=
WORSE ?=

VENV := .venv
BIN := $(VENV)/bin

KNOWN := PAPER STUDY SCALE CONFIG DATA_DIR CORES SEEDS PYTHON RESULTS BETTER WORSE
GIVEN := $(foreach pair,$(MAKEOVERRIDES),$(if $(findstring =,$(pair)),$(firstword $(subst =, ,$(pair)))))
$(if $(filter-out $(KNOWN),$(GIVEN)),$(error unknown variable $(filter-out $(KNOWN),$(GIVEN)); expected some of $(KNOWN)))

CHOICE := $(if $(PAPER),--papers $(foreach name,$(PAPER),'$(name)')) \
	$(if $(STUDY),--select $(foreach name,$(STUDY),'$(name)')) \
	$(if $(SCALE),--scale '$(SCALE)') \
	$(if $(DATA_DIR),--data-dir '$(DATA_DIR)') \
	$(if $(CONFIG),--configfile '$(CONFIG)')

.PHONY: help replicate install list status keep verify judge report-reference test test-all test-slurm test-gpu test-flower bench docs lint clean

replicate: $(VENV)/installed
	@$(BIN)/python workflow/scripts/replicate.py --cores '$(CORES)' $(if $(SEEDS),--seeds '$(SEEDS)') $(CHOICE)

# What stands above.
help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

install: $(VENV)/installed

list: $(VENV)/installed
	@$(BIN)/python workflow/scripts/status.py --list $(CHOICE)

# Of the last replicate, unless told otherwise.
status: $(VENV)/installed
	@$(BIN)/python workflow/scripts/status.py $(CHOICE)

# Of the last replicate, unless told otherwise.
keep: $(VENV)/installed
	@$(BIN)/python workflow/scripts/keep.py $(CHOICE)

# Of all that is kept, unless told otherwise; at most 15 minutes on one core, by the estimate.
verify: $(VENV)/installed
	@$(BIN)/python workflow/scripts/verify.py --cores '$(CORES)' $(if $(PAPER),--papers $(PAPER)) \
		$(if $(SCALE),--scale '$(SCALE)') $(if $(DATA_DIR),--data-dir '$(DATA_DIR)')

judge: $(VENV)/installed
	@$(BIN)/python workflow/scripts/judge_results.py --results '$(RESULTS)' --better '$(BETTER)' \
		--worse $(foreach name,$(WORSE),'$(name)')

report-reference: $(VENV)/installed
	@$(BIN)/python workflow/scripts/report_reference.py

# A process a core, but no more than four: each imports PyTorch. A file's tests share what they set up.
test: $(VENV)/installed
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

# What takes long too: real Snakemake, from a first run to faults, kept runs and all scales.
test-all: $(VENV)/installed
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile tests/contract tests/unit tests/workflow

# A private Slurm of two nodes on this machine, as root; Debian's packages are installed if missing.
test-slurm: $(VENV)/installed
	$(BIN)/python tests/slurm

# On a machine with a GPU: the same code there, against the CPU and against itself.
test-gpu: $(VENV)/installed
	$(BIN)/python -m pytest tests/gpu

# A run over a wire, in an environment of its own: what it asks for is not what the workflow is pinned to.
test-flower: $(VENV)-flower/installed
	$(VENV)-flower/bin/python -m pytest tests/flower

bench: $(VENV)/installed
	$(BIN)/python workflow/scripts/bench.py --output results/bench

# Generated parts of README.md, docs/ and CITATION.cff, and the site in results/docs/site.
docs: $(VENV)/installed
	@$(BIN)/python workflow/scripts/docs.py

lint: $(VENV)/installed
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

clean:
	find results -mindepth 1 -maxdepth 1 ! -name reference ! -name unfinished -exec rm -rf {} +
	rm -rf .snakemake

# The marker is written last, so that an interrupted installation is completed, not believed.
$(VENV)/installed: envs/requirements.txt
$(VENV)-flower/installed: envs/flower.txt
$(VENV)/installed $(VENV)-flower/installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11, 3.12 or 3.13 found; set PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --requirement $(filter envs/%,$^)
	$(@D)/bin/python -m pip install --quiet --no-deps --editable .
	@touch $@
