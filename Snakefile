# Stele rebuilds every table of five papers. What is built: config.yaml. How: profiles/. Start with README.md.
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")
sys.path.insert(0, str(Path(workflow.basedir) / "src"))

from stele.artifacts.row import Row
from stele.claims.needs.wanted import claim_results
from stele.cluster.resources import job_resources, job_threads
from stele.plan.params import as_json, assignments, flags, option
from stele.plan.paths import finetuning_seed
from stele.plan.protocols import benchmark_code
from stele.plan.retrieval import direct, projected, row_of
from stele.snakemake_support import hooks
from stele.snakemake_support.fingerprint import code, package_modules
from stele.snakemake_support.run_tables import context_digest, context_file


configfile: "config.yaml"


plan = hooks.setup(config, workflow)
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
    hooks.on_start(plan, workflow)


onsuccess:
    hooks.on_end(plan, workflow)


onerror:
    hooks.on_end(plan, workflow)


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


hooks.finish_rules(workflow)
