"""`stele claims plan`: the rows of claims and controls, what is missing of each, at any scale, and what it costs."""

from pathlib import Path

import pytest

from stele.artifacts.results import RunKey
from stele.claims import plan as claims_plan
from stele.claims.plan import choose, needed
from stele.command import cli
from stele.errors import SteleError
from stele.papers.table_parts import CellSource

SPECS = claims_plan.Path("paper_tables")


@pytest.fixture
def here(root, monkeypatch):
    monkeypatch.chdir(root)


def test_rows_are_those_of_the_cells_and_of_the_controls(here):
    (chosen,) = choose(SPECS, ["msm"], ["hierarchical_loss"], main=True)
    models = {reference.model for reference in chosen.references}
    assert models == {"msm", "msm_cross_doc", "mlm_equal_compute"} and chosen.name == "msm/hierarchical_loss"
    benchmarks = {(reference.benchmark, reference.setting) for reference in chosen.references}
    assert benchmarks == {("mrtydi", "zero_shot_nq"), ("xor_retrieve", "zero_shot_nq")}


def test_an_unknown_claim_is_said_with_the_nearest(here):
    with pytest.raises(SteleError, match=r"unknown claim 'hierarchical_los'; did you mean '(msm/)?hierarchical_loss'"):
        choose(SPECS, None, ["hierarchical_los"], main=False)


def test_what_is_missing_is_said_by_row_and_seed(root, jobs, tmp_path, monkeypatch):
    monkeypatch.chdir(root)
    seeds = {"pretraining": [0, 1], "finetuning": [0, 1]}
    planned = jobs(scale="miniature", seeds=seeds, results_dir="made_for_this_test")
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "made_for_this_test/mrtydi/msm/zero_shot_nq/pt0-ft1.json"
    there.parent.mkdir(parents=True)
    there.touch()
    (chosen,) = choose(root / "paper_tables", ["msm"], ["hierarchical_loss"], main=True)
    needs = claims_plan.needed(planned, chosen.references)
    msm = next(need for row, need in needs.items() if row.path == "mrtydi/msm/zero_shot_nq")
    assert [claims_plan.Path(path).stem for path in msm.missing] == ["pt0-ft0", "pt1-ft0", "pt1-ft1"]
    assert sum(len(need.missing) for need in needs.values()) == 6 * 4 - 1
    text = claims_plan.summary(planned, [chosen], needs)
    assert "1 claim. 1 need results, 0 have none" in text and "missing: 23 results of 6 rows" in text
    (tmp_path / "made_for_this_test/scale.txt").write_text("small\n")
    needs = claims_plan.needed(planned, chosen.references)
    assert sum(len(need.missing) for need in needs.values()) == 6 * 4, "what is there is of another scale"


def test_what_is_not_pretrained_here_has_a_seed_of_fine_tuning_for_each_of_pretraining(here, jobs):
    planned = jobs(scale="miniature", seeds={"pretraining": [3, 4], "finetuning": [0, 1]})

    def seeds(model, setting, benchmark="mrtydi", language="sw"):
        value = CellSource(benchmark, model, setting, "recall@100", (language,), False)
        ((files, _, reason),) = needed(planned, [value]).values()
        assert not reason
        return [Path(path).stem for path in files]

    assert seeds("msm", "zero_shot_nq") == ["pt3-ft0", "pt3-ft1", "pt4-ft0", "pt4-ft1"]
    assert seeds("mbert", "zero_shot_nq") == ["pt0-ft0", "pt0-ft1", "pt0-ft3", "pt0-ft4"]
    assert seeds("bm25_rm3", "direct", "clef2006_fr", "fr") == ["pt0-ft0"], "nothing is drawn"
    assert seeds("mbert", "direct") == planned.rows.seeds(RunKey("mrtydi", "mbert", "direct")), "nothing is trained"


def test_what_is_not_in_scale_is_not_missed(here, capsys):
    arguments = ["--claim", "dense_clt/dense_alone_below_term_matching", "--scale", "miniature"]
    assert cli.main(["claims", "plan", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("- ntcir8_zh/mbert/zero_shot_marco: not in scale") for line in lines)
    assert not any(line.startswith("- clef2006_fr/bm25_rm3/direct") for line in lines)


def test_the_cost_is_that_of_all_that_they_need(here, jobs):
    targets = ["results_of_a_test/nq/msm_en/supervised/pt0-ft0.json"]
    given = {"scale": "small", "results_dir": "results_of_a_test"}  # of which nothing is built here
    text = claims_plan.cost(targets, claims_plan.Path("config.yaml"), given, jobs(**given))
    stages = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")]
    assert {"pretraining", "finetuning", "retrieval", "scoring"} <= {*stages} and stages[-1] == "together"
