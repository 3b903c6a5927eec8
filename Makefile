# Each target sets up .venv first (from the exact lock file) and says what it does.
PYTHON ?= python3.11
LOCK := envs/cpu.lock.txt
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help setup tables test lint clean

help:
	@echo "make setup    .venv with the exact packages of $(LOCK)"
	@echo "make tables   every table in miniature: no network, no GPU, 2 cores (results/tables/)"
	@echo "make test     the tests"
	@echo "make lint     ruff, snakefmt and snakemake --lint"
	@echo "make clean    removes what was built: results resources work state logs"

.venv/.done: $(LOCK)
	@echo "== setting up .venv from $(LOCK)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r $(LOCK)
	@touch $@

setup: .venv/.done

tables: setup
	@echo "== building every table in miniature; progress below, tables in results/tables/"
	$(BIN)/snakemake all_tables

test: setup
	@echo "== running the tests"
	$(BIN)/python -m pytest

lint: setup
	@echo "== checking style"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check src tests
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

clean:
	@echo "== removing results resources work state logs"
	rm -rf results resources work state logs .snakemake
