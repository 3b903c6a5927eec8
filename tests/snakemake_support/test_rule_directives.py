"""What rules have by their names: in a Snakefile of three rules, as Snakemake then plans their jobs."""

import os
import re
import subprocess
import sys

import pytest

from stele.snakemake_support import rule_directives
from tests.conftest import ROOT

SNAKEFILE = """
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, SOURCE)
from stele.snakemake_support.rule_directives import complete_rules

sizes, config = SimpleNamespace(threads=3, gpus=None), SimpleNamespace(user_data={})
plan = SimpleNamespace(
    settings=SimpleNamespace(generated=True, sizes=sizes, config=config),
    paths=SimpleNamespace(log="logs/{}.log".format, benchmark_file="logs/{}.tsv".format),
    dump_mb=lambda wildcards: 1000 if wildcards["part"] == "sw" else 0,
)

rule all:
    input: "a/sw/pt0/x_1.json", "b.json", "own/sw.json"

rule knowledge_base:
    output: "a/{part,[a-z]+}/pt{seed}/x_{number}.json"
    shell: "touch {output} > {log}"

rule score:
    output: "b.json"
    shell: "touch {output} > {log}"

rule title_queries:
    output: "own/{part}.json"
    log: "mine/{part}.log"
    threads: 2
    resources: mem_mb=77, runtime=1, disk_mb=5
    shell: "touch {output} > {log}"

complete_rules(workflow.rules, workflow, plan, Path(workflow.basedir))
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """jobs(*options): rule -> what a dry run says of its job."""
    folder = tmp_path_factory.mktemp("rules")
    (folder / "Snakefile").write_text(SNAKEFILE.replace("SOURCE", repr(str(ROOT / "src"))))

    def plan(*options):
        command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "4", "--printshellcmds", *options]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SNAKEMAKE")}
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return dict(re.findall(r"^rule (\w+):\n((?: +.+\n)+)", run.stdout + run.stderr, re.MULTILINE))

    return plan


def test_a_rule_has_log_measurements_threads_and_sizes_by_its_name(jobs):
    planned = jobs()
    assert "log: logs/knowledge_base/sw.pt0.1.log\n" in planned["knowledge_base"]
    assert "benchmark: logs/knowledge_base/sw.pt0.1.tsv\n" in planned["knowledge_base"]
    assert "threads: 3\n" in planned["knowledge_base"]
    sizes = dict(re.findall(r"(mem_mb|runtime)=(\d+)", planned["knowledge_base"]))
    none = dict(re.findall(r"(mem_mb|runtime)=(\d+)", jobs("a/en/pt0/x_1.json")["knowledge_base"]))
    assert int(sizes["mem_mb"]) > int(none["mem_mb"]) > 0, "it grows with the dump that a job reads"
    assert "log: logs/score.log\n" in planned["score"] and "threads" not in planned["score"]
    assert "benchmark" not in planned["score"], "its job would run anew where the measurements are gone"


def test_what_a_rule_says_itself_stays(jobs):
    own = jobs()["title_queries"]
    assert "log: mine/sw.log\n" in own and "threads: 2\n" in own and "mem_mb=77" in own and "runtime=1," in own + ","


def test_what_the_command_line_sets_wins(jobs):
    planned = jobs("--set-threads", "knowledge_base=1", "--set-resources", "knowledge_base:mem_mb=5")
    assert "threads" not in planned["knowledge_base"] and "mem_mb=5," in planned["knowledge_base"] + ","


@pytest.mark.parametrize(
    ("rule", "generated", "file"), [("score", True, "data"), ("pretrain", True, "cpu"), ("pretrain", False, "gpu")]
)
def test_a_rule_runs_in_the_environment_of_its_entry(tmp_path, rule, generated, file):
    path = rule_directives.environment_file(tmp_path / "{x}", rule, generated)
    assert path.format() == str(tmp_path / "{x}" / "envs" / f"{file}.yaml")
