"""NeuCLIRBench by the command: one ranking of three languages is a search over their vectors joined by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import test_retrieve as retrieval
from recorded import record

from stele.artifacts.run_files import read_run
from stele.errors import SteleError
from stele.retrieval import retrieve
from stele.retrieval.searches.search import search
from tests.jobs import job

NAMES = {"fa": "fas", "ru": "rus", "zh": "zho"}
small_windows = retrieval.small_windows  # of the encoder: 16 texts a block


@pytest.fixture
def data(tmp_path) -> list[str]:
    """20 documents a language (some are longer than the encoder reads, three tie across languages), 4 queries."""
    given, rng = [], np.random.default_rng(3)
    for code, name in NAMES.items():
        texts = ["river nile flows", *(" ".join(rng.choice(retrieval.WORDS, 4 + n)) for n in range(19))]
        rows = [{"id": f"{code}-{n}", "title": "", "text": text} for n, text in enumerate(texts)]
        retrieval.put(tmp_path / code / f"{name}-00000-of-00001.jsonl.gz", rows)
        given.append(f"neuclir_corpus:{code}={record(tmp_path / code, content=code)}")
    bench = tmp_path / "bench"
    bench.mkdir()
    (bench / "news.eng.tsv").write_text("".join(f"{n}\t{word} river\n" for n, word in enumerate(retrieval.WORDS[:4])))
    (bench / "qrels.mlir.gains.txt").write_text("".join(f"{n} 0 ru-{n} 3\n" for n in range(4)))
    for name in NAMES.values():
        (bench / f"qrels.{name}.gains.txt").write_text("".join(f"{n} 0 d 1\n" for n in range(4)))
    return [*given, f"neuclir:all={record(bench, content='bench')}"]


def arguments(tmp_path: Path, encoder: Path, data: list[str], benchmark: str, languages: list[str], *more: str):
    out = tmp_path / benchmark / "retrieval.json"
    line = ["--benchmark", benchmark, "--languages", *languages, "--encoder", str(encoder), "--depth", "30"]
    line += ["--encoding", json.dumps(retrieval.SPEC), "--data", *data, "--state", str(tmp_path / "state" / benchmark)]
    return job(retrieve, [*line, "--output", str(out), *more])


def run(*given) -> Path:
    """Searches; the folder of what was made."""
    args = arguments(*given)
    retrieve.run(args)
    return args.output.parent


def test_one_ranking_of_three_languages_is_that_of_the_joined_vectors(tmp_path, encoder, data):
    from stele.encoders.load import load_encoder

    kept = tmp_path / "kept"
    run(tmp_path, encoder, data, "neuclir_clir", [*NAMES], "--keep-index", str(kept))
    joined = {}
    for code in NAMES:
        ids = np.load(kept / code / "ids.npy")
        joined |= dict(zip([name.decode() for name in ids], np.load(kept / code / "vectors.npy"), strict=True))
    queries = {str(n): f"{word} river" for n, word in enumerate(retrieval.WORDS[:4])}
    asked = load_encoder(encoder.parent, retrieval.SPEC).encode([*queries.values()], "query")
    expected = search(dict(zip(queries, asked, strict=True)), joined, k=30)

    out = run(tmp_path, encoder, data, "neuclir_mlir", ["en"])
    found = read_run(out / "runs/en.trec.gz")
    for query in queries:
        assert found.ranking(query) == expected.ranking(query)
        assert {name[:2] for name in found.ranking(query)} == {*NAMES}
    facts = json.loads((out / "retrieval.json").read_text())["searches"]["en"]
    assert (facts["pool"], facts["passages"], facts["queries"]) == ("all", 60, 4)


def test_an_id_of_two_languages_is_refused(tmp_path, encoder, data):
    path = tmp_path / "zh/zho-00000-of-00001.jsonl.gz"
    retrieval.put(path, [{"id": "fa-7", "title": "", "text": "river"}])
    with pytest.raises(SteleError, match=r"passage id 'fa-7' is there twice \(passages 8 and 41 of 41\)"):
        run(tmp_path, encoder, data, "neuclir_mlir", ["en"])
