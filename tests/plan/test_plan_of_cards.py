"""What a result card waits for: the chosen benchmarks, each with what was scored; a sentence where one cannot be."""

from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.errors import SteleError
from stele.plan.scoring import PUBLISHED


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
