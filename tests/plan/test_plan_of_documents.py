"""Shi et al.'s dense rows as they are planned: documents in windows, by an encoder whose first token is the vector."""

from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.artifacts.row import Row
from stele.catalogue.schema.benchmarks import Benchmark
from stele.cost import gpu_rules
from stele.recipes.windows import Windows
from stele.retrieval.dense.windows import parse_windows

COLLECTIONS = ["ntcir8_zh", "trec2002_ar", "clef2006_fr", "fire2012_hi", "fire2012_bn", "trec3_es"]
SEEDS = "pt0-ft0"


def test_the_windows_are_the_paper_s_in_all_six_and_nowhere_else():
    found = {name: entry.windows for name, entry in catalogue.entries(Benchmark).items() if entry.windows}
    assert found == dict.fromkeys(COLLECTIONS, Windows(sentences=5, stride=1, hits=100, best=3))


def test_the_command_is_told_of_windows_where_there_are_some(jobs):
    import shlex

    plan = jobs(scale="paper")
    flag, value = shlex.split(plan.retrieval.windows("trec3_es"))
    assert flag == "--windows" and parse_windows(value) == catalogue.entries(Benchmark)["trec3_es"].windows
    assert plan.retrieval.windows("mrtydi") == ""


@pytest.mark.parametrize("benchmark", COLLECTIONS)
@pytest.mark.parametrize(("setting", "recipe"), [("zero_shot_nq", "nq_shi"), ("zero_shot_marco", "marco_shi")])
def test_rows_are_of_encoders_that_read_whole_windows(jobs, benchmark, setting, recipe):
    plan = jobs(scale="paper", user_data={benchmark: "."})
    made = plan.rows.inputs(Row(benchmark, "mbert", setting), SEEDS)
    assert made["encoder"] == f"work/paper/finetuned/mbert/{recipe}/{SEEDS}/record.json"
    spec = plan.finetuning.recipe(recipe).spec()
    assert (spec.pooling, spec.normalize, spec.towers, spec.passage_length) == ("cls", False, "separate", 512)


def test_a_collection_that_one_must_order_is_named(jobs):
    state, reason = jobs(scale="paper").rows.problem(Row("trec3_es", "mbert", "zero_shot_nq"))
    assert state == "unavailable" and "LDC2000T51" in reason


def test_what_is_reckoned_is_encoding_windows_not_documents(jobs):
    plan = jobs(scale="paper", user_data={"trec3_es": "."})
    w = SimpleNamespace(benchmark="trec3_es", model="mbert", setting="zero_shot_nq", seeds=SEEDS)
    work = gpu_rules.retrieve(plan, w)
    assert work.temporary == 57_868 * 10 * 768 * 4, "a vector a window"
    assert work.flops["search"] == 2.0 * 25 * 57_868 * 10 * 768


def test_the_cost_report_lists_windows_hours_and_disk_of_each_collection(jobs):
    from stele.cluster.cost_table import markdown
    from stele.cluster.requests import JobRequest

    plan = jobs(scale="paper", user_data={"trec3_es": "."})
    w = {"benchmark": "trec3_es", "model": "mbert", "setting": "zero_shot_nq", "seeds": SEEDS}
    work = gpu_rules.retrieve(plan, SimpleNamespace(**w))
    resources = {"gpus": 2, "mem_mb": 1, "runtime": 600}
    job = JobRequest("retrieval", "retrieve", w, "log", (), 1, resources, work=work, seconds=3600)
    page = markdown(plan, [job, job], "a100", True)
    row = next(line for line in page.splitlines() if line.startswith("| trec3_es"))
    assert [cell.strip() for cell in row.strip("|").split("|")] == ["trec3_es", "578,680", "2", "2.0", "1.8 GB"]
    other = JobRequest(
        "retrieval", "retrieve", {**w, "benchmark": "mrtydi"}, "log", (), 1, resources, work=work, seconds=1
    )
    assert "windows" not in markdown(plan, [other], "a100", True)
