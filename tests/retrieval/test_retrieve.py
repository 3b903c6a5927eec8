"""The command: encodes, searches, writes runs; goes on after kill -9; --limit and --keep-index."""

import json

import numpy as np
import pytest
from recorded import SPEC, WORDS, files, goes_on, lines_of, put, record, retrieving, write_mrtydi
from transformers import AutoTokenizer

from stele.artifacts.run_files import read_run
from stele.benchmarks.mrtydi import MrTydi
from stele.benchmarks.types import Passage, Query
from stele.encoders import encode
from stele.encoders.load import load_encoder
from stele.errors import SteleError
from stele.files.atomic import MARK
from stele.retrieval import retrieve
from stele.retrieval.dense import vector_files
from stele.retrieval.searches import search_job
from tests.killing import kill_at, killed
from tests.pretended_gpu import on_pretended_gpu


@pytest.fixture
def data(tmp_path) -> list[str]:
    """Mr. TyDi in two languages: 100 passages each (the last 10 double the first), 5 queries each."""
    given = []
    for seed, language in enumerate(("sw", "th")):
        rng = np.random.default_rng(seed)
        texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(90)]
        asked = {f"{i}#0": texts[i] for i in range(0, 35, 7)}
        given += write_mrtydi(tmp_path, language, texts + texts[:10], asked)
    return given


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    """Passages are encoded 16 at a time, so that a collection of 100 is several blocks."""
    monkeypatch.setattr(encode, "CPU_WINDOW", 16)


arguments = retrieving


def test_the_runs_are_those_of_a_full_ranking(tmp_path, encoder, data):
    retrieve.run(arguments(tmp_path, encoder, data))
    record = json.loads((tmp_path / "out/retrieval.json").read_text())
    assert record["labels"] == ["generated data", "stand-in checkpoint"]
    facts = {"language": "sw", "pool": "sw", "queries": 5, "passages": 100}
    assert facts.items() <= record["searches"]["sw"].items() and not (tmp_path / "state/out").exists()
    loaded, run = load_encoder(encoder.parent, SPEC), read_run(tmp_path / "out/runs/th.trec.gz")
    passages = {row["docid"]: row["text"] for row in lines_of(tmp_path / "th/c/corpus.jsonl.gz")}
    vectors = loaded.encode(list(passages.values()), "passage").astype(np.float64)
    for topic in lines_of(tmp_path / "th/t/test.jsonl.gz"):
        products = vectors @ loaded.encode([topic["query"]], "query")[0].astype(np.float64)
        names, scores = zip(*run.hits(topic["query_id"]), strict=True)
        best, by_id = sorted(products, reverse=True)[:20], dict(zip(passages, products, strict=True))
        assert list(scores) == pytest.approx(best, rel=1e-4)
        assert [by_id[name] for name in names] == pytest.approx(best, rel=1e-4)


def test_on_a_gpu_the_hits_are_the_same(tmp_path, encoder, data):
    retrieve.run(arguments(tmp_path, encoder, data))
    assert on_pretended_gpu(lambda: retrieve.run(arguments(tmp_path, encoder, data, "gpu"))) == 0
    on_cpu, on_gpu = (read_run(tmp_path / name / "runs/sw.trec.gz") for name in ("out", "gpu"))
    for topic in lines_of(tmp_path / "sw/t/test.jsonl.gz"):
        query = topic["query_id"]
        assert dict(on_gpu.hits(query)) == pytest.approx(dict(on_cpu.hits(query)), rel=1e-5)


def test_the_vectors_of_one_collection_lie_there_at_a_time(tmp_path, encoder, data, monkeypatch):
    """What a run needs of the disk is its largest collection: one is put away before the next is encoded."""
    args, seen, write = arguments(tmp_path, encoder, data), [], search_job.write_run

    def watched(*given, **named):
        seen.append([path.parent.name for path in args.state.rglob("vectors.npy")])
        return write(*given, **named)

    monkeypatch.setattr(search_job, "write_run", watched)
    retrieve.run(args)
    assert seen == [["sw"], ["th"]] and not args.state.exists()


def test_texts_that_were_cut_are_counted(tmp_path, encoder, data):
    retrieve.run(arguments(tmp_path, encoder, data))
    facts = json.loads((tmp_path / "out/retrieval.json").read_text())["searches"]["th"]
    tokenizer = AutoTokenizer.from_pretrained(encoder.parent)

    def too_long(path, key):
        return sum(len(tokenizer(row[key])["input_ids"]) > 16 for row in lines_of(tmp_path / path))

    assert facts["cut_passages"] == too_long("th/c/corpus.jsonl.gz", "text") > 0
    assert facts["cut_queries"] == too_long("th/t/test.jsonl.gz", "query")


@pytest.mark.parametrize(
    ("module", "name", "call"),
    [
        (vector_files, "_save_progress", 3),  # after the third block's bytes, before they count
        (vector_files, "_write_ids", 1),  # all encoded, the ids not yet indexed
        (search_job, "write_run", 2),  # first language done, second encoded
        (search_job, "atomic_write_json", 2),  # the second run written, not yet declared whole
        (retrieve.records, "write_record", 1),  # everything but the record
    ],
)
def test_kill_9_and_again_gives_the_same_runs(tmp_path, encoder, data, module, name, call):
    goes_on(retrieve, lambda folder: arguments(tmp_path, encoder, data, folder), module, name, call)


def test_a_resumed_job_counts_the_seconds_of_its_earlier_runs(tmp_path, encoder, data):
    args = arguments(tmp_path, encoder, data)
    killed(lambda: retrieve.run(args), kill_at(vector_files, "_save_progress", 2))
    (clock,) = args.state.rglob("clock.json")
    assert all(0 < seconds < 600 for seconds in json.loads(clock.read_text()))
    clock.write_text("[2000.0, 1000.0]")
    killed(lambda: retrieve.run(args), kill_at(search_job, "write_run", 1))
    assert 2000 < json.loads(clock.read_text())[0] < 2600
    retrieve.run(args)
    resumed = json.loads(args.output.read_text())
    assert 2000 < resumed["wall_seconds"] < 2600 and 1000 < resumed["cpu_seconds"] < 1600


def test_state_of_other_data_is_not_taken(tmp_path, encoder, data):
    args = arguments(tmp_path, encoder, data)
    killed(lambda: retrieve.run(args), kill_at(vector_files, "_save_progress", 4))
    record(tmp_path / "sw/c", content="another release", labels=[])
    put(tmp_path / "sw/c/corpus.jsonl.gz", [{"docid": "only", "title": "", "text": "river"}])
    retrieve.run(args)
    assert set(read_run(tmp_path / "out/runs/sw.trec.gz").names.to_pylist()) == {"only"}


def test_other_code_makes_the_vectors_anew(tmp_path, encoder, data, kinds):
    """A kept index does not outlive a change of the code; neither does the state, whose folder has the same key."""
    for code, passages in (("old", 200), ("old", 0), ("new", 200)):
        kinds.clear()
        more = ["--code", code, "--keep-index", str(tmp_path / "index")]
        retrieve.run(arguments(tmp_path, encoder, data, "out", *more))
        assert kinds.count("passage") == passages, code


def test_limit_searches_few_queries_among_their_own_passages(tmp_path, encoder, data, monkeypatch):
    monkeypatch.setattr(retrieve, "OTHERS", 4)
    retrieve.run(arguments(tmp_path, encoder, data, "out", "--limit", "2"))
    record = json.loads((tmp_path / "out/retrieval.json").read_text())
    assert "limited" in record["labels"] and record["searches"]["th"]["queries"] == 2
    names = set(read_run(tmp_path / "out/runs/th.trec.gz").names.to_pylist())
    assert {"0#0", "7#0"} <= names and len(names) == 2 + 2 * 4, "what is judged, and 4 others for each query"


@pytest.mark.parametrize(("precision", "dtype"), [("float32", np.float32), ("bfloat16", np.float16)])
def test_keep_index_keeps_vectors_that_numpy_reads(tmp_path, encoder, data, precision, dtype):
    spec, folder = {**SPEC, "precision": precision}, tmp_path / "index/sw"
    retrieve.run(arguments(tmp_path, encoder, data, "out", "--keep-index", str(tmp_path / "index"), spec=spec))
    vectors = np.load(folder / "vectors.npy")
    assert vectors.shape == (100, 32) and vectors.dtype == dtype and np.load(folder / "ids.npy")[1] == b"1#0"
    assert sorted(path.name for path in folder.iterdir()) == [MARK, "ids.npy", "progress.json", "vectors.npy"]


@pytest.mark.parametrize("name", ["thesis.tex", "vectors.npy", "progress.json"])
def test_an_index_is_kept_only_in_a_folder_of_vectors(tmp_path, encoder, data, name):
    (tmp_path / "index/th").mkdir(parents=True)
    (tmp_path / "index/th" / name).write_text("mine")
    args = arguments(tmp_path, encoder, data, "out", "--keep-index", str(tmp_path / "index"))
    with pytest.raises(SteleError, match=rf"index/th: holds '{name}'"):
        retrieve.run(args)
    assert (tmp_path / "index/th" / name).read_text() == "mine" and not (tmp_path / "index/sw").exists()


@pytest.mark.parametrize("name", ["vectors.npy", "ids.npy"])
def test_a_kept_index_that_was_damaged_is_encoded_anew(tmp_path, encoder, data, name, caplog):
    args = arguments(tmp_path, encoder, data, "out", "--keep-index", str(tmp_path / "index"))
    retrieve.run(args)
    whole, runs = (tmp_path / "index/sw" / name).read_bytes(), files(tmp_path / "out")
    damaged = bytearray(whole)
    damaged[-30] ^= 64
    (tmp_path / "index/sw" / name).write_bytes(damaged)
    retrieve.run(args)
    assert f"index/sw/{name}: its bytes differ from those written: encoded anew" in caplog.text
    assert files(tmp_path / "out") == runs and (tmp_path / "index/sw" / name).read_bytes() == whole


@pytest.mark.parametrize(
    ("method", "items", "message"),
    [
        ("queries", [Query("a", "who"), Query("a", "who")], "query set th: query id 'a' appears twice"),
        ("queries", [Query("a\t1", "who")], r"query set th: id 'a\\t1': want one without white space"),
        ("queries", [], "query set th has no query in the data"),
        ("passages", [Passage("a 1", "", "river")], "collection th: id 'a 1': want one without white space"),
    ],
)
def test_ids_that_no_run_can_hold_are_refused_before_anything_is_encoded(
    tmp_path, encoder, data, monkeypatch, kinds, method, items, message
):
    """The readers of Stele refuse them; one of docs/adding/benchmark.md may not."""
    monkeypatch.setattr(MrTydi, method, lambda *given, **named: iter(items))
    with pytest.raises(SteleError, match=message):
        retrieve.run(arguments(tmp_path, encoder, data, languages=("th",)))
    assert not kinds and not (tmp_path / "out").exists()


def test_vectors_that_another_key_began_to_write_over_are_not_taken_up_again(tmp_path):
    """In a folder of --keep-index: two blocks of "a", the first of "b", then "a" again."""

    def encoded(key):
        blocks = [([f"p{row}"], np.full((1, 2), ord(key), np.float32)) for row in range(3)]
        layout = vector_files.Layout(2, "float32", False, key)
        vector_files.encode_part(tmp_path, range(3), lambda rest: (blocks[row] for row in rest), layout)

    for key, call in (("a", 3), ("b", 1)):
        killed(lambda key=key: encoded(key), kill_at(vector_files, "_save_progress", call))
    encoded("a")
    assert (np.load(tmp_path / "vectors.npy") == ord("a")).all()


@pytest.mark.parametrize("step", [("_save_progress", 3), ("_write_ids", 1)])  # two blocks of three; all of them
@pytest.mark.parametrize(("name", "lost"), [("vectors.npy", 200), ("vectors.npy", 1), ("ids.txt", 200), ("ids.txt", 1)])
def test_a_state_that_has_lost_bytes_is_encoded_anew(tmp_path, caplog, name, lost, step):
    """Of a disk that failed, or of someone who needed its room: zeros must not take their place."""
    blocks = [([f"p{row}"], np.full((1, 2), row, np.float32)) for row in range(3)]

    def encoded(folder):
        layout = vector_files.Layout(2, "float32", False, "key")
        vector_files.encode_part(folder, range(3), lambda rest: (blocks[row] for row in rest), layout)
        return [(folder / file).read_bytes() for file in ("vectors.npy", "ids.npy")]

    killed(lambda: encoded(tmp_path / "state"), kill_at(vector_files, *step))
    path = tmp_path / "state" / name
    rest = path.stat().st_size - lost
    if step[0] == "_save_progress":  # the third block is written, and does not count yet
        rest -= {"vectors.npy": 8, "ids.txt": 3}[name]
    path.write_bytes(path.read_bytes()[: max(0, rest)])
    assert encoded(tmp_path / "state") == encoded(tmp_path / "calm")
    assert f"state/{name}: has {max(0, rest)} of the" in caplog.text


def test_vectors_that_are_not_finite_are_refused(tmp_path):
    layout, block = vector_files.Layout(2, "float16", False, "key"), np.array([[1.0, 2.0], [1e6, 0.0]])
    with pytest.raises(SteleError, match="passage 'b': its vector is not finite as float16"):
        vector_files.encode_part(tmp_path / "p", [], lambda _: [(["a", "b"], block)], layout)


def test_an_encoding_that_is_no_json_is_refused(tmp_path, encoder, data):
    with pytest.raises(SteleError, match="--encoding: not a readable argument: not JSON"):
        retrieve.run(arguments(tmp_path, encoder, data, "out", "--encoding", "{"))


def test_a_quick_try_leaves_the_state_of_the_real_job_alone(tmp_path, encoder, data, monkeypatch):
    args = arguments(tmp_path, encoder, data, "out")
    killed(lambda: retrieve.run(args), kill_at(vector_files, "_save_progress", 4))
    kept = {path: path.read_bytes() for path in args.state.rglob("*") if path.is_file()}
    assert kept
    retrieve.run(arguments(tmp_path, encoder, data, "out", "--limit", "2"))
    assert {path: path.read_bytes() for path in args.state.rglob("*") if path.is_file()} == kept
    with pytest.raises(SteleError, match="--keep-index"):
        retrieve.run(arguments(tmp_path, encoder, data, "out", "--limit", "2", "--keep-index", str(tmp_path / "i")))


def test_as_many_hits_as_asked_for_remain_without_the_query_itself(tmp_path, encoder):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(40)]
    put(tmp_path / "set/corpus.jsonl", [{"_id": f"d{i}", "text": text} for i, text in enumerate(texts)])
    queries = [{"_id": f"d{i}", "text": texts[i], "excluded_ids": ["d9"] if i == 2 else []} for i in range(3)]
    put(tmp_path / "set/queries.jsonl", [*queries, {"_id": "q", "text": texts[5]}])
    (tmp_path / "set/qrels").mkdir()
    rows = ["query-id\tcorpus-id\tscore", *(f"d{i}\td{i + 10}\t1" for i in range(3)), "q\td7\t1"]
    (tmp_path / "set/qrels/test.tsv").write_text("\n".join(rows) + "\n")
    benchmark = "miracl_hard_negatives"  # read by the module beir
    data = [f"{benchmark}:en={record(tmp_path / 'set', content='set')}"]
    retrieve.run(arguments(tmp_path, encoder, data, benchmark=benchmark, languages=("en",), depth=5))
    run = read_run(tmp_path / "out/runs/en.trec.gz")
    for query, left_out in (("d0", {"d0"}), ("d1", {"d1"}), ("d2", {"d2", "d9"}), ("q", {"q"})):
        ranking = run.ranking(query)
        assert sum(name not in left_out for name in ranking) == 5 and ranking[-1] not in left_out
    assert "d0" in run.ranking("d0") and len(run.ranking("q")) == 5
