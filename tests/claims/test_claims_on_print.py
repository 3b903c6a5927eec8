"""Verdicts on print: each kind by hand, on a small paper; wrong addresses and wrong claims are refused."""

import pytest

from stele.errors import SteleError
from tests.claims import small_paper
from tests.claims.small_paper import BASE, GREATER, OTHER, OURS, cells, judged

AVERAGE, BASE_AVERAGE = "all/ours/mrr/avg", "all/base/mrr/avg"
RECALL, BASE_RECALL, OTHER_RECALL = "all/ours/recall/*", "all/base/recall/*", "all/other/recall/*"
ARABIC, BASE_ARABIC = "all/ours/mrr/ar", "all/base/mrr/ar"
LOSS, BASE_LOSS, ALL_LOSSES = ({"table": 2, "at": f"all/{row}/value/loss"} for row in ("ours", "base", "*"))
SIZE, BASE_SIZE = ({"table": 2, "at": f"all/{row}/value/size"} for row in ("ours", "base"))
GAIN, THAI_GAIN = (cells(f"all/ours/mrr/{at}", minus=cells(f"all/base/mrr/{at}")) for at in ("ar", "th"))
START, MIDDLE, END = ({"figure": 3, "at": f"ar/ours/{epoch}"} for epoch in (0, 5, 10))


def case(verdict, kind, left=None, right=None, reason="", **more):
    """A claim with its verdict and a part of the reason; cells of the first table may be named by their patterns."""
    sides = {name: at for name, at in (("left", left), ("right", right)) if at}
    named = {name: at if isinstance(at, dict) else cells(at) for name, at in sides.items()}
    return {"kind": kind, **named, **more}, verdict, reason


def trend(verdict, shape, rows, column="avg", reason="", **more):
    points = [cells(f"all/{row}/mrr/{column}") for row in rows]
    return case(verdict, "trend", points=points, shape=shape, reason=reason, **more)


@pytest.mark.parametrize(
    ("claim", "verdict", "reason"),
    [
        # ours is above in Arabic, Thai and on average, below in Swahili
        case("holds", "greater", OURS, BASE),
        case("fails", "greater", OURS, BASE, quantifier="all"),
        case("holds", "greater", OURS, BASE, quantifier="most"),
        case("fails", "greater", OURS, BASE, quantifier="each_language"),
        # an average is the printed one where there is one: 32.8 is below 38.5, but no language that both have is
        case("fails", "greater", OURS, OTHER),
        case("holds", "greater", ["all/ours/mrr/??"], OTHER, "1 of 3 comparisons are not printed"),
        # a tie is not greater and reverses nothing
        case("fails", "greater", RECALL, BASE_RECALL, quantifier="all"),
        case("holds", "greater", RECALL, BASE_RECALL, quantifier="each_language"),
        # gains are compared with gains: by 5.0 in Arabic, by 4.0 in Thai
        case("holds", "greater", GAIN, THAI_GAIN),
        case("holds", "margin", GAIN, THAI_GAIN, amount=1.0),
        case("fails", "margin", GAIN, THAI_GAIN, amount=2.0),
        # another row by language is one baseline: +2.0 against Other in Arabic, -0.5 against Base in Swahili
        case("holds", "greater", ["all/ours/mrr/ar", "all/ours/mrr/sw"], ["all/other/mrr/ar", "all/base/mrr/sw"]),
        case(
            *("fails", "greater", ["all/ours/mrr/ar", "all/ours/mrr/sw"], ["all/other/mrr/ar", "all/base/mrr/sw"]),
            quantifier="all",
        ),
        case(
            *("undecided", "greater", AVERAGE, cells(AVERAGE, instead={"model": "msm_no_bias"})),
            reason="avg (model msm_no_bias): not printed",
        ),
        # every rival is beaten, not their mean; 1 of 2 metrics is not most
        case("fails", "best", "all/ours/*/avg", "all/*/*/avg", quantifier="all"),
        case("fails", "best", "all/ours/*/avg", "all/*/*/avg", quantifier="most"),
        case("holds", "best", "all/ours/recall/avg", ["all/base/recall/avg", "all/other/recall/avg"]),
        case("fails", "best", "all/ours/mrr/th", "all/*/mrr/th"),  # above Base, and as high as Other
        case("holds", "best", LOSS, ALL_LOSSES),  # lower is better
        case("holds", "margin", AVERAGE, BASE_AVERAGE, amount=2.8),
        case("holds", "margin", AVERAGE, BASE_AVERAGE, amount=2.9),  # rounding leaves it open
        case("fails", "margin", AVERAGE, BASE_AVERAGE, amount=3.0),
        case("holds", "margin", AVERAGE, BASE_AVERAGE, amount=3),  # a round number
        case("holds", "margin", ARABIC, BASE_ARABIC, amount=5, at_least=True),
        case("fails", "margin", ARABIC, BASE_ARABIC, amount=5, more_than=True),
        # a loss of 5.0: a negative limit is one of the loss, as on runs
        case("holds", "margin", BASE_ARABIC, ARABIC, amount=-4, at_least=True),
        case("holds", "margin", BASE_ARABIC, ARABIC, amount=-5.0, at_least=True),
        case("fails", "margin", BASE_ARABIC, ARABIC, amount=-5.0, more_than=True),
        *(
            case("fails", "margin", BASE_ARABIC, ARABIC, amount=-6, **{limit: True})
            for limit in ("at_least", "more_than")
        ),
        *(case("holds", kind, SIZE, BASE_SIZE, amount=amount) for kind in ("ratio", "cost") for amount in (2.05, 2)),
        *(case("fails", kind, SIZE, BASE_SIZE, amount=2.5) for kind in ("ratio", "cost")),
        case("fails", "cost", SIZE, BASE_SIZE),  # it does not cost less
        trend("holds", "rising", ["base", "ours", "other"]),
        trend("fails", "rising", ["base", "other", "ours"]),  # a step is reversed
        trend("holds", "falling", ["other", "ours", "base"]),
        trend("holds", "peak", ["base", "other", "ours"]),
        trend("fails", "peak", ["base", "ours", "other"]),
        trend("fails", "rising", ["base", "ours"], "*", quantifier="each_language"),
        trend("holds", "rising", ["base", "ours"], "*", quantifier="most"),
        trend("undecided", "rising", ["base", "other"], "sw", "a dash"),
        case("holds", "trend", points=[START, END], shape="rising"),
        case("undecided", "trend", points=[START, MIDDLE, END], shape="rising"),
        # a figure's fraction is a table's per cent
        case("holds", "comparable", END, ARABIC),
        case("holds", "margin", ARABIC, END, amount=0.0),
        *(case("fails", "comparable", *sides) for sides in ((OURS, BASE), (BASE, OURS))),
        # 62.3 and 61.3: 1.0 is within the bar; +5 and -1 are not, nor are languages beside such an average
        case("holds", "comparable", "all/ours/recall/avg", "all/other/recall/avg", "by language from -1 to +5"),
        case("fails", "comparable", ["all/ours/recall/ar", "all/ours/recall/th"], "all/other/recall/??"),
        case("fails", "comparable", RECALL, OTHER_RECALL),
        # one bears two marks; the average another mark; the second table none
        case("holds", "significant", ["all/ours/mrr/ar", "all/ours/mrr/th"], BASE, quantifier="all"),
        case("fails", "significant", AVERAGE, BASE, quantifier="all"),
        case("holds", "significant", AVERAGE, marked=False),
        case("undecided", "significant", LOSS),
        # a mark compares with the table's baseline, and a higher loss is not significantly better
        case("undecided", "significant", ARABIC, "all/other/mrr/ar", "compare with mbert"),
        case("undecided", "significant", LOSS, BASE_LOSS),
        case("fails", "significant", BASE_LOSS, LOSS),
        case("holds", "count", of=cells(BASE_ARABIC), value=30),
        case("holds", "count", of=cells("all/*/mrr/sw"), value=2),  # one is a dash
        case("holds", "count", OURS, BASE, value=3),
        case("fails", "count", OURS, BASE, value=4),
        case("holds", "count", OURS, BASE, value=2, at_least=True),
        case("holds", "count", OURS, OTHER, value=1),  # a dash is not beaten
        case("undecided", "other", printed={"verdict": "undecided", "why": "no time is printed"}),
    ],
)
def test_the_verdict_on_print(tmp_path, claim, verdict, reason):
    judgement = judged(tmp_path, **claim)
    assert judgement.verdict == verdict and reason in judgement.reason


def test_what_cannot_be_checked_has_no_judgement(tmp_path):
    assert judged(tmp_path, kind="other", checkable=False, why="of other papers", printed=None) is None


def test_a_point_without_a_place_of_its_own_is_addressed_at_the_parameters_of_its_model(tmp_path, monkeypatch):
    changed = small_paper.FIGURE.replace("at: 0, target: {model: mbert}", "target: {model: me5_small}")
    changed = changed.replace("at: 5,", "at: 200,").replace("at: 10,", "at: 300,")
    changed = changed.replace("{0: 0.3, 10:", "{118: 0.3, 300:")
    monkeypatch.setattr(small_paper, "FIGURE", changed)
    small, large = ({"figure": 3, "at": f"ar/ours/{place}"} for place in (118, 300))
    assert judged(tmp_path, kind="trend", points=[small, large], shape="rising").verdict == "holds"


def test_a_ratio_of_losses_is_rounded_as_one_of_gains_and_none_is_by_0(tmp_path, monkeypatch):
    """-10.5 is 0.875 times -12.0; a right of 0.0 may be 0, and nothing is divided by it."""
    table = small_paper.TABLE
    sides = {"left": cells(AVERAGE, minus=cells(BASE_AVERAGE)), "right": cells("all/other/mrr/avg")}
    for average, right, verdict in ((-12.0, "43.3", "holds"), (0.0, "0.0", "undecided")):
        changed = table.replace("44.0, 38.5]", f"44.0, {average}]").replace("40.0, 30.0]", f"40.0, {right}]")
        monkeypatch.setattr(small_paper, "TABLE", changed)
        assert judged(tmp_path, kind="ratio", **sides, amount=0.875).verdict == verdict


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("no significant difference to base", "fails"), ("not statistically significant", "fails"),
        ("non-significant", "fails"), ("insignificant", "fails"), ("Statistically significant against base", "holds"),
    ],
)  # fmt: skip
def test_a_mark_of_what_is_not_significant_is_no_mark_of_significance(tmp_path, monkeypatch, words, verdict):
    marks = f'marks: {{"*": significantly better than base, †: {words}}}'
    changed = small_paper.TABLE.replace('marks: {"*": significantly better than base, †: from elsewhere}', marks)
    monkeypatch.setattr(small_paper, "TABLE", changed)
    assert judged(tmp_path, kind="significant", left=cells("all/ours/mrr/avg")).verdict == verdict  # marked †


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
        ({"kind": "trend", "points": [cells(OURS)] * 2, "shape": "rising"}, "ours/mrr/avg is given twice in `points`"),
        (GREATER | {"left": cells(OURS, minus=cells(OURS))}, "ours/mrr/ar is subtracted from itself"),
        (GREATER | {"kind": "ratio", "amount": 0}, "`amount` is how many times the right, which is not 0"),
    ],
)  # fmt: skip
def test_what_a_claim_cannot_be(tmp_path, claim, message):
    with pytest.raises(SteleError, match=message):
        judged(tmp_path, **claim)
