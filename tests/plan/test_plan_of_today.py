"""Tables and result cards of today's encoders in the plan: built beside the papers', only when asked for."""

from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.errors import SteleError
from stele.plan.scoring import PUBLISHED

E5, LABSE = (RunKey("belebele", model, "direct") for model in ("me5_small", "labse"))


def test_no_paper_s_run_builds_or_downloads_them(plan):
    assert not [table for table in plan.tables.specs if table.startswith("today/")]
    assert E5 not in plan.requested.all_rows and E5 in plan.requested.rows_of_today
    assert plan.paths.checkpoint("me5_small") not in plan.requested.downloads()
    with pytest.raises(SteleError, match="unknown table 'today/01'"):
        plan.tables.inputs(SimpleNamespace(paper="today", number="01"))


def test_a_table_and_the_figure_wait_for_their_rows_whatever_papers_are_chosen(jobs):
    plan = jobs(scale="paper", papers=["ccp"])
    waits = plan.requested.table_inputs(SimpleNamespace(paper="today", number="05"))
    assert waits["spec"] == "paper_tables/today/table_05.yaml" and plan.paths.result(E5) in waits["results"]
    drawn = plan.requested.figure_inputs(SimpleNamespace(paper="today", number="01"))
    assert {plan.paths.result(E5), plan.paths.result(LABSE)} <= {*drawn["results"]}


def test_what_has_no_stand_in_is_not_in_scale_there_and_still_built_by_its_name(jobs):
    plan = jobs(scale="miniature")
    waits = plan.requested.table_inputs(SimpleNamespace(paper="today", number="05"))["results"]
    lacking = RunKey("belebele", "qwen3_8b", "direct")
    assert plan.paths.result(LABSE) in waits and plan.paths.result(lacking) not in waits
    known = plan.requested.context()["rows"]
    assert known[lacking.name]["state"] == "not in scale" and "no stand-in" in known[lacking.name]["reason"]
    assert LABSE.name not in known and plan.rows.problem(lacking) is None


def test_a_folder_of_the_user_s_needs_no_stand_in(miniature, tmp_path):
    plan = miniature(models={"qwen3_8b": {"checkpoint": str(tmp_path)}})
    assert plan.tables_of_today.rows.problem(RunKey("belebele", "qwen3_8b", "direct")) is None


def test_a_model_of_one_s_own_gets_a_row(miniature, tmp_path):
    tables = {"mine": ["today/003"], "everywhere": ["all"]}
    own = {name: {"checkpoint": str(tmp_path), "tables": names} for name, names in tables.items()}
    plan = miniature(models=own)
    assert plan.tables_of_today.extra_rows("today/03") == ["mine", "everywhere"]
    assert plan.tables_of_today.extra_rows("today/05") == ["everywhere"]
    (mine,) = (row for row in plan.requested.context()["extra_rows"] if row["model"] == "mine")
    assert mine["tables"] == ["today/3"]


def test_an_adaptation_is_evaluated_in_the_languages_that_it_names(jobs):
    models = {"m": {"base": "me5_small", "recipe": "msm"}}
    adapt = {"base": "me5_small", "methods": ["m"], "control": "m", "benchmarks": ["miracl_hard_negatives"]}
    assert jobs(scale="laptop", languages=["sw"]).data.languages("miracl_hard_negatives") == []
    plan = jobs(scale="laptop", languages=["sw"], models=models, adapt=adapt)
    assert plan.data.languages("miracl_hard_negatives") == ["sw"]


# --- what a result card waits for: the chosen benchmarks, each with what was scored -----------------------------------
def inputs(plan, model):
    return plan.cards.inputs(SimpleNamespace(model=model))


def test_a_card_reads_the_default_benchmarks_of_a_model(plan):
    of_seeds = [f"results/{name}/me5_small/direct/pt0-ft0" for name in ("belebele", "miracl_hard_negatives")]
    results, scored = inputs(plan, "me5_small").values()
    assert results == [f"{path}.json" for path in of_seeds]
    assert scored == [f"{path}/retrieval.json" for path in of_seeds]


def test_the_configuration_chooses_the_benchmarks_of_a_model_and_of_no_other(paper):
    plan = paper(cards={"labse": ["tatoeba"]}, seeds={"finetuning": [1, 2]})
    (result,), (scored,) = inputs(plan, "labse").values()
    assert scored.startswith("results/tatoeba/labse/direct/pt0-ft")
    assert scored.removesuffix("/retrieval.json") == result.removesuffix(".json")
    assert len(inputs(plan, "me5_small")["results"]) == 2


@pytest.mark.parametrize(
    ("model", "cards", "message"),
    [
        ("me5_smal", {}, "did you mean 'me5_small'"),
        ("criss", {}, "criss/direct/belebele: "),
        ("labse", {"labse": ["mrtidy"]}, "unknown benchmark 'mrtidy'; did you mean 'mrtydi'"),
    ],
)
def test_a_card_that_cannot_be_written_says_why(paper, model, cards, message):
    with pytest.raises(SteleError, match=message):
        inputs(paper(cards=cards), model)


def test_what_the_catalogue_says_of_a_card_s_model_and_benchmarks_enters_its_params(paper, monkeypatch):
    def facts(model):
        return paper(cards={"labse": ["tatoeba"]}).cards.facts(model)

    before = {model: facts(model) for model in ("labse", "me5_small", "me5_base")}
    models = {**catalogue.load("models")}
    models["me5_small"] = {**models["me5_small"], "trained_on": ["nq"]}
    load = catalogue.load
    monkeypatch.setattr(catalogue, "load", lambda name: models if name == "models" else load(name))
    monkeypatch.setattr(catalogue, "entries", catalogue.entries.__wrapped__)
    assert {model for model, digest in before.items() if facts(model) != digest} == {"me5_small"}


def test_published_numbers_enter_what_shows_them(plan):
    assert {"catalogue/references.tsv", *PUBLISHED} < {*plan.requested.facts_of_tables("today")}
    assert plan.requested.facts_of_tables("msm") == ()


def test_what_decides_an_interval_is_a_param_of_the_score_where_it_is_not_as_usual(plan):
    said = {name: plan.scoring.same_questions(SimpleNamespace(benchmark=name)) for name in ("belebele", "mrtydi")}
    assert said == {"belebele": "same questions", "mrtydi": None}
