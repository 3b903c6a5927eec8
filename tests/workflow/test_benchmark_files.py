"""Benchmark files stand beside logs and rerun nothing, whether they are there or not."""

import os
import re

from tests.workflow.conftest import TABLE, planned, snakemake


def rules(root):
    """(rule, its text) of all rules that run a command."""
    for path in sorted((root / "workflow/rules").glob("*.smk")):
        for text in re.split(r"^rule ", path.read_text(), flags=re.MULTILINE)[1:]:
            if "    shell:\n" in text:
                yield text.partition(":")[0], text


def test_every_rule_with_wildcards_has_one_by_the_name_of_its_log(root):
    """Not one without: it can be asked for by name, and Snakemake then runs it anew where its benchmark is gone."""
    collected = {}
    for name, text in rules(root):
        (log,) = re.findall(r'plan\.paths\.log\(\s*"(.+)"\s*\)', text)
        assert log.split("/")[0] == name, "the log has the rule's name"
        benchmarks = re.findall(r'    benchmark:\n +plan\.paths\.benchmark_file\(\s*"(.+)"\s*\)', text)
        assert benchmarks == ([log] if "{" in log else []), name
        collected[name] = bool(benchmarks)
    assert sum(collected.values()) > 20 and not collected["all_tables"] and not collected["mirror"]


def timings(project):
    actual = sorted((project / "logs").rglob("*.benchmark.tsv"))
    assert len(actual) > 15
    return actual


def test_results_without_them_are_not_built_again(built):
    for path in timings(built):
        path.unlink()
    assert planned(built, TABLE, "mirror", "context") == {}
    assert snakemake(built, "--touch", TABLE).returncode == 0, "nothing to accept either"


def test_older_and_newer_ones_change_nothing(built):
    for number, path in enumerate(timings(built)):
        if number % 2:
            os.utime(path, (1, 1))
        else:
            path.touch()
    assert planned(built, TABLE) == {}
