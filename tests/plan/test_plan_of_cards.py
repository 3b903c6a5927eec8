"""What a result card waits for: the chosen benchmarks, each with what was scored; a sentence where one cannot be."""

from types import SimpleNamespace

import pytest

from stele.errors import SteleError


def inputs(plan, model):
    return plan.cards.inputs(SimpleNamespace(model=model))


def test_a_card_reads_the_default_benchmarks_of_a_model(jobs):
    assert inputs(jobs(scale="paper"), "me5_small") == {
        "results": [
            "results/belebele/me5_small/direct/pt0-ft0.json",
            "results/miracl_hard_negatives/me5_small/direct/pt0-ft0.json",
        ],
        "scored": [
            "results/belebele/me5_small/direct/pt0-ft0/retrieval.json",
            "results/miracl_hard_negatives/me5_small/direct/pt0-ft0/retrieval.json",
        ],
    }


def test_the_configuration_chooses_the_benchmarks_of_a_model_and_of_no_other(jobs):
    plan = jobs(scale="paper", cards={"labse": ["tatoeba"]}, seeds={"finetuning": [1, 2]})
    (result,), (scored,) = inputs(plan, "labse").values()
    assert scored.startswith("results/tatoeba/labse/direct/pt0-ft")
    assert scored.removesuffix("/retrieval.json") == result.removesuffix(".json")
    assert len(inputs(plan, "me5_small")["results"]) == 2


@pytest.mark.parametrize(
    ("model", "message"),
    [("me5_smal", "did you mean 'me5_small'"), ("criss", "criss/direct/belebele: ")],
)
def test_a_card_that_cannot_be_written_says_why(jobs, model, message):
    with pytest.raises(SteleError, match=message):
        inputs(jobs(scale="paper"), model)


def test_a_benchmark_that_there_is_not_is_refused_with_the_nearest(jobs):
    with pytest.raises(SteleError, match="unknown benchmark 'mrtidy'; did you mean 'mrtydi'"):
        jobs(scale="paper", cards={"labse": ["mrtidy"]})
