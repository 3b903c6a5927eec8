"""MIRACL and CIRAL: shards, topics without quoting, explicit 0, training examples from judged passages."""

import pytest

from stele.benchmarks.ciral import Ciral
from stele.benchmarks.miracl import Miracl
from stele.benchmarks.types import Passage, Query, QuerySet
from stele.errors import SteleError
from tests.benchmarks import written

BENGALI, THAI = QuerySet("bn", "bn", "bn"), QuerySet("th", "th", "th")  # one shard, two shards


def passage(name):
    return {"docid": name, "title": f"T{name}", "text": f"of {name}"}


def shard(path, *names):
    written.put(path, written.rows(*map(passage, names)))


@pytest.fixture
def thai(tmp_path):
    """The files of a language of two shards, as its datasets hold them."""
    shard(tmp_path / "corpus/docs/docs-0.jsonl.gz", "12#0", "12#3")
    shard(tmp_path / "corpus/docs/docs-1.jsonl.gz", "40#0", "41#1")
    for split in ("dev", "train"):
        (tmp_path / split).mkdir()
        (tmp_path / split / "topics.tsv").write_text('7\tso "quoted\n8#0\tno answer\n')
        (tmp_path / split / "qrels.tsv").write_text(
            "7\tQ0\t12#3\t1\n7\tQ0\t40#0\t0\n7\tQ0\t41#1\t1\n8#0\tQ0\t12#0\t0\n"
        )
    parts = {"miracl": tmp_path, "miracl_train": tmp_path, "miracl_corpus": tmp_path / "corpus"}
    return {name: {"th": folder} for name, folder in parts.items()}


def test_a_language_is_read_from_all_its_shards(thai):
    assert Miracl().query_sets(["th"]) == [THAI]
    assert [p.id for p in Miracl().passages(thai, "th")] == ["12#0", "12#3", "40#0", "41#1"]
    assert list(Miracl().queries(thai, THAI)) == [Query("7", 'so "quoted'), Query("8#0", "no answer")]
    assert Miracl().judgments(thai, THAI) == {"7": {"12#3": 1, "40#0": 0, "41#1": 1}, "8#0": {"12#0": 0}}


def test_training_takes_the_relevant_as_positives_and_those_judged_0_as_negatives(thai, tmp_path, caplog):
    (tmp_path / "train/qrels.tsv").open("a").write("7\tQ0\t99#9\t1\n")
    (example,) = Miracl().training(thai, "train")
    positives, negatives = ([Passage(n, f"T{n}", f"of {n}") for n in names] for names in (("12#3", "41#1"), ("40#0",)))
    assert example == ('so "quoted', positives, negatives, "th")
    assert "th: 1 of 5 judged passages are not in its collection (99#9...)" in caplog.text


def test_a_shard_that_is_missing_or_of_another_index_is_named(thai, tmp_path):
    folder = tmp_path / "corpus/docs"
    (folder / "docs-1.jsonl.gz").rename(folder / "docs-2.jsonl.gz")
    with pytest.raises(SteleError, match=r"docs-1.jsonl.gz missing, of the 2 files docs-0 to docs-1 of th"):
        list(Miracl().passages(thai, "th"))
    shard(folder / "docs-1.jsonl.gz", "40#0")
    with pytest.raises(SteleError, match=r"docs-2.jsonl.gz: th has 2 files, docs-0 to docs-1; keep each language's"):
        list(Miracl().passages(thai, "th"))
    with pytest.raises(SteleError, match=r"th has 2 files|bn has 1 files"):
        list(Miracl().passages({"miracl_corpus": {"bn": tmp_path / "corpus"}}, "bn"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("7 no tab\n", r"topics.tsv, line 1: want id, tab, text"),
        ("7\ta\n7\tb\n", r"topics.tsv, line 2: id '7' appears twice"),
        ("\n", r"topics.tsv: no topics"),
    ],
)
def test_topics_that_are_wrong_are_named(thai, tmp_path, text, message):
    (tmp_path / "dev/topics.tsv").write_text(text)
    with pytest.raises(SteleError, match=message):
        list(Miracl().queries(thai, THAI))


def test_ciral_asks_in_english_and_passages_may_lack_a_title(tmp_path, caplog):
    swahili = QuerySet("sw", "sw", "sw")
    rows = [passage("1#0"), {"docid": "1#1", "title": None, "text": "b", "url": "u"}, {"docid": "2#0", "text": "c"}]
    (tmp_path / "passages.jsonl").write_text(written.rows(*rows))
    (tmp_path / "topics.tsv").write_text("1\twho was it?\n")
    (tmp_path / "qrels.tsv").write_text("1 Q0 1#1 1\n1 Q0 9#0 0\n")
    data = {name: {"sw": tmp_path} for name in ("ciral", "ciral_corpus")}
    assert Ciral().query_sets(["sw"]) == [swahili]
    assert list(Ciral().queries(data, swahili)) == [Query("1", "who was it?")]
    assert list(Ciral().passages(data, "sw")) == [
        Passage("1#0", "T1#0", "of 1#0"), Passage("1#1", "", "b"), Passage("2#0", "", "c")
    ]  # fmt: skip
    assert "sw: 1 judged documents are not in the collection (9#0)" in caplog.text
    assert Ciral().judgments(data, swahili) == {"1": {"1#1": 1, "9#0": 0}}


def test_judged_passages_of_no_collection_are_counted_while_it_is_streamed(thai, tmp_path, caplog):
    """Of MIRACL's dev; a training job, which reads the same collection, has warnings of its own."""
    (tmp_path / "dev/qrels.tsv").open("a").write("8#0\tQ0\t99#9\t0\n7\tQ0\t99#1\t1\n7\tQ0\t99#9\t1\n")
    stream = Miracl().passages(thai, "th")
    assert next(stream).id == "12#0" and not caplog.text
    assert len(list(stream)) == 3
    assert "th: 2 judged documents are not in the collection (99#1, 99#9)" in caplog.text
    assert Miracl().judgments(thai, THAI)["7"]["99#1"] == 1
    caplog.clear()
    assert len(list(Miracl().passages({name: thai[name] for name in ("miracl_train", "miracl_corpus")}, "th"))) == 4
    assert not caplog.text
