"""Collections that are encoded once: searches in their vectors are those that searches would make for themselves."""

import json
from pathlib import Path

import numpy as np
import pytest
import test_retrieve as retrieval
from recorded import put, record, retrieving
from test_retrieval_processes import contents, on

from stele.artifacts.run_files import read_run, write_run
from stele.encoders.encode import Encoder
from stele.encoders.load import load_encoder
from stele.errors import SteleError
from stele.files.atomic import MARK
from stele.retrieval import encode_collection, retrieve
from stele.retrieval.dense import vector_files
from stele.retrieval.searches.search import search
from tests.jobs import job
from tests.killing import kill_at, killed
from tests.sealed import write_sealed

small_windows = retrieval.small_windows
NAMES = {"fa": "fas", "ru": "rus", "zh": "zho"}


@pytest.fixture
def data(tmp_path) -> list[str]:
    """20 documents a language (some are longer than the encoder reads, three tie across languages), 4 queries."""
    given, rng = [], np.random.default_rng(3)
    for code, name in NAMES.items():
        texts = ["river nile flows", *(" ".join(rng.choice(retrieval.WORDS, 4 + n)) for n in range(19))]
        rows = [{"id": f"{code}-{n}", "title": "", "text": text} for n, text in enumerate(texts)]
        put(tmp_path / code / f"{name}-00000-of-00001.jsonl.gz", rows)
        given.append(f"neuclir_corpus:{code}={record(tmp_path / code, content=code)}")
    bench = tmp_path / "bench"
    bench.mkdir()
    (bench / "qrels.mlir.gains.txt").write_text("".join(f"{n} 0 ru-{n} 3\n" for n in range(4)))
    for name in NAMES.values():
        (bench / f"qrels.{name}.gains.txt").write_text("".join(f"{n} 0 d 1\n" for n in range(4)))
    for name in ("eng", *NAMES.values()):  # every collection is asked the same
        topics = (f"{n}\t{word} river\n" for n, word in enumerate(retrieval.WORDS[:4]))
        (bench / f"news.{name}.tsv").write_text("".join(topics))
    return [*given, f"neuclir:all={record(bench, content='bench')}"]


def searching(tmp_path: Path, encoder: Path, data: list[str], benchmark: str, languages: list[str], *more: str):
    return retrieving(tmp_path, encoder, data, benchmark, *more, benchmark=benchmark, languages=languages, depth=30)


def searched(*given) -> Path:
    """Searches; the folder of what was made."""
    args = searching(*given)
    retrieve.run(args)
    return args.output.parent


WINDOWS = ["--windows", json.dumps({"overlap": 0.5, "hits": 1000, "best": 1})]
LANGUAGES = {"neuclir_mono": ["fa", "ru", "zh"], "neuclir_clir": ["fa", "ru", "zh"], "neuclir_mlir": ["en"]}


def encoding(tmp_path: Path, encoder: Path, data: list[str], name: str, language: str, *more: str, spec=None):
    out = tmp_path / name / language / "record.json"
    line = ["--benchmark", "neuclir_mono", "--collection", language, "--encoder", str(encoder), "--threads", "1"]
    line += ["--encoding", json.dumps(spec or retrieval.SPEC), "--data", *data, "--output", str(out), *more]
    return job(encode_collection, [*line, "--state", str(tmp_path / "state" / name / language)])


def encoded(tmp_path: Path, encoder: Path, data: list[str], *more: str, spec=None, name="vectors") -> list[str]:
    """The records of all three collections."""
    todo = [encoding(tmp_path, encoder, data, name, language, *more, spec=spec) for language in NAMES]
    for args in todo:
        encode_collection.run(args)
    return [str(args.output) for args in todo]


@pytest.mark.parametrize("windows", [[], WINDOWS])
@pytest.mark.parametrize("benchmark", [*LANGUAGES])
def test_a_search_ranks_as_one_that_encodes_for_itself(tmp_path, encoder, data, benchmark, windows):
    languages, given = LANGUAGES[benchmark], encoded(tmp_path, encoder, data, *windows)
    own = searched(tmp_path / "own", encoder, data, benchmark, languages, *windows)
    shared = searched(tmp_path / "shared", encoder, data, benchmark, languages, *windows, "--vectors", *given)
    facts, others = (json.loads((folder / "retrieval.json").read_text()) for folder in (shared, own))
    assert facts["searches"] == others["searches"] and facts["labels"] == others["labels"]
    assert all(cost["cpu_seconds"] > 0 for cost in facts["encoded_before"].values())
    assert [*facts["encoded_before"]] == [*NAMES]
    for language in languages:
        one, other = (read_run(folder / f"runs/{language}.trec.gz") for folder in (shared, own))
        for query in "0123":
            assert one.ranking(query) == other.ranking(query) and len(one.ranking(query)) >= 20
            assert [score for _, score in one.hits(query)] == pytest.approx([s for _, s in other.hits(query)], rel=1e-5)


def test_no_text_of_a_collection_is_read_again(tmp_path, encoder, data, monkeypatch):
    monkeypatch.setitem(retrieval.SPEC, "weights", "float32")  # a default that was chosen is in both records
    given = encoded(tmp_path, encoder, data)
    monkeypatch.setattr(Encoder, "encode_stream", None)
    for benchmark, languages in LANGUAGES.items():
        folder = searched(tmp_path / benchmark, encoder, data, benchmark, languages, "--vectors", *given)
        assert {path.name for path in (folder / "runs").glob("*.gz")} == {f"{code}.trec.gz" for code in languages}


@pytest.mark.parametrize(
    ("module", "name", "call"),
    [
        (vector_files, "_save_progress", 2),  # after the second block's bytes, before they count
        (encode_collection.records, "write_record", 1),  # everything but the record
    ],
)
def test_kill_9_and_again_gives_the_same_vectors(tmp_path, encoder, data, module, name, call):
    whole, cut = (encoding(tmp_path, encoder, data, folder, "ru") for folder in ("whole", "cut"))
    encode_collection.run(whole)
    killed(lambda: encode_collection.run(cut), kill_at(module, name, call))
    assert not cut.output.exists()
    (clock,) = cut.state.rglob("clock.json")
    clock.write_text("[2000.0, 1000.0]")
    encode_collection.run(cut)
    resumed = json.loads(cut.output.read_text())
    assert 2000 < resumed["wall_seconds"] < 2600 and 1000 < resumed["cpu_seconds"] < 1600
    one, other = contents(whole.output.parent), contents(cut.output.parent)
    assert [*one] == [MARK, "ids.npy", "record.json", "vectors.npy"]
    assert all(one[file] == other[file] for file in ("ids.npy", "vectors.npy"))
    assert not cut.state.exists()


@pytest.mark.parametrize("windows", [[], WINDOWS])
def test_two_processes_encode_to_the_same_bytes(tmp_path, encoder, data, windows):
    alone, two = (encoding(tmp_path, encoder, data, name, "ru", *windows) for name in ("alone", "two"))
    encode_collection.run(alone)
    assert on(2, encode_collection, two) == [0, 0]
    one, other = contents(alone.output.parent), contents(two.output.parent)
    assert all(one[file] == other[file] for file in ("ids.npy", "vectors.npy"))
    records = [json.loads(made["record.json"]) for made in (one, other)]
    assert records[0]["counts"] == records[1]["counts"] and records[1]["processes"] == 2


def test_one_ranking_of_three_languages_is_a_search_in_their_joined_vectors_to_the_byte(tmp_path, encoder, data):
    """By one process, and by two, each of which searches its blocks."""
    given, joined = encoded(tmp_path, encoder, data), {}
    for folder in (Path(path).parent for path in given):
        names = [name.decode() for name in np.load(folder / "ids.npy")]
        joined |= dict(zip(names, np.load(folder / "vectors.npy"), strict=True))
    queries = {str(n): f"{word} river" for n, word in enumerate(retrieval.WORDS[:4])}
    asked = load_encoder(encoder.parent, retrieval.SPEC).encode([*queries.values()], "query")
    by_hand = search(dict(zip(queries, asked, strict=True)), joined, k=30)
    write_run(tmp_path / "by_hand/en.trec.gz", [(query, by_hand.hits(query)) for query in queries], tag="stele")
    expected = contents(tmp_path / "by_hand")
    assert len(joined) == 60 and [*expected] == ["en.trec.gz"]
    for world, name in ((1, "one"), (2, "two")):
        line = searching(tmp_path / name, encoder, data, "neuclir_mlir", ["en"], "--vectors", *given)
        assert on(world, retrieve, line) == [0] * world
        made = contents(line.output.parent / "runs")
        assert {file: made[file] for file in made if file != MARK} == expected, name
        facts = json.loads(line.output.read_text())["searches"]["en"]
        assert (facts["pool"], facts["passages"], facts["queries"]) == ("all", 60, 4)


def test_what_does_not_belong_together_is_refused(tmp_path, encoder, data):
    given = encoded(tmp_path, encoder, data)
    shorter = encoded(tmp_path, encoder, data, spec=retrieval.SPEC | {"passage_length": 8}, name="shorter")
    record = json.loads(Path(given[1]).read_text())
    other = tmp_path / "other.json"
    write_sealed(other, record | {"inputs": record["inputs"] | {"encoder": "another"}})
    for vectors, more, message in (
        (given[:2], [], "collection all needs the records of zh too"),
        ([*given, given[0]], [], "collection fa is given twice"),
        ([*given, data[0].partition("=")[2]], [], "want the record of encode_collection, found that of x"),
        (given, ["--limit", "1"], "--vectors, --limit: stored vectors are used unchanged"),
        (given, ["--keep-index", str(tmp_path / "kept")], "--vectors, --keep-index: stored vectors are used unchanged"),
        (given, WINDOWS, "passages were encoded with another windows"),
        (shorter, [], r"shorter/fa/record.json: .* passages were encoded with another encoding"),
        ([given[0], str(other), given[2]], [], r"other.json: .* passages were encoded with another encoder"),
    ):
        with pytest.raises(SteleError, match=message):
            searched(tmp_path, encoder, data, "neuclir_mlir", ["en"], *more, "--vectors", *vectors)


def test_an_id_of_two_languages_is_refused(tmp_path, encoder, data):
    rows = [{"id": "fa-7", "title": "", "text": "river"}]
    put(tmp_path / "zh/zho-00000-of-00001.jsonl.gz", rows)
    given = encoded(tmp_path, encoder, data)
    with pytest.raises(SteleError, match=r"collection all: passage id 'fa-7' appears twice \(in fa and zh\)"):
        searched(tmp_path, encoder, data, "neuclir_mlir", ["en"], "--vectors", *given)


@pytest.mark.parametrize("windows", [[], WINDOWS])
def test_judged_documents_without_a_vector_are_counted(tmp_path, encoder, data, windows, caplog):
    given = encoded(tmp_path, encoder, data, *windows)
    (tmp_path / "bench/qrels.mlir.gains.txt").write_text("0 0 ru-1 3\n1 0 gone 1\n2 0 ru-2 1\n3 0 nowhere 0\n")
    caplog.clear()
    searched(tmp_path, encoder, data, "neuclir_mlir", ["en"], *windows, "--vectors", *given)
    assert "all: 2 judged documents are not in the collection (gone, nowhere)" in caplog.text
