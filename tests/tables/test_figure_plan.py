"""The figures in the plan: what each waits for, what a context says, and that a run of all tables has them."""

from types import SimpleNamespace

import pytest
from figure_files import CURVES
from specs import write_spec

from stele.artifacts.results import RunKey
from stele.config.model import parse_config
from stele.errors import SteleError
from stele.plan.data import Data
from stele.plan.figures import Figures
from stele.plan.plan import Plan
from stele.plan.retrieval import projected
from stele.plan.rows import Rows
from stele.tables.values.context import Context
from tests.workflow.conftest import copy_project, planned

XLMR = "results/tatoeba/xlmr_large/direct/pt0-ft0/projection_ar.csv"
FIGURES = ["ccp/figure_01", "clir_lm/figure_01", "clir_lm/figure_04", "clir_lm/figure_05"]


def plan_of(**values):
    values = {"scale": "miniature", "papers": ["ccp", "clir_lm"], **values}
    return Plan(parse_config(values))


def test_a_figure_waits_for_what_can_be_built(tmp_path):
    plan = plan_of()
    waits = plan.figures.inputs(SimpleNamespace(paper="ccp", number="01"))
    assert waits["spec"] == "paper_tables/ccp/figure_01.yaml" and waits["context"] == "results/tables/context.json"
    panels = [(model, setting) for model in ("xlmr_large", "ccp") for setting in ("direct", "calibrated")]
    assert sorted(waits["results"]) == sorted(
        f"results/tatoeba/{model}/{setting}/pt0-ft0/projection_ar.csv" for model, setting in panels
    )
    assert plan.figures.result_files()[XLMR] == "xlmr_large/direct/tatoeba/projection_ar"


def test_the_names_in_a_figure_are_checked_before_its_results_are_built(tmp_path):
    folder = tmp_path / "clir_lm"
    folder.mkdir()
    (folder / "paper.yaml").write_text("name: Own\n")
    write_spec(tmp_path, CURVES, **{"cv5": "cv6"})
    plan = Figures(plan_of().rows, (str(folder),))
    with pytest.raises(SteleError, match=r"figure_98\.yaml: clef: unknown setting 'cv6'; did you mean 'cv5'"):
        plan.results("clir_lm/98")


def test_a_curve_waits_for_results_of_models_that_can_be_built(monkeypatch):
    plan = plan_of()
    built = {"mbert_qlm_5": None}
    monkeypatch.setattr(Rows, "problem", lambda self, row: built.get(row.model, ("not built", "")))
    monkeypatch.setattr(Data, "languages", lambda self, benchmark: ["en-de", "en-es"])
    assert plan.figures.results("clir_lm/04") == [
        "results/clef/mbert_qlm_5/cv5.json",
        "results/mlqa/mbert_qlm_5/zero_shot.json",
    ]
    monkeypatch.setattr(Data, "languages", lambda self, benchmark: ["fr-de"])
    assert plan.figures.results("clir_lm/04") == []


def test_the_context_knows_the_figures_rows_and_the_seeds_they_show():
    plan = plan_of(seeds={"pretraining": [3, 4], "finetuning": [7, 8]})
    context = Context.model_validate(plan.requested.context())
    assert context.seeds["xlmr_large/direct/tatoeba"] == "pt0-ft0"  # a public checkpoint has no pretraining seed
    assert context.seeds["xlmr_large/calibrated/tatoeba"] == "pt0-ft7"
    assert context.known(RunKey("clef", "mbert_qlm_15", "cv5")).state == "planned"
    assert context.known(RunKey("tatoeba", "xlmr_large", "calibrated")).state == "planned"
    assert XLMR in plan.figures.results("ccp/01")


def test_a_language_out_of_scale_is_not_waited_for_and_not_projected():
    plan = plan_of(languages=["sw"])
    assert plan.figures.results("ccp/01") == [] and plan.figures.result_files() == {}
    wildcards = SimpleNamespace(model="xlmr_large", setting="direct", seeds="pt0-ft0", language="ar")
    with pytest.raises(SteleError, match="not in scale: ar is not among"):
        plan.retrieval.projection_inputs(wildcards)
    with pytest.raises(SteleError, match="not built: no rule builds tatoeba/calibrate"):
        plan.retrieval.projection_inputs(SimpleNamespace(**{**vars(wildcards), "setting": "calibrate"}))


def test_a_calibrated_panel_is_projected_with_its_calibration(tmp_path):
    plan = plan_of()
    w = SimpleNamespace(model="ccp", setting="calibrated", seeds="pt0-ft0", language="ar")
    assert plan.retrieval.projection_inputs(w)["calibration"] == plan.paths.calibration("ccp", "ccp", "pt0-ft0")
    options = plan.retrieval.calibration(projected(w), w.seeds)
    assert options == f"--calibration {plan.paths.calibration('ccp', 'ccp', 'pt0-ft0')} --operation calibrated"
    w.setting = "direct"
    assert "calibration" not in plan.retrieval.projection_inputs(w) and not plan.retrieval.calibration(
        projected(w), w.seeds
    )
    (tmp_path / "en.txt").write_text("a sentence\n")
    plan = plan_of(scale="paper", user_data={"cc100": str(tmp_path)})
    w.setting, w.model = "calibrated", "xlmr_large"
    with pytest.raises(SteleError, match=r"unavailable: .* has no text in"):
        plan.retrieval.projection_inputs(w)


def test_what_a_figure_needs_is_downloaded():
    plan = plan_of()
    needed = {plan.paths.checkpoint("xlmr_large"), plan.paths.dataset("tatoeba", "all")}
    assert needed <= set(plan.requested.downloads())


def test_papers_that_are_not_chosen_have_no_figures():
    assert plan_of(papers=["msm"]).figures.files() == ["results/tables/cell_map.svg"]
    assert plan_of().figures.files() == [f"results/tables/{name}.svg" for name in [*FIGURES, "cell_map"]]
    with pytest.raises(SteleError, match="unknown figure 'ccp/02'"):
        plan_of().figures.inputs(SimpleNamespace(paper="ccp", number="02"))
    left_out, number = plan_of(papers=["msm"]), SimpleNamespace(paper="ccp", number="01")
    for kind, of_kind in (("figure", left_out.figures), ("table", left_out.tables)):
        with pytest.raises(SteleError, match=rf"papers \[msm\]: unknown {kind} 'ccp/01'"):
            of_kind.inputs(number)


@pytest.mark.slow
def test_a_run_of_all_tables_draws_them(root, tmp_path):
    project = copy_project(root, tmp_path / "stele")
    jobs = planned(project, "all_tables", "--config", "scale=miniature", "papers=[ccp,clir_lm]")
    assert jobs["figure"] == 4 and jobs["cells"] == 1 and jobs["project"] >= 1
    jobs = planned(project, XLMR, "--config", "scale=miniature")
    assert jobs["project"] == 1 and "retrieve" not in jobs
