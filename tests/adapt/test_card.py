"""The card of an adaptation: what went wrong comes first, and nothing is said that was not measured."""

import json

import numpy as np

from stele.adapt.verdict import leaks, problems
from stele.encoders.load import load_encoder
from stele.tables.render.adaptation import make_card
from stele.tables.render.sheets import card_text
from tests.encoders.tiny_models import sentence_transformers_folder

TRAINING = {"folder": "work/x", "labels": [], "steps": 9, "chance": {"msm": 3.8}, "cpu_seconds": 60.0}
TRAINING |= {"seed": 0, "losses": {}, "above_chance": []}
COMPARISON = {"model": "e-msm", "benchmark": "b", "metric": "m", "against": "e", "reason": "", "p": None, "seeds": 1}
COMPARISON |= {"state": "undecided", "mean": 0.1, "interval": None, "seeds_needed": None, "sentence": "e-msm: open"}
HELD_OUT = {"sentences": 10, "found": 4, "cosine": 0.25}
VERDICT = {
    "base": "e",
    "methods": ["e-msm"],
    "control": "e-mlm",
    "looks": [1],
    "labels": ["diverged pretraining"],
    "command": "stele adapt e --documents 'my text'",
    "budget": {"hours": 1.0, "step_seconds": 2.0},
    "rules": {"alpha": 0.05, "bar": 0.01, "fewest_seeds": 3},
    "comparisons": [COMPARISON],
    "values": [{**COMPARISON, "seeds": ["pt0"], "mean": 0.5, "languages": {"de": 0.5}, "queries": {"de": 7}}],
    "trainings": [
        TRAINING
        | {"model": "e-msm", "losses": {"msm": 4.1}, "above_chance": ["msm"], "curve": {"msm": [3.9, None, 4.1]}},
        TRAINING | {"model": "e-mlm", "diverged": "cosine .99"},
    ],
    "neighbours": [
        {"model": "e", "languages": {"de": HELD_OUT}, "snapshots": {}},
        {"model": "e-msm", "languages": {"de": HELD_OUT}, "snapshots": {"4": {"de": {**HELD_OUT, "found": 9}}}},
        {"model": "e-msm", "languages": {"de": HELD_OUT}, "snapshots": {"4": {"de": {**HELD_OUT, "found": 6}}}},
    ],
    "documents": {"de": 2000, "lv": 7},
    "warnings": ["a/de.txt: 3 lines not utf8 left out or cut"],
}
LEAKED = {"b": {"passages": {"texts": 100, "exact": 3, "near": 2}}}


def test_a_loss_above_chance_a_collapse_and_a_leak_are_warnings():
    assert [*problems(VERDICT["trainings"]), *leaks(LEAKED)] == [
        "e-msm: the loss of msm ended above that of a guess (seed 0: 4.10, by chance 3.80)",
        "e-mlm: diverged (seed 0: cosine .99)",
        "5 of the 100 passages of b stand in the documents (3 as they are, 2 nearly)",
    ]


def test_warnings_and_the_documents_are_on_the_card():
    card = make_card(VERDICT)
    for page in (card_text("adaptation", card, suffix) for suffix in (".md", ".html")):
        assert "3 lines not utf8" in page and "2,000 in de, 7 in lv" in page and "SentenceTransformer" in page
        assert "1 hour, at 2 s per step of e-msm" in page


def test_an_older_verdict_without_warnings_has_a_card():
    older = {key: value for key, value in VERDICT.items() if key not in ("warnings", "documents")}
    assert make_card(older)["warnings"] == ()


def test_what_is_missing_is_a_dash():
    card = make_card(VERDICT)
    assert card["verdicts"].rows[0][-4:] == ["+0.1000", "—", "—", "1"]
    assert card["trainings"].rows[1][5:7] == ["—", "3.80"]
    assert card["curves"].rows == [["e-msm", "0", "msm", "3.80", "3.90", "—", "4.10", *["—"] * 5]]


def test_neighbours_are_shown_before_during_and_after_each_a_mean_over_seeds():
    before, after = make_card(VERDICT)["neighbours"].rows
    assert before == ["e", "1", "de", "10", "4.0", "—", "0.400", "0.250"]
    assert after == ["e-msm", "2", "de", "10", "4.0", "0.750", "0.400", "0.250"]


def test_a_seed_that_diverged_before_its_snapshot_leaves_the_others_shown():
    e, *seeds = VERDICT["neighbours"]
    card = make_card({**VERDICT, "neighbours": [e, *seeds, {**seeds[0], "snapshots": {}}]})
    assert card["neighbours"].rows[1][1:6] == ["3", "de", "10", "4.0", "0.750"]


def test_its_lines_of_code_give_the_vectors_that_were_evaluated(tmp_path):
    """Both kinds had the vectors of texts without a prompt."""
    folder = sentence_transformers_folder(tmp_path / "tiny")
    prompts = {"query": "who wrote: ", "document": "the city: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    first, *others = VERDICT["trainings"]
    card = make_card({**VERDICT, "trainings": [{**first, "folder": str(folder)}, *others]})
    exec("\n".join(card["loading"]), names := {})
    encoder = load_encoder(folder)
    assert np.abs(names["queries"] - encoder.encode(["a question"], "query")).max() < 1e-5
    assert np.abs(names["passages"] - encoder.encode(["a text"], "passage")).max() < 1e-5
