"""Verdicts of an adaptation on planted results: what differs is told, and few seeds decide nothing."""

import numpy as np
import pytest
from scipy import stats

from stele.adapt.verdict import unjudged
from stele.catalogue import entry
from stele.catalogue.schema.benchmarks import Benchmark
from stele.claims.judging.estimate import detectable, seeds_needed
from stele.claims.judging.observed import Runs
from stele.claims.judging.on_adaptation import case_of, judge_looks, rows_of, values_of
from stele.errors import SteleError
from stele.evaluation.paired import read_system
from tests.claims.made_results import PRETRAINED, UNTRAINED, write_system

METRIC, SETTING = entry(Benchmark, "tatoeba").metrics[0], "direct"
QUERIES, LANGUAGES = 200, ("de", "fr")
NAMES = [code for code in LANGUAGES for _ in range(QUERIES)]


def put(folder, model, seeds, values, names=NAMES):
    """Results of a model on Tatoeba: values by query, or by seed and query; the encoder as it was has no seeds."""
    shape = (1 if model == "base" else seeds, 1, len(names))
    jobs = UNTRAINED if model == "base" else PRETRAINED
    write_system(folder, f"tatoeba/{model}/{SETTING}", {METRIC: np.broadcast_to(values, shape)}, names, jobs)


def planted(folder, effects, seeds, over_seeds=0.002):
    """Results of models, each above a query's worth by its effect."""
    generator = np.random.default_rng(5)
    worth = generator.uniform(0.2, 0.6, len(NAMES))
    for model, effect in effects.items():
        shift = generator.normal(0, over_seeds, (seeds, 1, 1)) if model != "base" else 0
        put(folder, model, seeds, worth + effect + shift + generator.normal(0, 0.02, len(NAMES)))
    settings = {
        "base": "base",
        "control": "mlm",
        "benchmarks": {"tatoeba": {"setting": SETTING, "metric": METRIC}},
        "seeds": list(range(seeds)),
    }
    return {**settings, "methods": [model for model in effects if model not in ("base", "mlm")], "looks": [seeds]}


def judged(folder, settings, **changed):
    """(method, what it is compared with) -> comparison."""
    found = judge_looks(folder, settings | changed, rows_of(settings), 0.01)
    return {(comparison.row.model, comparison.against): comparison for comparison in found}


def test_better_worse_and_no_effect_are_told_apart(tmp_path):
    settings = planted(tmp_path, {"base": 0.0, "mlm": -0.05, "up": 0.05, "same": 0.0, "down": -0.1}, seeds=4)
    found = {key: comparison.state for key, comparison in judged(tmp_path, settings).items()}
    assert found["up", "base"] == found["up", "mlm"] == found["same", "mlm"] == "better"
    assert found["same", "base"] == "no effect"
    assert found["down", "base"] == found["down", "mlm"] == "worse"


@pytest.mark.parametrize(
    ("seeds", "said"), [(1, "1 of at least 3 seeds"), (2, "about 3 seeds would tell a difference of interest; now 2")]
)
def test_two_seeds_decide_nothing_and_one_has_no_interval(tmp_path, seeds, said):
    """Queries alone would make it look sure."""
    settings = planted(tmp_path, {"base": 0.0, "mlm": 0.0, "up": 0.2}, seeds)
    for comparison in judged(tmp_path, settings).values():
        assert comparison.state == "undecided" and said in comparison.sentence
        assert (comparison.interval is None) == (seeds == 1)


@pytest.mark.parametrize(("worth", "end"), [(0.0, "floor"), (1.0, "ceiling")])
def test_that_two_are_alike_cannot_be_seen_at_the_end_of_the_scale(tmp_path, worth, end):
    settings = planted(tmp_path, {"base": 0.0, "mlm": 0.0, "up": 0.0}, seeds=3)
    for model in ("base", "mlm", "up"):
        put(tmp_path, model, 3, worth)
    for comparison in judged(tmp_path, settings).values():
        assert comparison.state == "undecided" and f"within 0.01 of the {end}" in comparison.sentence


@pytest.mark.parametrize("number", range(5))
def test_the_same_values_query_by_query_are_no_better_by_the_order_of_their_sums(tmp_path, number):
    worth = np.random.default_rng(number).uniform(0.2, 0.6, len(NAMES))
    settings = planted(tmp_path, {"base": 0.0, "mlm": 0.0, "up": 0.0}, seeds=3)
    for model in ("base", "up"):
        put(tmp_path, model, 3, worth)
    comparison = judged(tmp_path, settings)["up", "base"]
    assert comparison.state == "no effect" and comparison.verdict.mean == 0


def test_sides_scored_on_other_queries_or_in_other_languages_are_refused(tmp_path):
    settings = planted(tmp_path, {"base": 0.0, "mlm": 0.0, "up": 0.02}, seeds=3)
    put(tmp_path, "up", 3, 0.9, ["de"] * QUERIES)
    with pytest.raises(SteleError, match="score both on the same"):
        judged(tmp_path, settings)


def test_two_methods_that_came_out_alike_are_two_comparisons_of_the_family(tmp_path):
    """Both equal the encoder as it was: the levels of the others must not become larger by that."""
    settings = planted(tmp_path, {"base": 0.0, "mlm": -0.1, "up": 0.02, "a": 0.0, "b": 0.0}, seeds=4)
    alike = np.random.default_rng(1).uniform(0.2, 0.6, len(NAMES))
    for model in ("a", "b"):
        put(tmp_path, model, 4, alike)
    found = judged(tmp_path, settings)
    levels = sorted({round(comparison.verdict.level, 6) for comparison in found.values()})
    assert levels[0] == pytest.approx(0.025 / 6, abs=1e-6)  # all six comparisons count


def test_more_seeds_are_another_look_at_half_of_the_level_and_what_was_decided_stays(tmp_path):
    settings = planted(tmp_path, {"base": 0.0, "mlm": 0.0, "up": 0.1, "unsure": 0.01}, 6, over_seeds=0.01)
    first, both = (judged(tmp_path, settings, looks=looks) for looks in ([3], [3, 6]))
    assert {c.state for c in first.values()} >= {"undecided", "better"}
    for key, comparison in first.items():
        if comparison.state == "undecided":
            assert both[key].look == 2 and both[key].verdict.level <= 0.0125
        else:
            assert (both[key].look, both[key].verdict) == (1, comparison.verdict)


def test_the_seeds_that_would_tell_are_judged_at_the_next_look_which_has_half_of_the_level(tmp_path):
    settings = planted(tmp_path, {"base": 0.0, "mlm": 0.0, "unsure": 0.0}, seeds=4, over_seeds=0.008)
    comparison = judged(tmp_path, settings)["unsure", "base"]
    shown = case_of(Runs(tmp_path), comparison.row, "base", 0.01).finding.shown
    level = comparison.verdict.level
    assert comparison.state == "undecided" and comparison.verdict.detectable == detectable(shown, level)
    assert comparison.seeds_needed == seeds_needed(shown, 0.01, level / 2) > seeds_needed(shown, 0.01, level)


def test_scores_are_of_the_seeds_that_are_judged(tmp_path):
    """More may be left of an adaptation that had this name before."""
    settings = planted(tmp_path, {"base": 0.0, "mlm": 0.0, "up": 0.03}, seeds=5)
    values = {row["model"]: row["seeds"] for row in values_of(tmp_path, [0, 1, 2], rows_of(settings))}
    assert values == {"base": [], "mlm": ["pt0", "pt1", "pt2"], "up": ["pt0", "pt1", "pt2"]}


def test_a_language_of_one_query_is_said_to_be_left_out(tmp_path):
    settings = planted(tmp_path, {"base": 0.0, "mlm": 0.0, "up": 0.1}, seeds=3)
    assert not [*unjudged(tmp_path, [0, 1, 2], rows_of(settings))]
    for model in ("base", "mlm", "up"):
        put(tmp_path, model, 3, 0.5, ["de"] * QUERIES + ["fr"])
    said = "tatoeba: scores and verdicts leave out fr, with one query each"
    assert [*unjudged(tmp_path, [0, 1, 2], rows_of(settings))] == [said]


def test_seeds_without_0_are_judged_against_the_encoder_as_it_was(tmp_path):
    """Its only result is called seed 0, whatever the seeds of the others."""
    settings = planted(tmp_path, {"base": 0.0, "mlm": 0.0, "up": 0.1}, seeds=5) | {"seeds": [4, 1, 2], "looks": [3]}
    assert {comparison.state for comparison in judged(tmp_path, settings).values()} == {"better"}
    values = {row["model"]: row["seeds"] for row in values_of(tmp_path, settings["seeds"], rows_of(settings))}
    assert values == {"base": [], "mlm": ["pt1", "pt2", "pt4"], "up": ["pt1", "pt2", "pt4"]}


def test_the_difference_and_its_interval_are_those_of_seeds_and_queries_by_hand(tmp_path):
    """One method, the encoder as it was without seeds: var(D) / P and the variance over queries, Satterthwaite's t."""
    settings = planted(tmp_path, {"base": 0.0, "mlm": 0.0, "up": 0.03}, seeds=5, over_seeds=0.01)
    comparison = judged(tmp_path, settings)["up", "base"]
    values = {row["model"]: row for row in values_of(tmp_path, settings["seeds"], rows_of(settings))}
    assert comparison.verdict.mean == pytest.approx(values["up"]["mean"] - values["base"]["mean"])
    up, base = (
        read_system(tmp_path.glob(f"tatoeba/{model}/{SETTING}/pt*.json")).values[METRIC] for model in ("up", "base")
    )
    differences = (up - base).reshape(5, len(LANGUAGES), QUERIES)
    over_seeds = differences.mean(axis=(1, 2)).var(ddof=1) / 5
    over_queries = differences.mean(axis=0).var(axis=1, ddof=1) / QUERIES / len(LANGUAGES) ** 2
    parts = [(over_seeds, 4), *((part, QUERIES - 1) for part in over_queries)]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    reach = stats.t.ppf(1 - comparison.verdict.level / 2, freedom) * variance**0.5
    assert comparison.verdict.interval == pytest.approx(
        (comparison.verdict.mean - reach, comparison.verdict.mean + reach)
    )
