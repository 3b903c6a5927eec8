"""Our numbers beside published ones: the edges of a tolerance, and what cannot be compared."""

import math

import pytest

from stele import catalogue
from stele.artifacts.records import GENERATED, LIMITED, STAND_IN
from stele.artifacts.results import Result
from stele.catalogue.datasets import dataset
from stele.catalogue.datasets import languages_of as languages_of_dataset
from stele.catalogue.references import languages_of, published
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.published import PublishedScore
from stele.command import cli
from stele.papers.table_parts import CellSource
from stele.published.verdicts import judge, other_weights, published_for, verdicts
from tests.sealed import write_sealed

HUB = "intfloat/multilingual-e5-small"
SCORE = PublishedScore(
    model=HUB, benchmark="mrtydi", subset="ko", split="test", metric="mrr@100", value=0.5, tolerance=0.01,
    source="paper", locator="table 1", status="read",
)  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "state"),
    [
        (0.5, "OK"), (0.51, "OK"), (0.49, "OK"), (0.5101, "near"), (0.52, "near"), (0.48, "near"), (0.5201, "FAIL"),
        (0.0, "FAIL"), (math.nan, "not comparable"), (math.inf, "not comparable"),
    ],
)  # fmt: skip
def test_a_number_is_ok_within_the_tolerance_and_near_within_twice_that(ours, state):
    assert judge(ours, SCORE)[0] == state


@pytest.mark.parametrize("status", ["secondary", "unverified"])
def test_what_was_not_read_at_its_source_judges_nothing(status):
    assert judge(0.0, SCORE.model_copy(update={"status": status})) == ("context", f"the source is {status}")


def published_korean():
    """A published number of E5 small in Korean, as MTEB's results have it."""
    of_model = [score for score in published()["mrtydi"] if score.model == HUB and score.subset == "korean"]
    return next(score for score in of_model if score.metric == "mrr@100" and score.judges)


def record(
    labels=(), setting="direct", of="me5_small", config=(), repository=HUB, revision=None, value=None, decided=None,
    **encoding,
):  # fmt: skip
    score = published_korean()
    value = score.value if value is None else value
    known = {"repository": repository, "revision": revision or score.model_revision}
    ancestry = {
        "a": {"job": "sources checkpoint", "model": of, **known},
        "b": {"job": "retrieve", "encoding": encoding, "encoding_decided_by": decided or {"config": list(config)}},
    }
    metrics = {"mrr@100": {"languages": {"ko": value}, "average": value, "n": {"ko": 421}}}
    given = {"benchmark": "mrtydi", "model": "me5_small", "setting": setting, "labels": list(labels)}
    return {**given, "metrics": metrics, "ancestry": ancestry}


def judged(**given):
    written = record(**given)
    return [one for one in verdicts(Result.model_validate(written), written) if one.language == "ko"]


def test_each_source_of_a_number_gives_a_verdict_of_its_own():
    found = judged()
    assert {one.state for one in found if one.published.locator == published_korean().locator} == {"OK"}
    assert len({(one.published.source, one.published.locator) for one in found}) == len(found)


def test_neither_a_model_trained_from_a_public_one_nor_another_model_is_held_against_its_numbers():
    assert not judged(of="xlmr") and not judged(repository="FacebookAI/xlm-roberta-base")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"labels": [GENERATED]}, "the data are generated"),
        ({"labels": [STAND_IN]}, "the checkpoint is a stand-in"),
        ({"labels": [LIMITED]}, "a try with a few queries"),
        ({"setting": "zero_shot_marco"}, "ours is the setting zero_shot_marco"),
    ],
)
def test_a_run_of_something_else_is_not_compared(given, why):
    found = judged(**given)
    assert found and all(one.state == "not comparable" and why in one.why for one in found)


def test_another_split_and_an_average_of_fewer_languages_are_not_compared(monkeypatch):
    other = SCORE.model_copy(update={"split": "dev"})
    average = SCORE.model_copy(update={"subset": "avg"})
    monkeypatch.setattr("stele.published.verdicts.published", lambda: {"mrtydi": [other, average]})
    written = record()
    first, second = verdicts(Result.model_validate(written), written)
    assert (first.state, first.why) == ("not comparable", "published of the split dev, ours is test")
    assert second.state == "not comparable" and second.why.startswith("our average lacks ar, bn, en")


def test_a_mean_over_a_direction_is_held_against_that_of_the_same_pairs(monkeypatch):
    """Of Belebele, a code is PASSAGES-QUESTIONS; a mean that lacks pairs says how many."""
    changes = {"benchmark": "belebele", "subset": "same language (122)", "metric": "ndcg@10", "value": 0.6}
    same = SCORE.model_copy(update=changes)
    monkeypatch.setattr("stele.published.verdicts.published", lambda: {"belebele": [same]})
    every = {code: 0.6 for code in languages_of("belebele", same.subset)}
    for languages, state in ((every | {"en-ru": 0.1}, "OK"), ({"ru-ru": 0.6, "en-ru": 0.1}, "not comparable")):
        written = record() | {"benchmark": "belebele", "metrics": {"ndcg@10": {"languages": languages, "average": 0.2}}}
        (one,) = verdicts(Result.model_validate(written), written)
        assert (one.state, one.language, one.ours) == (state, "same language (122)", pytest.approx(0.6))
    assert one.why.endswith(" and 101 more") and one.why.startswith("our average lacks ")


def test_a_folder_that_a_known_model_is_given_is_judged_as_its_copy_and_says_so():
    found = judged(repository=None)
    assert {one.state for one in found if one.published.locator == published_korean().locator} == {"OK"}
    assert all(f"ours is a user's folder, taken for {HUB}" in one.notes[0] for one in found)
    written = record(repository=None, of="mine") | {"model": "mine"}
    assert not [*verdicts(Result.model_validate(written), written)]  # a folder under a name of one's own


def test_a_model_without_a_checkpoint_is_no_folder_s_copy():
    score = SCORE.model_copy(update={"model": "bm25"})
    assert other_weights("bm25", {}, score) == ()


def test_a_damaged_result_is_named_and_ends_no_look_at_the_others(tmp_path, capsys):
    for model in ("me5_small", "me5_base"):
        (tmp_path / f"mrtydi/{model}").mkdir(parents=True)
    write_sealed(tmp_path / "mrtydi/me5_small/direct.json", record())
    (tmp_path / "mrtydi/me5_base/direct.json").write_text("{")
    command = ["tables", "references", "--results-dir", str(tmp_path)]
    assert cli.main(command) == 0
    said = capsys.readouterr()
    assert "OK: mrtydi/me5_small ko" in said.out and "me5_base/direct.json" in said.err
    assert cli.main([*command, "--strict"]) == 1
    assert "1 results cannot be read" in capsys.readouterr().err


def test_a_twin_s_numbers_are_named():
    native, theirs = "alibaba-nlp-community/gte-multilingual-base", "Alibaba-NLP/gte-multilingual-base"
    written = record(repository=native, of="gte_mbase", query_length=8192) | {"model": "gte_mbase"}
    found = [*verdicts(Result.model_validate(written), written)]
    assert found and all(f"published of {theirs}, the same weights" in one.notes for one in found)


def test_what_the_encoding_did_not_do_is_said_beside_the_verdict():
    written = record()
    written["ancestry"]["b"]["encoding_notes"] = ["its folder names the prompts a, and none is used for queries"]
    (one, *_) = verdicts(Result.model_validate(written), written)
    assert "its folder names the prompts a, and none is used for queries" in one.notes


def test_a_mean_of_some_languages_is_not_held_against_that_of_all():
    """Tatoeba's tables have 14 languages, its files 112, and so has what is published of all."""
    of_table = catalogue.entry(Benchmark, "tatoeba").languages
    for codes in (of_table, languages_of_dataset(dataset("tatoeba"))):
        written = record() | {"benchmark": "tatoeba"}
        written["metrics"] = {"accuracy_to_en": {"languages": dict.fromkeys(codes, 0.7), "average": 0.7}}
        (one,) = (one for one in verdicts(Result.model_validate(written), written) if one.language == "average")
        assert (one.state == "not comparable") is (len(codes) == 14)
        assert len(codes) == 112 or "our average lacks af, am, ang" in one.why
        assert any("published without a prompt by MTEB's code" in note for note in one.notes)


@pytest.mark.parametrize(
    ("given", "notes"),
    [
        ({"weights": "bfloat16", "decided": {"models": ["weights"]}}, ["weights: bfloat16"]),
        ({"precision": "bfloat16", "decided": {"benchmark": ["precision"]}}, ["precision: bfloat16"]),
        ({"weights": "bfloat16", "config": ["weights"]}, ["config.yaml sets weights: 'bfloat16'"]),
        (
            {"query_length": 256, "decided": {"benchmark": ["query_length"], "folder": ["passage_length"]}},
            ["the benchmark decides query_length: 256"],
        ),
        ({"passage_length": 64, "decided": {"scale": ["passage_length"]}}, ["the scale decides passage_length: 64"]),
        ({"weights": "float32", "precision": "float32", "decided": {"models": ["weights", "query_length"]}}, []),
    ],
)  # fmt: skip
def test_bits_and_lengths_that_may_be_other_than_the_sources_are_said(given, notes):
    (one,) = [one for one in judged(**given) if one.published.locator == published_korean().locator]
    assert (one.state, list(one.notes)) == ("OK", notes)


# --- instructions -----------------------------------------------------------------------------------------------------
INSTRUCT = "intfloat/multilingual-e5-large-instruct"
MINE = "Given a question, retrieve Wikipedia passages that answer the question"
DEFAULT = "Retrieve text based on user query."


def hard_negatives(instruction, repository, value):
    """Verdicts on Spanish of MIRACL's hard negatives, by what references.tsv calls the benchmark."""
    told = {"instruction": instruction} if instruction else {}
    written = record(repository=repository, **told) | {"benchmark": "miracl_hard_negatives"}
    written["metrics"] = {"ndcg@10": {"languages": {"es": value}, "average": value, "n": {"es": 648}}}
    return {one.published.benchmark: one for one in verdicts(Result.model_validate(written), written)
            if one.language == "es"}  # fmt: skip


def test_a_number_of_another_instruction_judges_no_model_that_was_given_one():
    """Two versions of one task: the same data, another instruction, .439 and .541."""
    found = hard_negatives(MINE, INSTRUCT, 0.541)
    assert found["miracl_hard_negatives_v2"].state == "OK"
    first = found["miracl_hard_negatives"]
    assert (first.state, first.published.value) == ("not comparable", 0.43914)
    assert first.why == f"published with another instruction: {DEFAULT!r}, ours is {MINE!r}"


def test_both_versions_judge_a_model_that_takes_no_instruction_or_was_given_that_of_both():
    assert {one.state for one in hard_negatives("", "intfloat/multilingual-e5-base", 0.52813).values()} == {"OK"}
    assert len(hard_negatives("", "intfloat/multilingual-e5-base", 0.5)) == 2
    assert hard_negatives(DEFAULT, INSTRUCT, 0.43914)["miracl_hard_negatives"].state == "OK"


def test_a_number_that_is_known_to_be_broken_is_not_there():
    minilm = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
    assert hard_negatives("", minilm, 0.32152).keys() == {"miracl_hard_negatives"}


def test_the_tables_show_the_number_of_the_same_instruction_first():
    for instruction in ("", MINE):
        written = record(repository=INSTRUCT, **({"instruction": instruction} if instruction else {}))
        written["metrics"] = {"ndcg@10": {"languages": {"es": 0.5}, "average": 0.5, "n": {"es": 648}}}
        result = Result.model_validate(written | {"benchmark": "miracl_hard_negatives"})
        value = CellSource("miracl_hard_negatives", "me5_small", "direct", "ndcg@10", ("es",), average=False)
        shown = [one.published.benchmark for one in published_for(value, 0.5, ["es"], result, written)]
        assert shown == ["miracl_hard_negatives_v2", "miracl_hard_negatives"]


@pytest.mark.parametrize(("value", "code"), [(None, 0), (0.0, 1)])
def test_a_number_that_fails_ends_a_strict_look_with_an_error(tmp_path, capsys, value, code):
    path = tmp_path / "results/mrtydi/me5_small/direct.json"
    path.parent.mkdir(parents=True)
    write_sealed(path, record(value=value))
    command = ["tables", "references", "--results-dir", str(tmp_path / "results")]
    assert cli.main(command) == 0
    assert cli.main([*command, "--strict"]) == code
    assert ("FAIL: mrtydi/me5_small ko mrr@100" in capsys.readouterr().out) == bool(code)
