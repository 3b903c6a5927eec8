# Stele rebuilds every table of five papers. config.yaml says what to build, profiles/ how. Start with README.md.
import os
import sys
from importlib import import_module
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")
project = Path(str(workflow.current_basedir))  # also if imported as a module
sys.path.insert(0, str(project / "src"))
os.environ.update(STELE_PROJECT=os.path.relpath(project))

from stele.artifacts.results import RunKey
from stele.evaluation.metrics import metric_modules, ranx_lines
from stele.plan.paths import as_json, assignments, finetuning_seed, flags
from stele.plan.protocols import benchmark_code
from stele.plan.retrieval import projected, row_of
from stele.plan.scoring import PUBLISHED
from stele.snakemake_support import hooks
from stele.snakemake_support.fingerprint import code, package_data, package_modules
from stele.snakemake_support.run_tables import context_digest, context_file


configfile: hooks.config_file(workflow, project)


plan = hooks.setup(config, workflow, project)


wildcard_constraints:
    benchmark="[a-z0-9_]+",
    model="[A-Za-z0-9_.-]+",
    setting="[a-z0-9_]+",
    seeds=r"pt\d+-ft\d+",
    dataset="[a-z0-9_]+",
    part="[A-Za-z0-9_-]+",
    recipe="[a-z0-9_]+(-[A-Za-z0-9-]+)?",  # optionally with the language that it is for
    paper="[a-z0-9_]+",
    number=r"\d\d",


onstart:
    hooks.on_start(plan, workflow)


onsuccess:
    hooks.on_end(plan, workflow)


onerror:
    hooks.on_end(plan, workflow)


for rule_file in sorted(project.glob("workflow/rules/*.smk")):

    include: rule_file


hooks.finish_rules(plan, workflow, project)
