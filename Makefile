# Each target first sets up .venv from the lock file with exact versions, and prints what it does.
PYTHON ?= python3.11
LOCK := envs/cpu.lock.txt
BIN := .venv/bin
.DEFAULT_GOAL := help
# Python's container images often set it; each of some thousand processes would then compile all modules again
unexport PYTHONDONTWRITEBYTECODE
# on a terminal: an overview of the run instead of Snakemake's lines, and a summary at the end
OVERVIEW := STELE_PROGRESS=1
# papers and pretraining seeds of the study in evidence/study.tar.gz
STUDY := msm,kept
SEEDS := 0 1 2 3 4
# a separate environment, in which MTEB's own tasks score the same data
ORACLE := .venv-oracle
# a table of real data: CCP's Table 1 with public encoders of 118 million weights (docs/laptop.md)
REAL := results_real/tables/ccp/table_01.md results_real/tables/ccp/table_01.html
REAL_CONFIG := scale=laptop results_dir=results_real papers=[ccp] \
  'models={"me5_small": {"tables": ["ccp/1"]}, "para_minilm": {"tables": ["ccp/1"]}}'
.PHONY: help setup first real tables pdf study site test test-all speed gpu controls oracle docs lint clean

help:
	@echo "make setup    .venv with the exact packages of $(LOCK), and the command stele"
	@echo "make first    one whole table in miniature, in about two minutes: MSM's Table 16 (results/tables/msm/table_16.html)"
	@echo "make real     one table of real data, in about 5 minutes of 2 cores and 1 GB of downloads: CCP's Table 1 with two public encoders (results_real/tables/ccp/table_01.html)"
	@echo "make tables   every table in miniature: no network, no GPU, 2 cores (results/tables/)"
	@echo "make pdf      the same tables, and all of them as one PDF; needs TeX and fonts (apt-get install texlive-xetex latexmk fonts-freefont-otf fonts-noto-core fonts-wqy-microhei)"
	@echo "make study    the results for judging the claims of MSM and KEPT, over five seeds, packed into evidence/study.tar.gz; takes hours, resumes if interrupted"
	@echo "make site     a static site of evidence/study.tar.gz: tables, figures, claims, models (site/index.html); computes no results"
	@echo "make test     the quick tests, in ten minutes: without whole builds, clusters, browsers and speed"
	@echo "make test-all every test"
	@echo "make speed    the table of docs/speed.md: measures each item and a named peer in one run; needs an otherwise idle machine"
	@echo "make gpu      the figures of docs/gpu.md, in at most 8 minutes, with the python3 on the PATH, whose torch must find a GPU"
	@echo "make controls for each benchmark in miniature a row far above a guess, and a test that permuted candidates bring it down to the guess"
	@echo "make oracle   checks that MTEB's own tasks and ir_measures give the same scores on the generated data, in a separate environment"
	@echo "make docs     the documentation as a site, with its internal links checked (docs/_site/index.html)"
	@echo "make lint     ruff, snakefmt and snakemake --lint"
	@echo "make clean    removes everything that was built: results resources work state logs, and .snakemake"

.venv/.done: $(LOCK) pyproject.toml
	@echo "== setting up .venv from $(LOCK)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(LOCK)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: .venv/.done

first: setup
	@echo "== building one table in miniature, Table 16 of MSM, and everything that it needs"
	$(OVERVIEW) $(BIN)/snakemake results/tables/msm/table_16.md --config scale=miniature

real: setup
	@echo "== building one table of real data, Table 1 of CCP with two public encoders; its cost:"
	@$(BIN)/snakemake $(REAL) -n --quiet all --config $(REAL_CONFIG) 2>&1 | tail -1
	$(OVERVIEW) $(BIN)/snakemake $(REAL) --config $(REAL_CONFIG)

tables: setup
	@echo "== building every table in miniature; existing results are kept"
	$(OVERVIEW) $(BIN)/snakemake all_tables --config scale=miniature

pdf: setup
	@echo "== setting all tables as results/tables/all_tables.pdf"
	$(BIN)/snakemake all_tables all_tables_pdf

evidence/.unpacked: evidence/study.tar.gz
	tar -xzf $< -C evidence
	@touch $@

study: setup evidence/.unpacked
	@echo "== building the results for the claims of $(STUDY), seed by seed: main claims first, then all"
	@set -e; for target in main_claim_results claim_results; do for seed in $(SEEDS); do \
	  $(OVERVIEW) $(BIN)/snakemake $$target --config scale=study results_dir=results_study "papers=[$(STUDY)]" \
	    "seeds={\"pretraining\": [$$seed], \"finetuning\": [0, 1]}"; \
	  $(BIN)/stele claims pack results_study evidence/study; \
	  $(BIN)/stele tables site evidence/study --to evidence/tables --format md; \
	done; done
	tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -I 'gzip -9n' -cf evidence/study.tar.gz.part -C evidence study
	mv evidence/study.tar.gz.part evidence/study.tar.gz
	@touch evidence/.unpacked
	$(BIN)/stele claims judge evidence/study --paper msm kept --template docs/study.md.j2 >docs/study.md.part
	mv docs/study.md.part docs/study.md

site: setup evidence/.unpacked
	@echo "== writing site/ from evidence/study"
	$(BIN)/stele tables site evidence/study --to site

test: setup
	@echo "== running the quick tests"
	tests/run.sh $(BIN)/python quick

test-all: setup
	@echo "== running all tests"
	tests/run.sh $(BIN)/python all

speed: setup
	@echo "== measuring speed beside peers; each row is written to docs/speed.md once it is measured"
	$(BIN)/python -m tests.speed.table

gpu:
	@echo "== measuring on a GPU; figures are written to docs/gpu.md and docs/gpu.json once they are measured"
	PYTHONPATH=src python3 -m tests.speed.gpu

controls: setup
	@echo "== building for each benchmark a row far above a guess, and scoring it again with permuted candidates"
	STELE_CONTROLS=1 $(BIN)/python -m pytest tests/controls

$(ORACLE)/.done: envs/oracle.lock.txt
	@echo "== setting up $(ORACLE) from $<"
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

oracle: setup $(ORACLE)/.done
	@echo "== scoring the same data with Stele, MTEB and ir_measures"
	$(BIN)/snakemake --config scale=miniature results_dir=results_oracle -- \
	  $(foreach name,miracl miracl_hard_negatives belebele neuclir_clir,results_oracle/$(name)/labse/direct.json)
	STELE_ORACLE_BUILT=. STELE_ORACLE_PYTHON=$(ORACLE)/bin/python $(BIN)/python -m pytest tests/oracle

docs: setup
	@echo "== writing docs/_site/; a broken link is an error"
	$(BIN)/python -m sphinx --builder html --fresh-env --fail-on-warning --keep-going --quiet docs docs/_site

lint: setup
	@echo "== checking style"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check src tests
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

clean:
	@echo "== removing results resources work state logs .snakemake"
	@for folder in results resources work state logs; do \
	  if [ -L $$folder ]; then echo "$$folder is a link to $$(readlink -f $$folder), which is left as it is"; \
	  elif [ -d $$folder ]; then find $$folder -mindepth 1 -not -path results/README.md -delete; fi; done
	rm -rf .snakemake
