# Stele rebuilds every table of five papers. What is built: config.yaml. How: profiles/. Start with README.md.
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")
sys.path.insert(0, str(Path(workflow.basedir) / "src"))

from stele.artifacts.row import Row
from stele.claims.needs.wanted import claim_results
from stele.cluster.resources import job_resources, job_threads
from stele.snakemake_support.fingerprint import code, package_modules
from stele.plan.params import as_json, assignments, flags, option
from stele.plan.paths import finetuning_seed
from stele.plan.protocols import benchmark_code
from stele.plan.retrieval import direct, projected, row_of
from stele.snakemake_support.run_tables import context_digest, context_file
from stele.snakemake_support.hooks import (
    command_line,
    finish_rules,
    on_end,
    on_start,
    setup,
)


configfile: "config.yaml"


plan = setup(config, workflow)
workflow.default_target = "all_tables"  # an included file cannot say so


wildcard_constraints:
    benchmark="[a-z0-9_]+",
    model="[A-Za-z0-9_.-]+",
    setting="[a-z0-9_]+",
    seeds=r"pt\d+-ft\d+",
    dataset="[a-z0-9_]+",
    part="[A-Za-z0-9_-]+",
    recipe="[a-z0-9_]+(-[A-Za-z0-9-]+)?",  # and the language that it is for
    paper="[a-z0-9_]+",
    number=r"\d\d",


onstart:
    on_start(plan, workflow)


onsuccess:
    on_end(plan, workflow)


onerror:
    on_end(plan, workflow)


include: "workflow/rules/world.smk"
include: "workflow/rules/sources.smk"
include: "workflow/rules/corpora.smk"
include: "workflow/rules/pairs.smk"
include: "workflow/rules/pretraining.smk"
include: "workflow/rules/finetuning.smk"
include: "workflow/rules/retrieval.smk"
include: "workflow/rules/transfer.smk"
include: "workflow/rules/reranking.smk"
include: "workflow/rules/answering.smk"
include: "workflow/rules/scoring.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/cluster.smk"


finish_rules(workflow)
