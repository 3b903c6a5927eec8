"""Which field of a topic is the query: a setting of term matching and of encoders, for collections that have fields."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from stele.benchmarks.ciral import Ciral
from stele.benchmarks.types import LeftOut, QuerySet
from stele.errors import SteleError
from stele.retrieval import bm25, fuse, retrieve
from tests.jobs import job
from tests.retrieval.recorded import record, retrieving

DOCUMENTS = {"1": "el río cruza la ciudad", "2": "la novela ganó un premio", "3": "nada de eso"}
TOPIC = "<top>\n<num> Number: SP1\n<title> río\n<desc> Description:\nnovela\n<narr> Narrative:\npremio\n</top>\n"
RECIPE = {"k1": 0.9, "b": 0.4}


@pytest.fixture
def data(tmp_path) -> list[str]:
    folder = tmp_path / "trec3"
    folder.mkdir()
    texts = (f"<DOC><DOCNO>{name}</DOCNO><TEXT>{text}</TEXT></DOC>\n" for name, text in DOCUMENTS.items())
    (folder / "ism_001").write_text("".join(texts))
    (folder / "topics.SP1-SP25.spanish.english").write_text(TOPIC)
    (folder / "qrels.1-25.spanish").write_text("1 0 1 1\n")
    return [f"trec3_es:all={record(folder, content='trec3')}"]


def first(tmp_path: Path, name: str) -> str:
    """The document that stands first in a run."""
    with gzip.open(tmp_path / name / "runs/es.trec.gz", "rt") as lines:
        return lines.readline().split()[2]


def searched(tmp_path: Path, data: list[str], name: str, benchmark: str = "trec3_es", **recipe) -> str:
    line = ["--benchmark", benchmark, "--languages", "es", "--recipe", json.dumps({**RECIPE, **recipe})]
    line += ["--data", *data, "--state", str(tmp_path / "state" / name)]
    line += ["--output", str(tmp_path / name / "retrieval.json")]
    bm25.run(job(bm25, line))
    return first(tmp_path, name)


def test_term_matching_asks_by_the_field(tmp_path, data):
    assert searched(tmp_path, data, "title") == "1"
    assert searched(tmp_path, data, "description", field="description") == "2"
    assert json.loads((tmp_path / "description/retrieval.json").read_text())["recipe"]["field"] == "description"


def test_runs_by_another_field_are_fused(tmp_path, data):
    """Topics of TREC-4 have no title, the collections' usual field."""
    topics = [f"<top>\n<num> Number: SP{n}\n<desc> Description:\nnovela\n</top>\n" for n in range(1, 7)]
    (tmp_path / "trec3/topics.SP1-SP25.spanish.english").write_text("".join(topics))
    (tmp_path / "trec3/qrels.1-25.spanish").write_text("".join(f"{n} 0 2 1\n" for n in range(1, 7)))
    assert searched(tmp_path, data, "description", field="description") == "2"
    run = str(tmp_path / "description/retrieval.json")
    line = ["--benchmark", "trec3_es", "--languages", "es", "--term", run, "--dense", run, "--data", *data]
    fuse.run(job(fuse, [*line, "--output", str(tmp_path / "fused/retrieval.json")]))
    assert first(tmp_path, "fused") == "2"


def test_an_encoder_asks_by_the_field(tmp_path, data, encoder, monkeypatch):
    asked, original = [], retrieve.RetrievalJob.queries
    monkeypatch.setattr(retrieve.RetrievalJob, "queries", lambda job, s: asked.append(original(job, s)) or asked[-1])
    for field in ([], ["--field", "narrative"]):
        retrieve.run(retrieving(tmp_path, encoder, data, "out", *field, benchmark="trec3_es", languages=["es"]))
    assert [queries[0].text for queries in asked] == ["río", "premio"]
    assert json.loads((tmp_path / "out/retrieval.json").read_text())["field"] == "narrative"


def test_a_benchmark_without_fields_says_so(tmp_path, data):
    with pytest.raises(SteleError, match="field narrative: the queries of lareqa have no fields"):
        searched(tmp_path, data, "none", "lareqa", field="narrative")


def test_a_benchmark_without_another_split_cannot_be_tuned():
    job = bm25.Bm25Job.__new__(bm25.Bm25Job)
    job.benchmark, job.args = Ciral(), SimpleNamespace(benchmark="ciral")
    with pytest.raises(SteleError, match="split dev: ciral has only the scored split; give k1 and b"):
        job.tuned(QuerySet("sw", "sw", "sw"), SimpleNamespace(split="dev"), LeftOut())
