"""CCP as it is planned: it reads what is mined for MSM, whatever its window, and its code is no other objective's."""

from types import SimpleNamespace

import pytest

from stele.errors import SteleError
from stele.snakemake_support import fingerprint


def own(paper, **override):
    return paper(models={"mine": {"base": "xlmr_large", "recipe": "ccp", "override": override}})


def test_it_reads_the_documents_that_are_mined_for_msm(paper):
    """The large model has the base model's tokens, so the very files are shared; another window mines nothing."""
    plan = own(paper)
    mine, msm = (plan.stores.pairs(SimpleNamespace(model=model)) for model in ("mine", "msm"))
    assert mine == msm and {name.split(":")[0] for name in mine} == {"msm", "mlm"}
    assert own(paper, window=3).stores.pairs(SimpleNamespace(model="mine")) == mine


def test_its_code_is_no_other_objective_s(paper):
    plan = own(paper)
    reached = {model: fingerprint.closure(plan.pretraining.modules(model)) for model in ("mine", "msm", "crop")}
    files = {model: {name for name in modules if "ccp" in name} for model, modules in reached.items()}
    assert files["msm"] == files["crop"] == {*fingerprint.closure(["pretraining.pretrain"])} & files["mine"] == set()
    assert files["mine"] == {f"training.objectives.{name}" for name in ("ccp", "_ccp_bank", "_ccp_heads")}


@pytest.mark.parametrize(
    ("override", "wanted"),
    [({"window": 1}, "window: 1 sentence is the centre alone"), ({"bank": 512}, "bank: 512 is less than the 1024")],
)
def test_overrides_that_make_no_sense_are_named(paper, override, wanted):
    with pytest.raises(SteleError, match=wanted):
        own(paper, **override).pretraining.recipe("mine")


@pytest.mark.parametrize("scale", ["miniature", "paper"])
def test_every_row_of_its_tables_can_be_built_but_those_of_three_models_without_a_checkpoint(jobs, scale):
    plan = jobs(scale=scale, papers=["ccp"])
    problems = {row: plan.rows.problem(row) for row in plan.tables.all_rows()}
    without = {row.model: problem for row, problem in problems.items() if row.model in ("criss", "laser", "unicoder")}
    assert {state for state, _ in without.values()} == {"unavailable"} and len(without) == 3
    assert "fairseq only" in without["criss"][1] and "no transformer" in without["laser"][1]
    assert "12 layers" in without["unicoder"][1]
    assert not any(problem and problem[0] == "not built" for problem in problems.values())


def test_such_a_model_can_be_given_as_a_folder(paper, tmp_path):
    plan = paper(models={"criss": {"checkpoint": str(tmp_path)}})
    assert plan.availability.model_problem("criss") is None
