# Short forms of the commands that a reader needs. `make help` lists them, `make -n TARGET` prints the command behind one.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help environment report figure archive plan record status recorded gpu test docs lint clean

PYTHON ?= python3
VENV ?= .venv
TORCH ?= $(shell cat envs/torch.in)
CORES ?= all
SCALE ?= laptop
DATA ?= embedded
CONFIG ?=
NAME ?=
PYTEST_ARGS ?=
HOURS ?=
JOBS ?= 1
NO_SKIP ?=
REHEARSE ?=
WEIGHTS ?=
ANONYMOUS ?=

# A variable that nobody reads would be left aside without a word.
KNOWN = SCALE DATA CONFIG CORES NAME HOURS JOBS WEIGHTS ANONYMOUS REHEARSE PYTEST_ARGS NO_SKIP PYTHON VENV TORCH
SAID = $(filter-out $(KNOWN) SHELL SOURCE% -%,$(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name))))
$(if $(SAID),$(error $(SAID) given; allowed are $(KNOWN), and keys of config.yaml as CONFIG="papers=mathews2016"))

# Nor one that the targets asked for do not read: a record is of the paper's scale whatever SCALE says.
READ_report = SCALE DATA CONFIG CORES
READ_figure = SCALE DATA CONFIG CORES NAME
READ_plan = SCALE DATA CONFIG CORES
READ_archive = SCALE WEIGHTS ANONYMOUS
READ_record = CONFIG HOURS JOBS
READ_status = CONFIG
READ_gpu = HOURS REHEARSE
READ_test = PYTEST_ARGS NO_SKIP
READ_clean = SCALE
READ = $(strip PYTHON VENV TORCH $(foreach goal,$(MAKECMDGOALS),$(READ_$(goal))))
GIVEN = $(filter $(KNOWN),$(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name))))
UNREAD = $(if $(MAKECMDGOALS),$(filter-out $(READ),$(GIVEN)))
$(if $(UNREAD),$(error $(UNREAD) given with make $(MAKECMDGOALS); allowed are $(READ)))

export NO_SKIP
export PATH := $(abspath $(VENV))/bin:$(PATH)
export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null || echo 315532800)

MAKE_ENVIRONMENT = $(PYTHON) workflow/scripts/make_environment.py --folder $(VENV) --torch "$(TORCH)"
CHOICE = --config scale=$(SCALE) data=$(DATA) $(CONFIG)
# A key of CONFIG as an option of a command: $(call given,key,option); nothing where CONFIG leaves it out or empty.
of = $(subst [,,$(subst ],,$(patsubst $(1)=%,%,$(lastword $(filter $(1)=%,$(CONFIG))))))
given = $(if $(call of,$(1)),$(2) '$(call of,$(1))')
ROOTS = $(call given,paper_roots,--roots)
PAPERS = $(call given,papers,--papers)
PLANNED = $(call given,guest_cells,--guests) $(call given,cohort_size,--cohort-size) $(call given,engine,--engine)
SNAKEMAKE = python workflow/scripts/snakemake_locked.py --cores $(CORES) --keep-going --quiet rules

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile
	@echo
	@echo 'SCALE=smoke|laptop|paper  DATA=embedded|real  CONFIG="papers=mathews2016"  CORES=2  NAME=fig-5.1'
	@echo 'PYTHON=python3.12  VENV=.venv  TORCH="torch==2.11.0"  PYTEST_ARGS="-k cells"  NO_SKIP=1'

environment: ## the virtual environment: envs/runtime.lock, this package, torch
	@$(MAKE_ENVIRONMENT) runtime package torch

report: environment ## train, draw, judge, and write results/$(SCALE)/report/{index.html,report.pdf,appendix.pdf}
	@$(SNAKEMAKE) $(CHOICE) -- all
	@ls -1 results/$(SCALE)/report/*.*

# Before any work, the environment too.
$(if $(filter figure,$(MAKECMDGOALS)),$(if $(NAME),,$(error make figure needs NAME, a figure or table: make figure NAME=fig-5.1)))
figure: environment ## one figure or table: make figure NAME=fig-5.1 SCALE=laptop
	@files=$$(tensor-rnns $(ROOTS) target --scale $(SCALE) $(PAPERS) "$(NAME)") && $(SNAKEMAKE) $(CHOICE) -- $$files && ls -1 $$files

archive: environment ## one zip of the report and all that it rests on: make archive SCALE=laptop ANONYMOUS=1 WEIGHTS=1
	@tensor-rnns archive --scale $(SCALE) $(if $(WEIGHTS),--weights) $(if $(ANONYMOUS),--anonymous)

plan: environment ## what a report would train, core-hours, disk and memory by experiment; runs nothing
	@tensor-rnns $(ROOTS) plan --scale $(SCALE) --data $(DATA) $(PAPERS) $(PLANNED)
	snakemake --cores $(CORES) --dry-run --nolock --quiet rules $(CHOICE) -- all

# What the recorder has no use for is refused, as a report refuses an unknown key.
TAKEN = papers paper_roots cohort_size engine state
REFUSED = $(if $(filter record status,$(MAKECMDGOALS)),$(filter-out $(addsuffix =%,$(TAKEN)),$(CONFIG)))
$(if $(REFUSED),$(error CONFIG given with $(REFUSED); allowed for record and status are $(TAKEN)))
OWN = $(call given,cohort_size,--cohort-size) $(call given,state,--state)

record: environment ## train the paper's scale on real data and keep it: make record HOURS=8 JOBS=2
	tensor-rnns $(ROOTS) record $(PAPERS) $(OWN) $(call given,engine,--engine) $(if $(HOURS),--hours $(HOURS)) --jobs $(JOBS)

status: environment ## of the paper's scale: recorded, running, missing, core-hours left
	@tensor-rnns $(ROOTS) status $(PAPERS) $(OWN)

recorded: ## the report of the recorded runs of the paper's scale; needs no torch
	@$(MAKE_ENVIRONMENT) runtime package
	tensor-rnns recorded

gpu: ## all that waits for a GPU: tests, tables, repeats, the most expensive curves: make gpu HOURS=8; REHEARSE=1 needs no GPU
	@$(MAKE_ENVIRONMENT) runtime package torch dev
	@python -m benchmarks.on_gpu $(if $(HOURS),--hours $(HOURS)) $(if $(REHEARSE),--rehearse)

test: ## all tests; what needs a missing part is named and left out, NO_SKIP=1 refuses that
	@$(MAKE_ENVIRONMENT) runtime package torch dev
	python -m pytest $(PYTEST_ARGS)

docs: ## the pages of docs/ as a site in build/docs; a dead link fails
	@$(MAKE_ENVIRONMENT) runtime package dev
	@rm -rf build/docs
	python -m sphinx --nitpicky --fail-on-warning --keep-going --quiet --builder html docs build/docs
	@ls build/docs/README.html

lint: ## the checks of style and structure
	@$(MAKE_ENVIRONMENT) runtime package torch dev
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	snakemake --lint
	lint-imports

CLEANED = $(if $(filter SCALE,$(GIVEN)),$(SCALE),smoke laptop)
$(if $(filter clean,$(MAKECMDGOALS)),$(if $(filter-out smoke laptop paper,$(CLEANED))$(if $(CLEANED),,none),$(error make clean SCALE=$(SCALE) given; allowed are smoke, laptop, paper)))
clean: ## remove what smoke and laptop runs made (SCALE=paper: what runs of one scale made); data and state stay
	rm -rf $(foreach scale,$(CLEANED),results/$(scale) results/$(scale)-partial) $(if $(filter SCALE,$(GIVEN)),,results/logs)
