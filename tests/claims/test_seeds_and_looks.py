"""Verdicts on made results: what counts as a seed, questions that languages share, looks and families."""

import numpy as np
import pytest

from stele.artifacts.results import RunKey
from stele.claims.judge import facts
from stele.claims.judging.comparisons import PERMUTATIONS
from stele.claims.judging.observed import Runs
from stele.claims.judging.verdicts import judge_paper, runs_of
from stele.evaluation.scores import Scores
from stele.evaluation.significance import load_test
from stele.papers.table_parts import Seeds
from tests.claims.made_results import FINETUNED, PRETRAINED, UNTRAINED, halfwidth, write_results, write_system
from tests.claims.small_paper import BEST, GREATER, cells, write_paper

AHEAD = {"mbert": 0.0, "msm": 0.08, "xlmr": 0.0}


@pytest.mark.parametrize("snapshot_of", ["", "xlmr_long"])
def test_fine_tuning_seeds_take_the_place_where_nothing_is_pretrained(tmp_path, snapshot_of):
    """Five of them each; with one pretraining of a model, or of the one it is a snapshot of, they do not count."""
    generator = np.random.default_rng(1)
    for model, jobs in (("mbert", FINETUNED), ("msm", FINETUNED), ("xlmr", PRETRAINED)):
        values = {"mrr@100": generator.normal(0.3 + 0.1 * (model != "mbert"), 0.01, (1, 5, 60))}
        row = f"mrtydi/{model}/zero_shot_marco"
        write_system(tmp_path / "results", row, values, ["ar"] * 60, jobs, snapshot_of=snapshot_of)
    arabic = {"kind": "greater", "right": cells("all/base/mrr/ar")}
    claims = [
        arabic | {"key": "tuned", "left": cells("all/ours/mrr/ar")},
        arabic | {"key": "once_pretrained", "left": cells("all/other/mrr/ar")},
    ]
    tuned, once = judge_paper(write_paper(tmp_path, claims), runs_of(tmp_path / "results"))
    assert (tuned.verdict.state, tuned.verdict.seeds) == ("supported", 5)
    assert (once.verdict.state, once.verdict.seeds) == ("undecided", 1)


def test_both_directions_of_a_pair_are_one_query(tmp_path):
    keys = [(direction, f"{n:04}") for direction in ("fr-en", "en-fr") for n in range(3)]
    values = {"accuracy": np.array([[1.0, 0, 1, 0, 0, 1]])}
    files = Scores("a", keys, ["fr"] * 6, values, "tatoeba")
    french = Runs(tmp_path)._metric(RunKey("tatoeba", "msm", "direct"), files, "accuracy", [[0]], [])["fr"]
    assert (french.queries.tolist(), french.values.tolist()) == ([0, 1, 2], [[0.5, 0, 1]])
    one = Scores("a", keys[::3], ["fr"] * 2, {"accuracy": values["accuracy"][:, ::3]}, "tatoeba")
    assert not Runs(tmp_path)._metric(RunKey("tatoeba", "msm", "direct"), one, "accuracy", [[0]], [])


@pytest.mark.parametrize(("jobs", "seeds", "files"), [(UNTRAINED, 1, 1), (("pretrain",), 3, 2), (PRETRAINED, 3, 0)])
def test_a_look_leaves_out_no_row_whose_only_seed_of_a_training_is_0(tmp_path, jobs, seeds, files):
    write_system(tmp_path, "mrtydi/msm/direct", {"mrr@100": np.full((seeds, 1, 5), 0.3)}, ["ar"] * 5, jobs)
    chosen = Runs(tmp_path, Seeds(pretraining=[1, 2], finetuning=[7]))
    assert len(chosen.files(RunKey("mrtydi", "msm", "direct"))) == files


def test_questions_that_all_languages_ask_are_drawn_once(tmp_path):
    """LAReQA's: the same differences in three languages are as wide as in one, those of Mr. TyDi narrower by root 3.

    So is the paper's own test.
    """
    generator = np.random.default_rng(5)
    of_question = np.tile(generator.normal(0.05, 0.1, 60), 3)
    widths, p_values = {}, {}
    for benchmark in ("lareqa", "mrtydi"):
        folder = tmp_path / benchmark
        for model, shift in (("mbert", 0.0), ("msm", of_question)):
            values = np.full((1, 1, 180), 0.3) + shift
            names = ["ar"] * 60 + ["sw"] * 60 + ["th"] * 60
            write_system(folder, f"{benchmark}/{model}/zero_shot", {"map@20": values}, names, UNTRAINED)
        target = {"benchmark": benchmark, "setting": "zero_shot", "metric": "map@20"}
        left, right = (cells(f"all/{row}/mrr/avg", instead=target) for row in ("ours", "base"))
        claim = {"kind": "greater", "left": left, "right": right, "printed": {"verdict": "undecided"}}
        tested = claim | {"key": "tested", "kind": "significant"}
        one, other = judge_paper(write_paper(tmp_path, [claim, tested]), runs_of(folder))
        widths[benchmark], p_values[benchmark] = halfwidth(one), other.verdict.p
    assert widths["lareqa"] == pytest.approx(3**0.5 * widths["mrtydi"], rel=0.03)
    assert p_values["lareqa"] == load_test("fisher").p_value([of_question[:60]], PERMUTATIONS) > p_values["mrtydi"]


@pytest.mark.parametrize("jobs", [(UNTRAINED, UNTRAINED), (UNTRAINED, PRETRAINED), (PRETRAINED, UNTRAINED)])
def test_a_test_needs_no_seeds_of_what_is_not_trained(tmp_path, jobs):
    """As BM25 against BM25+RM3, whose scores no seed has a part in: the other side's seeds decide, if it has any."""
    generator = np.random.default_rng(3)
    for model, shift, of_model in (("mbert", 0.0, jobs[0]), ("msm", 0.2, jobs[1])):
        values = 0.3 + shift + generator.normal(0, 0.02, (1 if of_model == UNTRAINED else 5, 1, 60))
        write_system(tmp_path / "runs", f"mrtydi/{model}/zero_shot_marco", {"mrr@100": values}, ["ar"] * 60, of_model)
    claim = {"kind": "significant", "left": cells("all/ours/mrr/ar"), "right": cells("all/base/mrr/ar")}
    contrary = claim | {"key": "contrary", "left": claim["right"], "right": claim["left"]}
    greater = claim | {"key": "greater", "kind": "greater"}
    found = judge_paper(write_paper(tmp_path, [claim, contrary, greater]), runs_of(tmp_path / "runs"))
    assert [one.verdict.state for one in found] == ["supported", "reversed", "supported"]
    assert {facts(one)["seeds"] for one in found} == {5 if PRETRAINED in jobs else None}


@pytest.mark.parametrize(("own", "seeds"), [(3, 5), (2, 2), (1, 1)])
def test_seeds_of_pretraining_count_beside_a_baseline_that_is_fine_tuned_alone(tmp_path, own, seeds):
    """Its own seeds' variance is a part of the error, and of fewer than three nobody knows it."""
    generator = np.random.default_rng(3)
    for model, shape, jobs in (("mbert", (1, own), FINETUNED), ("msm", (5, 2), PRETRAINED)):
        values = generator.normal(0.3, 0.01, (*shape, 1)) + np.full(60, 0.5 * (model == "msm"))
        write_system(tmp_path / "results", f"mrtydi/{model}/zero_shot_marco", {"mrr@100": values}, ["ar"] * 60, jobs)
    claim = {"kind": "greater", "left": cells("all/ours/mrr/ar"), "right": cells("all/base/mrr/ar")}
    (one,) = judge_paper(write_paper(tmp_path, [claim]), runs_of(tmp_path / "results"))
    assert one.verdict.seeds == seeds and (one.verdict.state == "undecided") == (seeds < 3)


def test_the_second_look_adds_seeds_for_undecided_main_claims_alone(tmp_path):
    """With three seeds neither is decided; with eight both would be, and the one that is not main stays as it was."""
    folder = write_results(tmp_path / "results", AHEAD, seeds=8, over_seeds=0.06, rng=4)
    (folder / "looks.yaml").write_text("first: {pretraining: [0, 1, 2]}\n")
    claims = [GREATER | {"key": "remembered", "main": True}, GREATER]
    paper = write_paper(tmp_path, claims)
    first = judge_paper(paper, runs_of(folder)[:1])
    assert [one.verdict.state for one in first] == ["undecided", "undecided"]
    both = judge_paper(paper, runs_of(folder))
    assert [(one.verdict.state, one.look, one.verdict.seeds) for one in both] == [
        ("supported", 2, 8),
        ("undecided", 1, 3),
    ]
    assert both[0].verdict.level == 0.025


def test_holm_s_family_is_all_main_claims_those_without_a_p_value_too(tmp_path):
    """One of significance and one without results beside two others: four at half of the level."""
    folder = write_results(tmp_path / "results", {"mbert": 0.0, "msm": 0.08})
    main = {"main": True}
    claims = [
        GREATER | main,
        GREATER | main | {"key": "below", "left": GREATER["right"], "right": GREATER["left"]},
        {"kind": "significant", "left": cells("all/ours/mrr/avg"), "key": "by_test"} | main,
        BEST | main | {"key": "without_results"},
    ]
    judged = judge_paper(write_paper(tmp_path, claims), runs_of(folder))
    assert [one.verdict.state for one in judged] == ["supported", "reversed", "supported", "no data"]
    assert sorted(one.verdict.level for one in judged[:2]) == pytest.approx([0.025 / 4, 0.025 / 3])
