# Each target sets up .venv first (from the exact lock file) and says what it does.
PYTHON ?= python3.11
LOCK := envs/cpu.lock.txt
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help setup tables pdf test lint clean

help:
	@echo "make setup    .venv with the exact packages of $(LOCK), and the command stele"
	@echo "make tables   every table in miniature: no network, no GPU, 2 cores (results/tables/)"
	@echo "make pdf      the same, and all of them as one PDF; needs TeX and fonts (apt-get install texlive-xetex latexmk fonts-freefont-otf fonts-noto-core fonts-wqy-microhei)"
	@echo "make test     the tests"
	@echo "make lint     ruff, snakefmt and snakemake --lint"
	@echo "make clean    removes what was built: results resources work state logs, and .snakemake (its records)"

.venv/.done: $(LOCK) pyproject.toml
	@echo "== setting up .venv from $(LOCK)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(LOCK)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: .venv/.done

tables: setup
	@echo "== building every table in miniature; progress below, tables in results/tables/"
	$(BIN)/snakemake all_tables --config scale=miniature

pdf: setup
	@echo "== setting all tables as results/tables/all_tables.pdf"
	$(BIN)/snakemake all_tables all_tables_pdf

test: setup
	@echo "== running the tests"
	$(BIN)/python -m pytest --ignore=tests/cluster
	@echo "== running those on a private SLURM cluster: nearly all of it is waiting, so three at a time"
	$(BIN)/python -m pytest tests/cluster -n 3 --dist loadfile --no-loadscope-reorder

lint: setup
	@echo "== checking style"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check src tests
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

clean:
	@echo "== removing results resources work state logs .snakemake"
	rm -rf results resources work state logs .snakemake
