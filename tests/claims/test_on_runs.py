"""Verdicts on made results with planted effects, kind by kind, from the claim's addresses to its state."""

import json
import shutil
from itertools import cycle

import numpy as np
import pytest

from stele.claims.judging.verdicts import judge_paper, runs_of
from stele.errors import SteleError
from tests.claims.made_results import halfwidth, write_results, write_system
from tests.claims.small_paper import BASE, BEST, GREATER, OURS, cells, write_paper
from tests.sealed import write_sealed

AHEAD = {"mbert": 0.0, "msm": 0.08, "xlmr": 0.0}
BEHIND = {"mbert": 0.08, "msm": 0.0, "xlmr": 0.0}
EQUAL = {"mbert": 0.0, "msm": 0.0, "xlmr": 0.0}
ONE_AGAINST = {"mbert": 0.0, "msm": {"ar": 0.12, "sw": -0.06, "th": 0.12}, "xlmr": 0.0}
NOISY = {"over_seeds": 0.3}
QUIET = {"over_seeds": 0.001, "over_queries": 0.002, "queries": 60}
ARABIC = {"left": cells("all/ours/mrr/ar"), "right": cells("all/base/mrr/ar")}
SIDES = {"left": "ours", "right": "base"}
AVERAGES = {side: cells(f"all/{row}/mrr/avg") for side, row in SIDES.items()}
OVER_TIME = {"kind": "trend", "points": [{"figure": 3, "at": f"ar/ours/{at}"} for at in (0, 5, 10)]}


@pytest.fixture
def judged(tmp_path):
    """The claim as judged on made results of these effects."""

    def judge(claim, effects, scale="", **how):
        shutil.rmtree(tmp_path / "results/mrtydi", ignore_errors=True)  # of an earlier call
        folder = write_results(tmp_path / "results", effects, **how)
        (one,) = judge_paper(write_paper(tmp_path, [claim]), runs_of(folder), scale=scale)
        return one

    return judge


@pytest.mark.parametrize(
    ("effects", "how", "state"),
    [
        (AHEAD, {}, "supported"),
        (BEHIND, {}, "reversed"),
        (EQUAL, QUIET, "no effect"),
        (AHEAD, NOISY, "undecided"),
        (AHEAD, {"seeds": 2}, "undecided"),
        ({"msm": 0.08}, {}, "no data"),
    ],
)
@pytest.mark.parametrize("claim", [GREATER, BEST], ids=["greater", "best"])
def test_greater_and_best(judged, claim, effects, how, state):
    verdict, few = judged(claim, effects, **how).verdict, how.get("seeds") == 2
    assert verdict.state == state and (not few or verdict.reason == "2 of at least 3 seeds")
    low, high = verdict.interval or (0, 0)
    assert few or (low > 0, high < 0) == (state == "supported", state == "reversed")
    assert (verdict.detectable is not None) == (state == "undecided")


def test_the_estimate_is_in_the_unit_of_the_table_and_the_undecided_say_what_it_takes(judged):
    one = judged(GREATER, AHEAD)
    assert one.verdict.mean == pytest.approx(8, abs=1) and one.bar == 1.0 and one.judging.labels == {"generated data"}
    noisy = judged(GREATER, AHEAD, **NOISY).verdict
    assert noisy.detectable > 1 and (noisy.seeds_needed is None or noisy.seeds_needed > 5)


@pytest.mark.parametrize(
    ("quantifier", "state"),
    [("average", "supported"), ("all", "reversed"), ("most", "supported"), ("each_language", "undecided")],
)
def test_one_language_against_the_rest(judged, quantifier, state):
    one = judged(GREATER | {"quantifier": quantifier}, ONE_AGAINST)
    assert one.verdict.state == state
    assert quantifier != "each_language" or ("reversed in sw" in one.verdict.reason and one.verdict.mean > 0)
    assert judged(GREATER | {"quantifier": quantifier}, AHEAD).verdict.state == "supported"


def test_a_pretraining_that_diverged_is_named_and_changes_no_verdict(tmp_path):
    folder, paper = write_results(tmp_path / "results", AHEAD), write_paper(tmp_path, [GREATER])
    (before,) = judge_paper(paper, runs_of(folder))
    for model, seed in (("msm", 1), ("msm", 3), ("xlmr", 0)):  # the claim does not read xlmr
        path = folder / f"mrtydi/{model}/zero_shot_marco/pt{seed}-ft0.json"
        write_sealed(path, json.loads(path.read_text()) | {"diverged": {path.stem: f"{model}: cosine .99"}})
    (after,) = judge_paper(paper, runs_of(folder))
    said = "pretraining diverged in 2 of 5 seeds (pt1, pt3): msm: cosine .99"
    assert before.judging.diverged == [] and after.judging.diverged == [f"mrtydi/msm/zero_shot_marco: {said}"]
    assert after.verdict == before.verdict


def test_two_rows_of_one_result_are_one_rival(judged):
    """And a claim among whose comparisons another's are is one finding with it."""
    twice = [cells("all/base/mrr/avg"), cells("all/other/mrr/avg", instead={"model": "mbert"})]
    one = judged(BEST | {"right": twice}, AHEAD)
    assert one.judging.rivals is None and one.verdict.rival == "" and one.verdict.state == "supported"
    assert one.verdict.level == judged(BEST | {"right": twice[0]}, AHEAD).verdict.level
    assert judged(BEST | {"right": twice, "quantifier": "all"}, AHEAD).judging.rivals == (2, 2)
    assert judged(BEST | {"right": [*twice, cells("all/other/mrr/avg")]}, EQUAL).judging.rivals == (2, 2)


def test_claims_on_one_comparison_are_one_finding(tmp_path):
    folder = write_results(tmp_path / "results", AHEAD)
    claims = [
        GREATER | AVERAGES | {"key": "gain", "kind": "margin", "amount": 5.0},
        BEST | {"key": "best", "main": True},
        GREATER | {"key": "elsewhere", "left": cells("all/ours/recall/avg"), "right": cells("all/base/recall/avg")},
    ]
    judged = judge_paper(write_paper(tmp_path, claims), runs_of(folder))
    assert [one.same_as for one in judged] == ["best", "", ""]


@pytest.mark.parametrize("columns", ["avg", "*", "??"])
def test_an_average_is_alike_only_where_its_languages_are(judged, columns):
    opposite = {"mbert": 0.0, "msm": {"ar": 0.1, "sw": -0.1, "th": 0.0}, "xlmr": 0.0}
    sides = {"left": cells(f"all/ours/mrr/{columns}"), "right": cells(f"all/base/mrr/{columns}")}
    alike = {"kind": "comparable", **sides}
    verdict = judged(alike, opposite, **QUIET).verdict
    assert verdict.state == ("undecided" if columns == "avg" else "reversed")
    assert columns != "avg" or "by language from -9.96 to +10.1" in verdict.reason
    assert judged(alike, EQUAL, **QUIET).verdict.state == "supported"
    for kind, quantifier in (("greater", "average"), ("greater", "each_language"), ("best", "average")):
        verdict = judged({"kind": kind, "quantifier": quantifier, **sides}, opposite, **QUIET).verdict
        assert verdict.state == "undecided", kind
        assert quantifier == "each_language" or "but not surely in each part" in verdict.reason


def test_a_trend_has_no_effect_where_each_of_its_steps_has_none(judged):
    rising = OVER_TIME | {"shape": "rising"}
    assert judged(rising, EQUAL, **QUIET).verdict.state == "no effect"
    verdict = judged(rising, EQUAL | {"xlmr": 0.0095}, **QUIET).verdict  # there and back
    assert verdict.state == "undecided" and "but not surely in each part" in verdict.reason


@pytest.mark.parametrize(
    "claim",
    [
        *(OVER_TIME | {"shape": shape} for shape in ("rising", "peak")),
        *(ARABIC | {"kind": "greater", "quantifier": quantifier} for quantifier in ("all", "each_language")),
        ARABIC | {"kind": "comparable"},
        {"kind": "greater", "left": ARABIC["left"], "value": 99.95},
    ],
)
def test_alike_at_the_ceiling_is_no_evidence(tmp_path, claim):
    """99.97 against 100: at the top of the scale nothing could differ by a point."""
    for model, missed in {"mbert": 0, "xlmr": 0, "msm": 1}.items():
        values = np.ones((5, 1, 300))
        values[:, :, :missed] = 0.9
        values[:, 0, 0] -= np.linspace(0, 0.01, 5)
        write_system(tmp_path / "results", f"mrtydi/{model}/zero_shot_marco", {"mrr@100": values}, ["ar"] * 300)
    verdict = _judge(tmp_path, claim)
    assert verdict.state == "undecided" and "of the ceiling" in verdict.reason


def test_rivals_that_share_a_row_are_called_by_their_first_cell(judged):
    """Two addresses on the right, of one row: its name does not tell them apart."""
    rights = [cells("all/base/mrr/avg"), cells("all/base/mrr/ar")]
    one = judged(BEST | {"right": rights}, {"mbert": {"ar": 0.1, "sw": 0.0, "th": 0.0}, "msm": 0.08, "xlmr": 0.0})
    assert one.verdict.reason == "decided by table 1 all/base/mrr/ar"


def test_a_margin_s_size_is_judged_at_the_papers_size_alone(judged):
    margin = AVERAGES | {"kind": "margin", "amount": 2.8}
    small = judged(margin, AHEAD, **QUIET)
    assert small.verdict.state == "supported" and small.share == pytest.approx(8 / 2.8, rel=0.05)
    full = judged(margin, AHEAD, scale="paper", **QUIET)
    assert full.verdict.state == "undecided" and full.share is None  # 8 is not 2.8, and not the contrary
    assert full.verdict.reason == f"measured {full.verdict.mean:+.3g}, claimed +2.8" and full.verdict.interval[0] > 0
    assert judged(margin, BEHIND, scale="paper", **QUIET).verdict.state == "reversed"
    assert judged(margin, EQUAL, scale="paper", **QUIET).verdict.state == "no effect"
    near = judged(margin, {"mbert": 0.0, "msm": 0.028}, scale="paper", **QUIET)
    assert near.verdict.state == "supported"
    for effects, state in ((AHEAD, "supported"), ({"mbert": 0.0, "msm": 0.015}, "undecided"), (BEHIND, "reversed")):
        assert judged(margin | {"at_least": True}, effects, scale="paper", **QUIET).verdict.state == state
    lower = margin | {"amount": -8.0}
    for effects, state in ((BEHIND, "supported"), (AHEAD, "reversed")):
        assert judged(lower, effects, scale="paper", **QUIET).verdict.state == state


UP, THERE_AND_BACK = {"mbert": 0.0, "xlmr": 0.04, "msm": 0.08}, {"mbert": 0.0, "xlmr": 0.08, "msm": 0.0}
RISING, FALLING, PEAK = (OVER_TIME | {"shape": shape} for shape in ("rising", "falling", "peak"))
LOSS = {"kind": "best"} | {side: {"table": 2, "at": f"all/{row}/value/loss"} for side, row in SIDES.items()}
RATIO = AVERAGES | {"kind": "ratio"}
MARKED = {"kind": "significant", "left": cells("all/ours/mrr/avg")}  # against the table's baseline
UNMARKED = MARKED | {"marked": False}
WINS = {"kind": "count", "left": cells(OURS), "right": cells(BASE)}
CLOSE = {"mbert": 0.0, "msm": {"ar": 0.05, "sw": -0.003, "th": 0.05}}


@pytest.mark.parametrize(
    ("claim", "effects", "how", "state"),
    [
        (LOSS, AHEAD, {}, "reversed"),  # lower is better
        (LOSS, BEHIND, {}, "supported"),
        (RATIO | {"amount": 1.1}, AHEAD, {}, "supported"),
        (RATIO | {"amount": 0.9}, AHEAD, {}, "reversed"),
        (RATIO | {"amount": 1.5, "at_least": True}, AHEAD, {}, "reversed"),  # .48 is not .6
        (RISING, UP, {}, "supported"),
        (RISING, UP | {"xlmr": 0.12}, {}, "undecided"),
        (RISING, UP | {"xlmr": 0.08}, {}, "supported"),  # a step that is none
        (RISING, {"mbert": 0.08, "xlmr": 0.04, "msm": 0.04}, {}, "reversed"),
        (FALLING, {"mbert": 0.08, "xlmr": 0.04, "msm": 0.0}, {}, "supported"),
        (PEAK, THERE_AND_BACK, {}, "supported"),
        (PEAK, UP, {}, "reversed"),
        (RISING, {"mbert": 0.0, "msm": 0.08}, {}, "no data"),
        *((claim, AHEAD, {}, "supported") for claim in (MARKED, MARKED | {"right": AVERAGES["right"]})),
        *((claim, BEHIND, {}, "reversed") for claim in (MARKED, MARKED | {"right": AVERAGES["right"]})),
        (MARKED, AHEAD, {"seeds": 2}, "undecided"),
        (MARKED | {"right": cells("all/other/mrr/avg")}, AHEAD | {"xlmr": 0.16}, {}, "reversed"),
        (LOSS | {"kind": "significant"}, BEHIND, {}, "supported"),
        (UNMARKED, AHEAD, {}, "reversed"),
        (UNMARKED, {"mbert": 0.0, "msm": 0.0}, {"over_seeds": 0, "rng": 4}, "supported"),
        (UNMARKED, {"mbert": 0.0, "msm": 0.003}, QUIET, "undecided"),  # within the bar
        (WINS | {"value": 3}, ONE_AGAINST, {}, "supported"),  # ar, th and the average
        (WINS | {"value": 4}, ONE_AGAINST, {}, "reversed"),
        (WINS | {"value": 2, "at_least": True}, ONE_AGAINST, {}, "supported"),
        (WINS | {"value": 3, "more_than": True}, ONE_AGAINST, {}, "reversed"),
        (WINS | {"value": 3}, ONE_AGAINST, {"seeds": 1}, "undecided"),
        (WINS | {"value": 4}, CLOSE, QUIET, "undecided"),
        ({"kind": "other", "printed": {"verdict": "undecided", "why": "no time is printed"}}, AHEAD, {}, "no data"),
    ],
)
def test_the_state_on_runs(judged, claim, effects, how, state):
    assert judged(claim, effects, **how).verdict.state == state


@pytest.mark.parametrize("swahili", [-0.105, -0.03])
def test_of_several_cells_the_one_that_decides_is_shown(judged, swahili):
    """+10 in Arabic has no mean with it, and the whisker is that of the same cell."""
    claim = {"kind": "significant", "quantifier": "all", "left": cells(["all/ours/mrr/ar", "all/ours/mrr/sw"])}
    claim |= {"right": cells("all/base/mrr/??")}
    effects = {"mbert": 0.0, "msm": {"ar": 0.1, "sw": swahili, "th": 0.0}}
    verdict = judged(claim, effects, **QUIET).verdict
    assert (verdict.state, verdict.rival) == ("reversed", "sw") and verdict.interval[1] < 0
    assert verdict.mean == pytest.approx(100 * swahili, abs=0.2) and verdict.printed == -0.5


def test_how_large_generated_data_are_is_no_evidence(judged):
    rows = {"kind": "count", "of": cells("all/*/mrr/ar")}
    assert [judged(rows | {"value": n}, EQUAL, labels=()).verdict.state for n in (3, 4)] == ["supported", "reversed"]
    assert judged(rows | {"value": 2, "at_least": True}, EQUAL, labels=()).verdict.state == "supported"
    generated = [judged(rows | {"value": n}, EQUAL).verdict for n in (3, 4)]
    assert {verdict.state for verdict in generated} == {"no data"} and "3, claimed 4" in generated[1].reason
    cost = {"kind": "cost", "left": cells("all/ours/mrr/ar"), "value": 0}
    assert judged(cost, EQUAL).verdict.reason == "nothing is a multiple of 0"


@pytest.mark.parametrize(
    ("claimed", "state"),
    [
        ({"value": 41}, "supported"),
        ({"value": 40}, "reversed"),
        ({"value": 41, "at_least": True}, "reversed"),
        ({"value": 40, "more_than": True}, "supported"),
    ],
)
def test_a_cell_s_number_is_rounded_only_for_a_claim_of_that_very_number(judged, claimed, state):
    """As the claim is judged on print; our number is about 40.6."""
    one = {"kind": "count", "of": cells("all/ours/mrr/ar"), **claimed}
    assert judged(one, EQUAL | {"msm": 0.0125}, labels=(), **QUIET).verdict.state == state


@pytest.mark.parametrize(("number", "state"), [(2, "undecided"), (3, "reversed")])
def test_a_count_leaves_open_what_the_last_run_leaves_out(judged, tmp_path, number, state):
    """Thai, not Swahili, of which the paper prints a dash."""
    count = {"kind": "count", "of": cells("all/other/mrr/??"), "value": number}
    judged(count, EQUAL, labels=())
    (tmp_path / "results/tables").mkdir()
    (tmp_path / "results/tables/context.json").write_text('{"languages_in_scale": {"mrtydi": ["ar"]}}')
    verdict = _judge(tmp_path, count)
    assert (verdict.state, verdict.reason) == (state, f"1, claimed {number}" + "; 1 more are open" * (number == 2))


COSTS = [([4000.0], "supported"), ([2500.0], "reversed"), ([None], "no data"), ([4000.0, None], "no data")]


@pytest.mark.parametrize(("seconds", "state"), COSTS)
def test_what_a_pretraining_cost_is_that_of_the_kept_records(judged, tmp_path, seconds, state):
    """40 hours against 24 are 1.67 times: of the seeds' own pretrainings, whatever else is kept."""
    hours = {"metric": "cpu_seconds"}
    cost = {"kind": "cost", "left": cells("all/ours/mrr/ar", instead=hours), "amount": 1.67}
    cost |= {"right": cells("all/base/mrr/ar", instead=hours), "printed": {"verdict": "undecided"}}
    assert judged(cost, AHEAD).verdict.state == "no data", "nothing is kept of pretrainings"
    training = {"model": "msm", "seed": 0}
    kept = {"of another": training | {"cpu_seconds": 9e9}}
    for model, of_seeds in (("mbert", [2400.0]), ("msm", seconds)):
        paths = sorted((tmp_path / f"results/mrtydi/{model}/zero_shot_marco").glob("pt*-ft0.json"))
        for path, taken in zip(paths, cycle(of_seeds), strict=False):
            record, digest = json.loads(path.read_text()), f"{model}-{path.stem}"
            write_sealed(path, record | {"ancestry": {digest: {"job": "pretrain", "model": model}}})
            kept[digest] = training | ({"cpu_seconds": taken} if taken else {})
    (tmp_path / "results/pretraining.json").write_text(json.dumps(kept))
    assert _judge(tmp_path, cost).state == state


@pytest.mark.parametrize("label", ["generated data", "stand-in checkpoint"])
def test_the_size_of_a_stand_in_is_no_evidence(tmp_path, label):
    write_sizes(tmp_path, [label])
    left, right = ({"table": 2, "at": f"all/{row}/value/size"} for row in ("ours", "base"))
    for claim in (
        {"kind": "greater", "left": left, "right": right},
        {"kind": "greater", "left": left, "value": 1.0},
        {"kind": "cost", "left": left, "right": right, "amount": 2.0},
    ):
        (one,) = judge_paper(write_paper(tmp_path, [claim]), runs_of(tmp_path / "results"))
        assert (one.verdict.state, one.verdict.reason) == ("no data", "sizes of stand-ins are chosen"), claim["kind"]


def test_a_cost_compares_one_cell_with_one_in_one_unit(tmp_path):
    """4 million are twice 2 million, also where one table prints them as they are and the other a hundredfold."""
    write_sizes(tmp_path)
    size, hundredfold = (
        {"table": 2, "at": "all/ours/value/size"},
        cells("all/base/mrr/ar", instead={"metric": "parameters"}),
    )
    cost = {"kind": "cost", "left": size, "right": hundredfold, "amount": 2.0}
    assert _judge(tmp_path, cost).state == "supported"
    with pytest.raises(SteleError, match=r"claim a_claim: a cost compares one cell with one; found .*/size, .*/loss"):
        _judge(tmp_path, cost | {"left": size | {"at": "all/ours/value/*"}})
    with pytest.raises(SteleError, match="a cost compares one cell with one"):
        _judge(tmp_path, cost | {"right": [hundredfold, size]})


def write_sizes(tmp_path, labels=()):
    """The numbers of parameters of two models, which have no queries."""
    for model, number in (("mbert", 2e6), ("msm", 4e6)):
        path = tmp_path / f"results/mrtydi/{model}/zero_shot_marco.json"
        path.parent.mkdir(parents=True)
        names = {"benchmark": "mrtydi", "model": model, "setting": "zero_shot_marco"}
        metrics = {"parameters": {"languages": {"ar": number}}}
        write_sealed(path, names | {"metrics": metrics, "labels": list(labels)})


def _judge(tmp_path, claim):
    """The verdict on the results that are there."""
    (one,) = judge_paper(write_paper(tmp_path, [claim]), runs_of(tmp_path / "results"))
    return one.verdict


@pytest.mark.parametrize(("floor", "state"), [(60.0, "floor"), (45.0, "supported")])
def test_below_the_floor_no_trend_and_no_value_is_decided(judged, floor, state):
    """The best point of the trend, and what is held against the value, score about 48; the first point 40."""
    rising = OVER_TIME | {"shape": "rising"}
    effects = {"mbert": 0.0, "xlmr": 0.04, "msm": 0.08}
    above = {"kind": "greater", "left": cells("all/ours/mrr/avg"), "value": 30.0, "floor": floor}
    assert judged(rising | {"floor": floor / 100}, effects).verdict.state == state
    assert judged(above, AHEAD).verdict.state == state


@pytest.mark.parametrize(("floor", "state"), [(60.0, "floor"), (45.0, "supported")])
def test_a_floor_of_a_whole_paper_is_in_points_whatever_a_table_s_unit_is(tmp_path, judged, floor, state):
    """The first claim's numbers are of a hundred, the second's, a figure's, are fractions; both score about 48."""
    (tmp_path / "msm").mkdir()
    (tmp_path / "msm/corrections.yaml").write_text(json.dumps({"floor": floor}))
    assert judged(GREATER, AHEAD).verdict.state == state
    rising = judged(OVER_TIME | {"shape": "rising"}, {"mbert": 0.0, "xlmr": 0.04, "msm": 0.08}).verdict
    assert (rising.state, f"below {floor / 100:g}" in rising.reason) == (state, state == "floor")
    assert judged(GREATER | {"floor": 1.0}, AHEAD).verdict.state == "supported", "its own, in its table's unit"


def test_gains_of_two_benchmarks_have_the_queries_of_both(tmp_path, judged):
    """The variance over queries of a difference between languages is the sum of theirs: nothing is paired."""
    arabic = cells("all/ours/mrr/ar", minus=cells("all/base/mrr/ar"))
    thai = cells("all/ours/mrr/th", minus=cells("all/base/mrr/th"))
    gain = {"kind": "greater", "left": arabic, "right": thai}
    both = judged(gain, ONE_AGAINST | {"msm": {"ar": 0.1, "sw": 0, "th": 0}})
    alone = [halfwidth(judged({"kind": "greater", "left": one, "value": 0.0}, ONE_AGAINST)) for one in (arabic, thai)]
    assert both.verdict.state == "supported" and halfwidth(both) > 0.7 * max(alone)


def test_a_control_stands_beside_and_changes_nothing(judged):
    control = {"controls": [{"right": {"model": "msm_no_bias"}}, {"right": {"model": "kept"}}]}
    one = judged(BEST | control, AHEAD | {"msm_no_bias": 0.2})
    assert one.verdict == judged(BEST, AHEAD | {"msm_no_bias": 0.2}).verdict and one.verdict.state == "supported"
    shown, missing = one.controls
    assert shown.mean == pytest.approx(-12, abs=2) and shown.interval[1] < 0 and shown.what == "against w/o bias"
    assert missing.mean is None and "mrtydi/kept/zero_shot_marco" in missing.reason


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_control_by_another_metric_is_of_that_metric_on_both_sides(judged, side):
    (shown,) = judged(BEST | {"controls": [{side: {"metric": "recall@100"}}]}, AHEAD).controls
    both = {"left": {"metric": "recall@100"}, "right": {"metric": "recall@100"}}
    (stated,) = judged(BEST | {"controls": [both]}, AHEAD).controls
    assert (shown.mean, shown.interval) == (stated.mean, stated.interval) and shown.mean == pytest.approx(8, abs=2)


def test_a_control_is_of_the_claim_s_own_setting(tmp_path, judged):
    """A rival of another setting (BM25, tuned) makes no row of the control's model under that setting."""
    rivals = [cells("all/base/mrr/avg"), cells("all/other/mrr/avg", instead={"setting": "tuned"})]
    claim = BEST | {"right": rivals, "controls": [{"right": {"model": "msm_no_bias"}}]}
    (shown,) = judged(claim, AHEAD | {"msm_no_bias": 0.2}).controls
    assert shown.mean == pytest.approx(-12, abs=2)


def test_a_row_that_cannot_be_built_is_left_out_and_a_missing_one_is_missed(tmp_path, judged):
    effects = {"mbert": 0.0, "msm": 0.08}
    missed = judged(BEST, effects)
    assert missed.verdict.state == "no data" and [*missed.judging.missing] == ["mrtydi/xlmr/zero_shot_marco"]
    rows = {"xlmr/zero_shot_marco/mrtydi": {"state": "unavailable", "reason": "no weights"}}
    (tmp_path / "results/tables").mkdir()
    (tmp_path / "results/tables/context.json").write_text(json.dumps({"rows": rows}))
    known = judged(BEST, effects)
    assert known.verdict.state == "supported" and "no weights" in next(iter(known.judging.left_out))
    assert known.judging.rivals == (1, 2)
    assert known.verdict.printed == pytest.approx(2.8), "ours is 5.7 below the other, which did not run"


def test_values_in_languages_that_the_last_run_leaves_out_are_not_judged(tmp_path, judged):
    """As after a narrower `languages`, when rows without any of them are not built again."""
    assert judged(BEST, AHEAD).verdict.state == "supported"
    (tmp_path / "results/tables").mkdir()
    (tmp_path / "results/tables/context.json").write_text(json.dumps({"languages_in_scale": {"mrtydi": []}}))
    left_out = judged(BEST, AHEAD)
    assert left_out.verdict.state == "no data"
    assert "mrtydi/msm/zero_shot_marco has no " in next(iter(left_out.judging.left_out))
