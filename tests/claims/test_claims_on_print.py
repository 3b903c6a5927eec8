"""Verdicts on print: each kind by hand, on a small paper; wrong addresses and wrong claims are refused."""

import pytest

from stele.errors import SteleError
from tests.claims import small_paper
from tests.claims.small_paper import BASE, GREATER, OTHER, OURS, cells, judged


@pytest.mark.parametrize(
    ("quantifier", "verdict"),
    [("average", "holds"), ("all", "fails"), ("most", "holds"), ("each_language", "fails")],
)
def test_greater_as_its_quantifier_wants(tmp_path, quantifier, verdict):
    """Ours is above in Arabic, Thai and on average, below in Swahili."""
    assert judged(tmp_path, **GREATER, quantifier=quantifier).verdict == verdict


def test_an_average_is_the_printed_one_where_there_is_one(tmp_path):
    """32.8 is below 38.5, though ours is no lower in each language that both have."""
    assert judged(tmp_path, kind="greater", left=cells(OURS), right=cells(OTHER)).verdict == "fails"
    languages = cells([f"all/ours/mrr/{code}" for code in ("ar", "sw", "th")])
    judgement = judged(tmp_path, kind="greater", left=languages, right=cells(OTHER))
    assert judgement.verdict == "holds" and "1 of 3 comparisons are not printed" in judgement.reason


def test_a_tie_is_not_greater_and_reverses_nothing(tmp_path):
    recall = {"kind": "greater", "left": cells("all/ours/recall/*"), "right": cells("all/base/recall/*")}
    assert judged(tmp_path, **recall, quantifier="all").verdict == "fails"
    assert judged(tmp_path, **recall, quantifier="each_language").verdict == "holds"


def test_best_beats_every_rival_and_not_the_mean_of_them(tmp_path):
    best = {"kind": "best", "left": cells("all/ours/*/avg"), "right": cells("all/*/*/avg")}
    assert judged(tmp_path, **best, quantifier="all").verdict == "fails"  # Other has 38.5
    assert judged(tmp_path, **best, quantifier="most").verdict == "fails"  # 1 of 2 metrics is not most
    recall = best | {
        "left": cells("all/ours/recall/avg"),
        "right": [cells("all/base/recall/avg"), cells("all/other/recall/avg")],
    }
    assert judged(tmp_path, **recall).verdict == "holds"


def test_best_is_lowest_where_lower_is_better(tmp_path):
    left, right = {"table": 2, "at": "all/ours/value/loss"}, {"table": 2, "at": "all/*/value/loss"}
    assert judged(tmp_path, kind="best", left=left, right=right).verdict == "holds"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ({"amount": 2.8}, "holds"),
        ({"amount": 2.9}, "holds"),  # rounding leaves it open
        ({"amount": 3.0}, "fails"),
        ({"amount": 3}, "holds"),  # a round number
        ({"amount": 5, "at_least": True, "at": "ar"}, "holds"),
        ({"amount": 5, "more_than": True, "at": "ar"}, "fails"),
    ],
)
def test_margin(tmp_path, claim, verdict):
    column = claim.pop("at", "avg")
    left, right = cells(f"all/ours/mrr/{column}"), cells(f"all/base/mrr/{column}")
    assert judged(tmp_path, kind="margin", left=left, right=right, **claim).verdict == verdict


def test_gains_are_compared_with_gains(tmp_path):
    """By 5.0 in Arabic, by 4.0 in Thai."""
    arabic = cells("all/ours/mrr/ar", minus=cells("all/base/mrr/ar"))
    thai = cells("all/ours/mrr/th", minus=cells("all/base/mrr/th"))
    assert judged(tmp_path, kind="greater", left=arabic, right=thai).verdict == "holds"
    assert judged(tmp_path, kind="margin", left=arabic, right=thai, amount=1.0).verdict == "holds"
    assert judged(tmp_path, kind="margin", left=arabic, right=thai, amount=2.0).verdict == "fails"


@pytest.mark.parametrize(("amount", "verdict"), [(2.05, "holds"), (2, "holds"), (2.5, "fails")])
def test_ratio_and_cost(tmp_path, amount, verdict):
    sides = {"left": {"table": 2, "at": "all/ours/value/size"}, "right": {"table": 2, "at": "all/base/value/size"}}
    assert judged(tmp_path, kind="ratio", **sides, amount=amount).verdict == verdict
    assert judged(tmp_path, kind="cost", **sides, amount=amount).verdict == verdict
    assert judged(tmp_path, kind="cost", **sides).verdict == "fails"  # it does not cost less


def test_a_ratio_of_losses_is_rounded_as_one_of_gains_and_none_is_by_0(tmp_path, monkeypatch):
    """-10.5 is 0.875 times -12.0; a right of 0.0 may be 0, and nothing is divided by it."""
    table = small_paper.TABLE
    sides = {"left": cells("all/ours/mrr/avg", minus=cells("all/base/mrr/avg")), "right": cells("all/other/mrr/avg")}
    for average, right, verdict in ((-12.0, "43.3", "holds"), (0.0, "0.0", "undecided")):
        changed = table.replace("44.0, 38.5]", f"44.0, {average}]").replace("40.0, 30.0]", f"40.0, {right}]")
        monkeypatch.setattr(small_paper, "TABLE", changed)
        assert judged(tmp_path, kind="ratio", **sides, amount=0.875).verdict == verdict


@pytest.mark.parametrize(
    ("shape", "rows", "verdict"),
    [
        ("rising", ["base", "ours", "other"], "holds"),
        ("rising", ["base", "other", "ours"], "fails"),  # a step is reversed
        ("falling", ["other", "ours", "base"], "holds"),
        ("peak", ["base", "other", "ours"], "holds"),
        ("peak", ["base", "ours", "other"], "fails"),
    ],
)
def test_trend(tmp_path, shape, rows, verdict):
    points = [cells(f"all/{row}/mrr/avg") for row in rows]
    assert judged(tmp_path, kind="trend", points=points, shape=shape).verdict == verdict


def test_a_trend_by_language_needs_every_point_printed(tmp_path):
    points = [cells(f"all/{row}/mrr/*") for row in ("base", "ours")]
    assert judged(tmp_path, kind="trend", points=points, shape="rising", quantifier="each_language").verdict == "fails"
    assert judged(tmp_path, kind="trend", points=points, shape="rising", quantifier="most").verdict == "holds"
    lost = [cells(f"all/{row}/mrr/sw") for row in ("base", "other")]
    judgement = judged(tmp_path, kind="trend", points=lost, shape="rising")
    assert judgement.verdict == "undecided" and "a dash" in judgement.reason


def test_a_trend_of_a_figure_s_points(tmp_path):
    points = [{"figure": 3, "at": f"ar/ours/{epoch}"} for epoch in (0, 10)]
    assert judged(tmp_path, kind="trend", points=points, shape="rising").verdict == "holds"
    points.insert(1, {"figure": 3, "at": "ar/ours/5"})
    assert judged(tmp_path, kind="trend", points=points, shape="rising").verdict == "undecided"


def test_a_figure_s_fraction_is_a_table_s_per_cent(tmp_path):
    left, right = {"figure": 3, "at": "ar/ours/10"}, cells("all/ours/mrr/ar")
    assert judged(tmp_path, kind="comparable", left=left, right=right).verdict == "holds"
    assert judged(tmp_path, kind="margin", left=right, right=left, amount=0.0).verdict == "holds"


def test_comparable_within_the_bar(tmp_path):
    assert judged(tmp_path, **GREATER | {"kind": "comparable"}).verdict == "fails"
    near = {"kind": "comparable", "left": cells("all/ours/recall/avg"), "right": cells("all/other/recall/avg")}
    assert judged(tmp_path, **near).verdict == "holds"  # 62.3 and 61.3: 1.0 is within the bar
    opposite = {"left": cells(["all/ours/recall/ar", "all/ours/recall/th"]), "right": cells("all/other/recall/??")}
    assert judged(tmp_path, kind="comparable", **opposite).verdict == "fails"  # +5 and -1
    everywhere = {"left": cells("all/ours/recall/*"), "right": cells("all/other/recall/*")}
    assert judged(tmp_path, kind="comparable", **everywhere).verdict == "fails"  # beside an average within the bar
    assert "by language from -1 to +5" in judged(tmp_path, **near).reason


def test_significant_is_what_the_table_marks(tmp_path):
    significant = {"kind": "significant", "quantifier": "all", "right": cells(BASE)}
    marked = cells(["all/ours/mrr/ar", "all/ours/mrr/th"])
    assert judged(tmp_path, **significant, left=marked).verdict == "holds"  # one bears two marks
    assert judged(tmp_path, **significant, left=cells("all/ours/mrr/avg")).verdict == "fails"  # another mark
    assert judged(tmp_path, kind="significant", left=cells("all/ours/mrr/avg"), marked=False).verdict == "holds"
    unmarked = {"table": 2, "at": "all/ours/value/loss"}
    assert judged(tmp_path, kind="significant", left=unmarked).verdict == "undecided"


def test_a_mark_says_nothing_of_another_row_than_the_table_s_baseline(tmp_path):
    """Ours is above Other in Arabic and bears the mark, which compares with Base."""
    judgement = judged(tmp_path, kind="significant", left=cells("all/ours/mrr/ar"), right=cells("all/other/mrr/ar"))
    assert judgement.verdict == "undecided" and "compare with mbert" in judgement.reason


def test_significantly_better_is_lower_where_lower_is_better(tmp_path):
    """No mark there, so it is not decided; the other way round it fails."""
    ours, base = ({"table": 2, "at": f"all/{row}/value/loss"} for row in ("ours", "base"))
    assert judged(tmp_path, kind="significant", left=ours, right=base).verdict == "undecided"
    assert judged(tmp_path, kind="significant", left=base, right=ours).verdict == "fails"


def test_a_baseline_that_is_another_row_by_language_is_averaged_as_one(tmp_path):
    """Ours against Other in Arabic (+2.0) and Base in Swahili (-0.5): above on average, though below one of them."""
    mixed = cells(["all/other/mrr/ar", "all/base/mrr/sw"])
    claim = {"kind": "greater", "left": cells(["all/ours/mrr/ar", "all/ours/mrr/sw"]), "right": mixed}
    assert judged(tmp_path, **claim).verdict == "holds"
    assert judged(tmp_path, **claim, quantifier="all").verdict == "fails"


def test_what_another_model_would_score_is_not_printed(tmp_path):
    right = cells("all/ours/mrr/avg", instead={"model": "msm_no_bias"})
    judgement = judged(tmp_path, kind="greater", left=cells("all/ours/mrr/avg"), right=right)
    assert judgement.verdict == "undecided" and "avg (model msm_no_bias): not printed" in judgement.reason


def test_counts(tmp_path):
    """Of a cell that holds it, of cells with a number, and of the cells that are above all others."""
    assert judged(tmp_path, kind="count", of=cells("all/base/mrr/ar"), value=30).verdict == "holds"
    assert judged(tmp_path, kind="count", of=cells("all/*/mrr/sw"), value=2).verdict == "holds"  # one is a dash
    wins = {"kind": "count", "left": cells(OURS), "right": cells(BASE)}
    assert judged(tmp_path, **wins, value=3).verdict == "holds"
    assert judged(tmp_path, **wins, value=4).verdict == "fails"
    assert judged(tmp_path, **wins | {"right": cells(OTHER)}, value=1).verdict == "holds"  # a dash is not beaten
    assert judged(tmp_path, **wins, value=2, at_least=True).verdict == "holds"


def test_what_numbers_cannot_say_is_the_reader_s(tmp_path):
    said = {"printed": {"verdict": "undecided", "why": "no time is printed"}}
    assert judged(tmp_path, kind="other", **said).verdict == "undecided"
    assert judged(tmp_path, kind="other", checkable=False, why="of other papers", printed=None) is None


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (GREATER | {"left": cells("all/our/mrr/*")}, "claim a_claim: .* unknown row 'our'; did you mean 'ours'"),
        (GREATER | {"left": cells("all/ours/mrr")}, "want group/row/line/column"),
        (GREATER | {"left": {"table": 4, "at": OURS}}, "msm has no table 4; want one of its tables here: 1, 2"),
        (GREATER | {"left": {"figure": 3, "at": "ar/ours/6"}}, "unknown point '6'"),
        (GREATER | {"right": cells("all/base/recall/*")}, "is mrr@100, but .* is recall@100; compare one metric"),
        (GREATER | {"right": cells(OURS)}, "compared only with itself"),
        (GREATER | {"right": cells(["all/base/mrr/ar", "all/base/mrr/th"])}, "sw has no counterpart"),
        (GREATER | {"quantity": 3}, "unknown key 'claims.0.quantity'"),
        (GREATER | {"amount": 3}, "the kind greater has left, right or left, value; found amount, left, right"),
        (GREATER | {"at_least": True}, "`at_least` belongs to count and margin and ratio, found in greater"),
        (GREATER | {"kind": "best", "printed": None}, "`printed` is missing"),
        (GREATER | {"controls": [{}]}, "a control must name what differs"),
        (GREATER | {"controls": [{"right": {"model": "mlm_equal_computer"}}]}, "did you mean 'mlm_equal_compute'"),
        (
            GREATER | {"controls": [{"left": {"metric": "mrr@100"}, "right": {"metric": "recall@100"}}]},
            "one metric for both sides; found mrr@100 and recall@100",
        ),
        ({"kind": "other"}, "`printed` needs `why`"),
        ({"kind": "other", "checkable": False, "printed": None}, "needs `why`"),
        ({"kind": "trend", "points": [cells(OURS)], "shape": "rising"}, "has more than 1 points"),
        ({"kind": "trend", "points": [cells(OURS)] * 2, "shape": "rising"}, "ours/mrr/avg is twice among the points"),
        (GREATER | {"left": cells(OURS, minus=cells(OURS))}, "ours/mrr/ar is subtracted from itself"),
        (GREATER | {"kind": "ratio", "amount": 0}, "`amount` is how many times the right, which is not 0"),
    ],
)  # fmt: skip
def test_what_a_claim_cannot_be(tmp_path, claim, message):
    with pytest.raises(SteleError, match=message):
        judged(tmp_path, **claim)
