"""Mined negatives: by hand, against a full ranking, in whatever parts they are searched, and after kill -9."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from recorded import files, put, recorded_parts
from test_retrieve import WORDS

from stele.benchmarks.transfer_set import MinedNegatives
from stele.benchmarks.types import Passage, TrainingExample
from stele.encoders.encode import Encoder
from stele.encoders.load import load_encoder
from stele.errors import SteleError
from stele.retrieval import hard_negatives
from stele.retrieval.hard_negatives import HITS, parts
from stele.retrieval.searches.search_job import Questions
from tests.jobs import job
from tests.killing import kill_at, killed


def passage(name: str, text: str) -> dict:
    return {"docid": name, "title": "", "text": text}


@pytest.fixture(scope="module")
def tuned(encoder, tmp_path_factory) -> Path:
    """The tiny encoder as if fine-tuned: it says itself how it reads texts."""
    folder = tmp_path_factory.mktemp("tuned") / "model"
    shutil.copytree(encoder.parent, folder)
    spec = {"pooling": "mean", "query_length": 16, "passage_length": 16, "passage_format": "text"}
    (folder / "encoding.json").write_text(json.dumps(spec))
    return folder / "record.json"


class Collection:
    """Mr. TyDi's files in some languages: passages (language -> id -> text) and training questions."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.given = folder, []

    def add(self, language: str, texts: dict[str, str], questions: list[tuple[str, list[str]]]) -> None:
        """`questions`: a text and the ids of its positives."""
        passages, rows = {name: passage(name, text) for name, text in texts.items()}, []
        for number, (query, right) in enumerate(questions):
            positives = [passages[name] for name in right]
            rows.append({"query_id": str(number), "query": query, "positive_passages": positives})
        put(self.folder / language / "c/corpus.jsonl.gz", passages.values())
        put(self.folder / language / "t/train.jsonl.gz", rows)
        self.given += recorded_parts(self.folder, language, mrtydi_train="t", mrtydi_corpus="c")


@pytest.fixture
def collection(tmp_path) -> Collection:
    return Collection(tmp_path)


def arguments(tmp_path: Path, encoder: Path, data: list[str], name: str = "out", depth: int = 4, *more: str):
    line = ["--training-set", "mrtydi", "--encoder", str(encoder), "--data", *data, "--depth", str(depth)]
    line += ["--state", str(tmp_path / "state" / name), "--output", str(tmp_path / name / "record.json")]
    return job(hard_negatives, [*line, *more])


def mine(*given) -> MinedNegatives:
    args = arguments(*given)
    hard_negatives.run(args)
    assert not args.state.exists()
    return MinedNegatives(args.output)


def ids(mined: MinedNegatives, language: str, question: str) -> list[str]:
    return [p.id for p in mined.of(language, question)]


@pytest.fixture
def by_hand(monkeypatch):
    """An encoder of two numbers, which stand in the text: a question "1 0", a passage "0.5 2 (river)"."""

    def vectors(texts):
        return np.array([[float(x) for x in text.split()[:2]] for text in texts], dtype=np.float32)

    def stream(self, items, kind, **options):
        for name, text in items:
            yield [name], vectors([text])

    monkeypatch.setattr(Encoder, "encode", lambda self, texts, kind: vectors(texts))
    monkeypatch.setattr(Encoder, "encode_stream", stream)
    monkeypatch.setattr(Encoder, "dimension", 2)


def test_by_hand(tmp_path, tuned, collection, by_hand):
    """Question "1 0": scores are the first number. b and f are the same text as its positive a; of c, d, e with the
    same score the highest id comes first; with depth 3 the best ones are e, d, c, of which no id is 1 more."""
    texts = {"a": "9 0 x", "b": "9 0 x", "c": "5 0 y", "d": "5 1 y", "e": "5 2 y", "f": " 9 0 x ", "g": "1 3 z"}
    # the second question's scores are the second numbers: g 3, e 2, d 1, then 0 for the rest: f, c, b, a; e answers it
    collection.add("sw", texts, [("1 0", ["a"]), ("0 1", ["e"])])
    mined = mine(tmp_path, tuned, collection.given, "out", 3)
    assert ids(mined, "sw", "1 0") == ["e", "d", "c"]
    assert ids(mined, "sw", "0 1") == ["g", "d", "f"]
    assert mined.of("sw", "1 0")[0] == ("e", "", "5 2 y")
    assert mined.of("sw", "1 1") is None and mined.of("fi", "1 0") is None
    record = json.loads((tmp_path / "out/record.json").read_text())
    assert record["labels"] == ["generated data", "stand-in checkpoint"] and record["depth"] == 3
    facts = {"questions": 2, "passages": 7, "negatives": 6, "distinct_negatives": 5, "without_negatives": 0}
    assert record["pools"] == {"sw": {**facts, "excluded": 4}}  # a, b, f; e


def test_an_encoder_that_compares_by_cosine_mines_by_cosine(tmp_path, tuned, collection, by_hand, monkeypatch):
    monkeypatch.setattr(Encoder, "cosine", property(lambda self: True, lambda *_: None), raising=False)
    collection.add("sw", {"a": "9 0 x", "b": "8 8 x", "c": "2 1 y"}, [("1 0", ["a"])])
    assert ids(mine(tmp_path, tuned, collection.given), "sw", "1 0") == ["c", "b"]


def test_a_question_asked_twice_has_the_positives_of_both(tmp_path, tuned, collection, by_hand):
    texts = {"a": "9 0 x", "b": "8 0 x", "c": "7 0 y", "d": "6 0 y"}
    collection.add("sw", texts, [("1 0", ["a"]), ("1 0", ["c"]), ("2 0", ["b"])])
    mined = mine(tmp_path, tuned, collection.given, "out", 9)  # deeper than there are passages
    assert ids(mined, "sw", "1 0") == ["b", "d"]
    assert ids(mined, "sw", "2 0") == ["a", "c", "d"]


def test_a_positive_counts_by_its_id_when_its_text_has_changed(tmp_path, tuned, collection, by_hand):
    collection.add("sw", {"a": "9 0 x", "b": "8 0 x"}, [("1 0", ["a"])])
    put(tmp_path / "sw/c/corpus.jsonl.gz", [passage("a", "9 0 rewritten"), passage("b", "8 0 x")])
    assert ids(mine(tmp_path, tuned, collection.given), "sw", "1 0") == ["b"]


def test_a_question_s_language_cannot_lead_elsewhere():
    """Files are called by it; it may come out of the training set."""
    example = SimpleNamespace(language="../../../x")
    job = SimpleNamespace(training_set=SimpleNamespace(training=lambda data, split: [example]), data={})
    with pytest.raises(SteleError, match=r"the language of a training question: '../../../x' could lead outside"):
        hard_negatives.MiningJob.questions(job)


def test_hard_negatives_of_another_collection_are_refused(tmp_path, tuned, collection, by_hand):
    collection.add("sw", {"a": "9 0 x", "b": "8 0 x"}, [("1 0", ["a"])])
    put(tmp_path / "sw/c/corpus.jsonl.gz", [passage("1", "9 0 y"), passage("2", "8 0 y")])
    with pytest.raises(SteleError, match="collection sw: it has none of the questions' positives"):
        mine(tmp_path, tuned, collection.given)
    assert not (tmp_path / "out").exists()


# --- with a real encoder: against a full ranking ---
@pytest.fixture
def crowded(collection) -> dict[str, tuple[dict, list]]:
    """Two languages of 120 passages, a third of them copies; 40 questions, two of whose answers are there ten times."""
    made = {}
    for seed, language in enumerate(("sw", "th")):
        rng = np.random.default_rng(seed)
        texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(80)]
        texts += [texts[i] for i in rng.integers(20, 80, 22)] + [texts[0]] * 9 + [texts[1]] * 9
        passages = {f"{i}#{seed}": text for i, text in enumerate(texts)}
        made[language] = passages, [(f"{texts[i]} {i}", [f"{i}#{seed}"]) for i in range(40)]
        collection.add(language, *made[language])
    return made


def test_hard_negatives_are_the_best_of_a_full_ranking_without_the_positives(tmp_path, tuned, collection, crowded):
    mined, encoder = mine(tmp_path, tuned, collection.given, "out", 7), load_encoder(tuned.parent)
    for language, (passages, questions) in crowded.items():
        vectors = encoder.encode(list(passages.values()), "passage").astype(np.float64)
        for question, (right,) in questions:
            products = vectors @ encoder.encode([question], "query")[0].astype(np.float64)
            scores = dict(zip(passages, products.tolist(), strict=True))
            actual = ids(mined, language, question)
            others = [name for name, text in passages.items() if text != passages[right]]
            assert set(actual) <= set(others)
            # encoded alone, a question's vector differs in its last bits: places may change where scores nearly do
            best = sorted((scores[name] for name in others), reverse=True)[:7]
            assert [scores[name] for name in actual] == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize(("hits", "read", "rows"), [(40, 7, 5), (200, 1000, 64), (1, 33, 1000)])
def test_parts_and_blocks_change_nothing(tmp_path, tuned, collection, crowded, monkeypatch, hits, read, rows):
    mine(tmp_path, tuned, collection.given, "whole")
    monkeypatch.setattr(hard_negatives, "HITS", hits)
    monkeypatch.setattr(hard_negatives, "READ", read)
    monkeypatch.setattr("stele.retrieval.dense.vector_files.BLOCK_BYTES", rows * 4)
    # a question's vector must not depend on those beside it, which its batch does not promise to the last bit
    original = Encoder.encode
    alone = lambda self, texts, kind: np.concatenate([original(self, [text], kind) for text in texts])  # noqa: E731
    monkeypatch.setattr(Encoder, "encode", alone)
    mine(tmp_path, tuned, collection.given, "parts")
    monkeypatch.setattr(hard_negatives, "HITS", HITS)
    mine(tmp_path, tuned, collection.given, "one")
    assert files(tmp_path / "parts") == files(tmp_path / "one")
    assert set(files(tmp_path / "parts")) == set(files(tmp_path / "whole"))


def test_who_is_searched_together():
    assert parts([5] * 7, 20) == [[0, 1, 2, 3], [4, 5, 6]]
    assert parts([2, 900, 3, 2], 9) == [[0, 3, 2], [1]]  # one that wants many is searched alone
    together = parts(list(np.random.default_rng(0).integers(30, 90, 500)), 1000)
    assert sorted(row for rows in together for row in rows) == list(range(500))


# --- a job that is killed ---
@pytest.mark.parametrize(
    ("name", "call", "left"),  # left: blocks of passages that are not encoded yet
    [
        ("parts", 1, 1),  # a collection encoded, nothing searched
        ("atomic_file", 2, 1),  # one part of the questions searched
        ("in_order", 1, 1),  # all searched
        ("atomic_write_json", 1, 1),  # a collection's files written, not yet declared whole
        ("in_order", 2, 0),  # the first collection is done
        ("records.write_record", 1, 0),  # everything but the record
    ],
)
def test_kill_9_and_again_gives_the_same_files(tmp_path, tuned, collection, crowded, monkeypatch, name, call, left):
    monkeypatch.setattr(hard_negatives, "HITS", 120)
    mine(tmp_path, tuned, collection.given, "undisturbed")
    args = arguments(tmp_path, tuned, collection.given, "killed")
    module, _, name = name.rpartition(".")
    killed(lambda: hard_negatives.run(args), kill_at(getattr(hard_negatives, module, hard_negatives), name, call))
    assert not args.output.exists()
    encoded, original = [], Encoder.encode_stream

    def spy(self, items, kind, **options):
        yield from (encoded.append(block) or block for block in original(self, items, kind, **options))

    monkeypatch.setattr(Encoder, "encode_stream", spy)
    hard_negatives.run(args)
    assert files(tmp_path / "killed") == files(tmp_path / "undisturbed")
    assert len(encoded) == left
    assert not args.state.exists()


def test_a_title_alone_is_no_copy_of_another_title():
    """Passages without text have equal texts; only the positive itself is no negative."""
    titles = [Passage("a", "Nile", ""), Passage("b", "Congo", "")]
    questions = Questions()
    questions.add(TrainingExample("which river?", titles[:1], [], "en"))
    assert list(questions.find_answers(titles)) == titles
    assert questions.excluded() == [{b"a"}]
