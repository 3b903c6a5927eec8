"""Data sets in BEIR's layout and in MTEB's: what is read, and what is refused."""

from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from written import rows

from stele.benchmarks.beir import Beir
from stele.benchmarks.types import Passage, Query, QuerySet
from stele.errors import SteleError

CORPUS = [
    {"_id": "d1", "title": " One ", "text": " first\n"},
    {"_id": "d2", "title": " ", "text": " second"},
    {"_id": "d3", "text": "third"},
]
QUERIES = [
    {"_id": "q2", "text": "two?"},
    {"_id": "q1", "text": "one?"},
    {"_id": "q9", "text": "asked in another split"},
    {"_id": "q3", "text": "three?"},
]
JUDGED = [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d3", 1), ("q3", "d1", 0)]
HEAD = "query-id\tcorpus-id\tscore\n"
EN = QuerySet("en", "en", "en")


def as_beir(folder: Path, judged=JUDGED, corpus=CORPUS) -> dict:
    (folder / "qrels").mkdir(parents=True)
    for name, items in (("corpus", corpus), ("queries", QUERIES)):
        (folder / f"{name}.jsonl").write_text(rows(*items))
    (folder / "qrels/test.tsv").write_text(HEAD + "".join(f"{q}\t{d}\t{s}\n" for q, d, s in judged))
    return {"mine": {"all": folder}}


def as_mteb(folder: Path, names=("corpus", "queries", "qrels"), score_type=None, judged=JUDGED) -> dict:
    """The Parquet files of the hub, a folder each."""
    scores = pa.array([s for _, _, s in judged], score_type)
    qrels = {"query-id": [q for q, _, _ in judged], "corpus-id": [d for _, d, _ in judged], "score": scores}
    tables = (pa.Table.from_pylist([{"title": None, **row} for row in CORPUS]), pa.Table.from_pylist(QUERIES))
    for name, table in zip(names, (*tables, pa.table(qrels)), strict=True):
        (folder / name).mkdir(parents=True)
        pq.write_table(table, folder / name / "test-00000-of-00001.parquet")
    return {"mine": {"all": folder}}


def called_id(items: list[dict]) -> list[dict]:
    """Rows with ids as MTEB's newer sets call them."""
    return [{"id" if key == "_id" else key: value for key, value in row.items()} for row in items]


@pytest.fixture(params=["BEIR", "BEIR with id", "MTEB", "MTEB with id", "MTEB's older names", "MTEB's subsets"])
def data(request, tmp_path, monkeypatch) -> dict:
    if request.param.endswith("with id"):
        monkeypatch.setitem(globals(), "CORPUS", called_id(CORPUS))
        monkeypatch.setitem(globals(), "QUERIES", called_id(QUERIES))
        return as_beir(tmp_path / "set", corpus=CORPUS) if "BEIR" in request.param else as_mteb(tmp_path / "set")
    if request.param == "BEIR":
        return as_beir(tmp_path / "set")
    if request.param == "MTEB":
        return as_mteb(tmp_path / "set", score_type=pa.float64())
    if request.param == "MTEB's older names":
        return as_mteb(tmp_path / "set", ("corpus", "queries", "default"))
    as_mteb(tmp_path / "set", ("de-corpus", "de-queries", "de-qrels"), judged=JUDGED[:1])
    return as_mteb(tmp_path / "set", ("en-corpus", "en-queries", "en-qrels"))


def test_the_same_of_every_layout(data):
    assert list(Beir().query_sets(["en"])) == [EN]
    assert list(Beir().queries(data, EN)) == [Query("q2", "two?"), Query("q1", "one?"), Query("q3", "three?")]
    assert list(Beir().passages(data, "en")) == [
        Passage("d1", "One ", " first"), Passage("d2", "", "second"), Passage("d3", "", "third")
    ]  # fmt: skip
    assert Beir().judgments(data, EN) == {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}, "q3": {"d1": 0}}


def test_a_language_of_its_own_part_is_read_from_there(tmp_path):
    as_beir(tmp_path / "en"), as_beir(tmp_path / "de", JUDGED[:1])
    data = {"mine": {"en": tmp_path / "en", "de": tmp_path / "de"}}
    assert len(Beir().judgments(data, EN)) == 3 and len(Beir().judgments(data, QuerySet("de", "de", "de"))) == 1


def test_judged_documents_that_the_corpus_lacks_are_counted_and_stay(tmp_path, caplog):
    data = as_beir(tmp_path / "set", [*JUDGED, ("q1", "gone", 1), ("q2", "lost", 1)])
    assert Beir().judgments(data, EN)["q1"] == {"d1": 2, "d2": 0, "gone": 1}
    assert "2 of 5 judged documents are not in the corpus (gone, lost)" in caplog.text
    (tmp_path / "set/corpus.jsonl").unlink()  # judgments are scored without it
    caplog.clear()
    Beir().judgments(data, EN)
    assert not caplog.text


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("qrels/test.tsv", HEAD + "q1\td1\t0.5\n", r"test.tsv, line 2: score must be a whole number .* found '0.5'"),
        ("qrels/test.tsv", HEAD + "q1\td1\t1.0\n", r"score must be a whole number"),
        ("qrels/test.tsv", HEAD + "q1\td1\t1\nq1\td1\t0\n", r"line 3: judgment of query q1 on document 'd1' appears"),
        ("qrels/test.tsv", "q1\td1\t1\n", r"line 1: want the head line query-id corpus-id score"),
        ("qrels/test.tsv", HEAD, r"test.tsv: no judgments"),
        ("qrels/test.tsv", HEAD + "q1 d1 1\n", r"line 2: want 3 tab-separated columns, found 1"),
        ("qrels/test.tsv", HEAD + "q7\td1\t1\n", r"queries.jsonl: 1 judged queries are not in it \(q7\)"),
        ("qrels/dev.tsv", HEAD + "q1\td1\t1\n", r"dev.tsv, .*test.tsv: found judgments of several splits; name one"),
        ("queries.jsonl", '{"_id": "q1", "text": "a"}\n' * 2, r"queries.jsonl, line 2: _id 'q1' appears twice"),
        ("queries.jsonl", '{"name": "q1", "text": "a"}\n', r"line 1: no field '_id'; found name, text"),
        ("corpus.jsonl", '{"_id": "d1", "title": "a"}\n', r"corpus.jsonl, line 1: no field 'text'"),
        ("corpus.jsonl", '{"_id": "d 1", "text": "a"}\n', r"_id must be a string without white space"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, file, text, message):
    data = as_beir(tmp_path / "set")
    (tmp_path / "set" / file).write_text(text)
    with pytest.raises(SteleError, match=message):
        list(Beir().queries(data, EN)), list(Beir().passages(data, "en")), Beir().judgments(data, EN)


@pytest.mark.parametrize("score", [0.5, float("nan"), float("inf"), float("-inf"), 1e300, 1e9, None])
def test_gains_that_are_no_whole_numbers_are_refused_in_parquet_too(tmp_path, score):
    data = as_mteb(tmp_path / "set", score_type=pa.float64(), judged=[("q1", "d1", score)])
    with pytest.raises(SteleError, match=r"parquet, row 1: score must be a whole number .* found"):
        Beir().judgments(data, EN)


def test_parquet_with_other_columns_is_named(tmp_path):
    data = as_mteb(tmp_path / "set")
    path = tmp_path / "set/corpus/test-00000-of-00001.parquet"
    pq.write_table(pa.table({"docid": ["a"], "contents": ["b"]}), path)
    with pytest.raises(SteleError, match=r"no column '_id'; found docid, contents; want _id, title, text"):
        list(Beir().passages(data, "en"))


def test_a_role_that_is_missing_is_named_with_what_is_there(tmp_path):
    data = as_beir(tmp_path / "set")
    (tmp_path / "set/queries.jsonl").rename(tmp_path / "set/questions.jsonl")
    with pytest.raises(SteleError, match=r"set: no queries of en .* found corpus.jsonl, questions.jsonl, test.tsv"):
        list(Beir().queries(data, EN))


def texts_of(data: dict) -> dict[str, str]:
    return {query.id: query.text for query in Beir().queries(data, EN)}


def test_judgments_given_alone_have_their_role_by_their_folder(tmp_path, monkeypatch):
    as_beir(tmp_path / "set")
    wanted = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}, "q3": {"d1": 0}}
    monkeypatch.chdir(tmp_path / "set/qrels")
    for given in (tmp_path / "set/qrels/test.tsv", Path("test.tsv")):
        assert Beir().judgments({"mine": {"all": given}}, EN) == wanted


def test_blank_lines_of_judgments_are_skipped_as_in_other_layouts(tmp_path):
    data = as_beir(tmp_path / "set")
    wanted, path = Beir().judgments(data, EN), tmp_path / "set/qrels/test.tsv"
    path.write_text("\n" + path.read_text().replace("\n", "\r\n\r\n"))
    assert Beir().judgments(data, EN) == wanted


def test_judgments_as_json_lines_are_mteb_s(tmp_path):
    data, folder = as_beir(tmp_path / "set"), tmp_path / "set/qrels"
    (folder / "test.tsv").unlink()
    judged = [dict(zip(("query-id", "corpus-id", "score"), row, strict=True)) for row in JUDGED]
    (folder / "test.jsonl").write_text(rows(*judged))
    assert Beir().judgments(data, EN) == {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}, "q3": {"d1": 0}}
    assert Beir().left_out(data, EN).same_id is None


def test_instructions_follow_the_text_as_in_mteb(tmp_path):
    data = as_beir(tmp_path / "set")
    asked = [{**row, "instruction": f"about {row['_id']}" if row["_id"] != "q3" else None} for row in QUERIES]
    (tmp_path / "set/queries.jsonl").write_text(rows(*asked))
    assert texts_of(data) == {"q2": "two? about q2", "q1": "one? about q1", "q3": "three?"}


def test_instructions_in_files_of_their_own(tmp_path):
    data = as_mteb(tmp_path / "set")
    (tmp_path / "set/instruction").mkdir()
    of_queries = {"query-id": ["q1", "q2", "q3"], "instruction": ["in short", "in full", "x"]}
    path = tmp_path / "set/instruction/test-00000-of-00001.parquet"
    pq.write_table(pa.table(of_queries), path)
    assert texts_of(data) == {"q2": "two? in full", "q1": "one? in short", "q3": "three? x"}
    pq.write_table(pa.table({"query-id": ["q1"], "instruction": ["in short"]}), path)
    with pytest.raises(SteleError, match=r"queries.*: query q2 has no instruction"):
        texts_of(data)


def test_a_conversation_is_joined_as_in_mteb(tmp_path):
    data = as_beir(tmp_path / "set")
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"}]
    one, two, three = ({"_id": "q1", "text": ["a", "b"]}, {"_id": "q2", "text": turns}, {"_id": "q3", "text": "c"})
    path = tmp_path / "set/queries.jsonl"
    path.write_text(rows(one, {**two, "instruction": "answer"}, three))
    assert texts_of(data) == {"q1": "a; b", "q2": "answer user: hi; assistant: yes?", "q3": "c"}
    for text, message in (
        ([], "without turns"),
        ([{"role": "user"}], "no field 'content'"),
        ([3], "must be a string"),
    ):
        path.write_text(rows({"_id": "q1", "text": text}, two, three))
        with pytest.raises(SteleError, match=rf"queries.jsonl, line 1.*{message}"):
            texts_of(data)


def test_a_re_ranking_task_is_refused(tmp_path):
    data = as_mteb(tmp_path / "set")
    (tmp_path / "set/top_ranked").mkdir()
    table = pa.table({"query-id": ["q1"], "corpus-ids": [["d1", "d2"]]})
    pq.write_table(table, tmp_path / "set/top_ranked/test-00000-of-00001.parquet")
    for read in (Beir().judgments, lambda *given: list(Beir().queries(*given))):
        with pytest.raises(
            SteleError, match=r"top_ranked/test.*: a re-ranking task, whose candidates alone are ranked"
        ):
            read(data, EN)


@pytest.mark.parametrize("role", ["corpus", "queries"])
@pytest.mark.parametrize("layout", [as_beir, as_mteb])
def test_images_and_sound_are_refused_and_empty_columns_of_them_are_not(tmp_path, role, layout):
    data = layout(tmp_path / "set")
    items = CORPUS if role == "corpus" else QUERIES
    value = {"bytes": b"png", "path": None} if layout is as_mteb else "a.png"
    for filled in (False, True):
        table = [{"title": "", **row, "image": value if filled else None} for row in items]
        if layout is as_mteb:
            kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
            names = ("_id", "title", "text")
            schema = pa.schema([*((name, pa.string()) for name in names), ("image", kind)])
            path = tmp_path / f"set/{role}/test-00000-of-00001.parquet"
            pq.write_table(pa.Table.from_pylist(table, schema=schema), path)
        else:
            (tmp_path / f"set/{role}.jsonl").write_text(rows(*table))
        if filled:
            with pytest.raises(SteleError, match=rf"{role}.*: found image; Stele encodes text only"):
                list(Beir().queries(data, EN)), list(Beir().passages(data, "en"))
        else:
            assert len(list(Beir().queries(data, EN))) == 3 and len(list(Beir().passages(data, "en"))) == 3


@pytest.mark.parametrize("mark", ["", "-a09b74b3ef9c3b56"])  # the latter by `datasets` until 2023
def test_of_several_splits_the_texts_are_of_that_of_the_judgments(tmp_path, mark):
    data = as_mteb(tmp_path / "set")
    for role in ("corpus", "queries"):
        folder = tmp_path / "set" / role
        table = pq.read_table(folder / "test-00000-of-00001.parquet")
        pq.write_table(table.slice(0, 1), folder / "dev-00000-of-00001.parquet")
        for number in (0, 1):  # two shards
            part = table.slice(number, 1) if number == 0 else table.slice(1)
            pq.write_table(part, folder / f"test-0000{number}-of-00002{mark}.parquet")
        (folder / "test-00000-of-00001.parquet").unlink()
    assert [passage.id for passage in Beir().passages(data, "en")] == ["d1", "d2", "d3"]
    assert list(texts_of(data)) == ["q2", "q1", "q3"]
    (second := tmp_path / f"set/corpus/test-00001-of-00002{mark}.parquet").rename(tmp_path / "one.parquet")
    with pytest.raises(
        SteleError, match=rf"corpus/test-00000-of-00002{mark}\.parquet: file 1 of 2 \(from 0\) is missing beside"
    ):
        list(Beir().passages(data, "en"))  # two of three documents were left out
    (tmp_path / "one.parquet").rename(second)
    (tmp_path / "set/qrels/test-00000-of-00001.parquet").rename(tmp_path / "set/qrels/validation.parquet")
    with pytest.raises(SteleError, match=r"corpus/dev-.*: corpus of several splits; name the judgments' split"):
        list(Beir().passages(data, "en"))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["0000", "0002"], r"corpus/0000\.parquet: file 1 of 3 \(from 0\) is missing beside"),
        (["test/part-00001", "test/part-00003"], r"part-00001\.parquet: file 2 of 4 \(from 0\) is missing beside"),
        (["partial-test/0000", "partial-test/0001"], r"partial-test/0000\.parquet: the beginning of an export"),
        (["0001", "0002"], None),  # counted from 1
        (["2019", "2021"], None),  # years
        (["20191001", "1120100"], None),
        (["0815", "0817"], None),  # days
    ],
)
def test_an_export_without_a_total_that_lacks_a_file_is_refused(tmp_path, files, message):
    data = as_mteb(tmp_path / "set")
    whole = pq.read_table(path := tmp_path / "set/corpus/test-00000-of-00001.parquet")
    path.unlink()
    for number, name in enumerate(files):
        part = tmp_path / f"set/corpus/{name}.parquet"
        part.parent.mkdir(exist_ok=True)
        pq.write_table(whole.slice(number, 1), part)
    with pytest.raises(SteleError, match=message) if message else nullcontext():
        assert len(list(Beir().passages(data, "en"))) == len(files)


def test_documents_that_are_no_hits(tmp_path):
    data = as_beir(tmp_path / "set")
    asked = [{**row, "excluded_ids": ["d2", "N/A"] if row["_id"] == "q1" else []} for row in QUERIES]
    (tmp_path / "set/queries.jsonl").write_text(rows(*asked))
    left_out = Beir().left_out(data, EN)
    assert left_out.of("q1") == {"q1", "d2"} and left_out.of("q2") == {"q2"}
    assert left_out.deepest(["q1", "q2"], 10) == 12
    (tmp_path / "set/queries.jsonl").unlink()  # judgments alone
    assert Beir().left_out(data, EN).documents == {}
