"""Anserini as the engine: its commands and files with a Java that plays its part, and itself where it is at hand.

STELE_ANSERINI names the folder of a fat jar (0.22 to 0.25); Java must be on PATH.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from recorded import record, write_mrtydi

from stele.artifacts.run_files import read_run
from stele.benchmarks.types import Query
from stele.errors import SteleError
from stele.files.reading import find_file
from stele.recipes.search import Rm3
from stele.retrieval import bm25
from stele.retrieval.lexical import anserini
from stele.retrieval.lexical.engines import Texts
from tests.jobs import job

JAR = Path(os.environ.get("STELE_ANSERINI", "/nowhere"))
TEXTS = {"1#0": "Mto Nile\n\nmto wa nile", "2#0": "Kenya\n\njiji la kenya", "3#0": "Bahari\n\nbahari ya hindi"}

# as Anserini 0.25: exit status 0 come what may; a run's name holds the parameters only when there are several; passages
# without text are not indexed, a topic without text is an error
PLAYED = """#!{python}
import json, pathlib, sys
arguments = sys.argv[4:]
flags, name = dict(), None
for word in arguments:
    if word.startswith("-"):
        name = word
        flags[name] = []
    else:
        flags[name].append(word)
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[3], flags]) + chr(10))
if sys.argv[3].endswith("IndexCollection"):
    lines = (pathlib.Path(flags["-input"][0]) / "passages.jsonl").read_text().splitlines()
    lines = [line for line in lines if json.loads(line)["contents"].strip()]
    (pathlib.Path(flags["-index"][0]) / "segment").write_text("x")
    print("Indexing Complete!", format(len(lines) - {lost}, ","), "documents indexed")
else:
    topics = [line.strip().split(chr(9))[1] for line in pathlib.Path(flags["-topics"][0]).read_text().splitlines()]
    grid = [(k1, b) for k1 in flags["-bm25.k1"] for b in flags["-bm25.b"]]
    for k1, b in grid:
        name = flags["-output"][0] + ("" if len(grid) == 1 else "_bm25(k1=%s,b=%s)_default" % (k1, b))
        # the second question finds nothing
        lines = ["0 Q0 2#0 1 %s Anserini" % b, "0 Q0 1#0 2 0.05 Anserini"] if {writes} else []
        if {writes}:
            pathlib.Path(name).write_text("".join(line + chr(10) for line in lines))
"""


@pytest.fixture
def played(tmp_path, monkeypatch):
    """played(lost=0, writes=True) -> the log of a Java on PATH that plays Anserini."""

    def call(lost: int = 0, writes: bool = True) -> Path:
        java, log = tmp_path / "bin/java", tmp_path / "calls"
        java.parent.mkdir(exist_ok=True)
        java.write_text(PLAYED.format(python=sys.executable, log=str(log), lost=lost, writes=writes))
        java.chmod(0o755)
        monkeypatch.setenv("PATH", f"{java.parent}:{os.environ['PATH']}")
        return log

    return call


@pytest.fixture
def engine(tmp_path):
    """engine(queries, texts, expands) -> an engine whose split "all" has the queries."""
    jar, folder = tmp_path / "anserini-1-fatjar.jar", tmp_path / "sw"

    def made(queries=(), texts=TEXTS, expands=False):
        return anserini.AnseriniEngine(jar, Texts("sw", texts.items), folder, {"all": queries}, 2, expands)

    return made


def calls(log: Path) -> list:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_an_index_is_made_once_and_searched_with_every_pair(tmp_path, played, engine):
    log, queries = played(), [Query("q1", "mto\tnile\n?"), Query("q2", "hakuna")]
    for _ in range(2):
        assert engine().passages == 3
    assert [name for name, _ in calls(log)] == ["io.anserini.index.IndexCollection"]
    assert not (tmp_path / "sw/collection").exists() and (tmp_path / "sw/lucene/segment").exists()
    hits = dict(engine(queries).runs("all", [(0.9, 0.4), (0.1, 0.5), (0.1, 0.2)], 7))
    assert list(hits) == [(0.1, 0.2), (0.1, 0.5), (0.9, 0.4)]
    assert hits[0.1, 0.5] == [[("2#0", 0.5), ("1#0", pytest.approx(0.05))], []]
    _, several, one = [flags for _, flags in calls(log)]
    assert (several["-bm25.k1"], several["-bm25.b"], one["-bm25.b"]) == (["0.1"], ["0.2", "0.5"], ["0.4"])
    assert several["-hits"] == ["7"] and several["-language"] == ["sw"] and several["-threads"] == ["2"]


def test_passages_or_runs_that_anserini_leaves_out_are_an_error(tmp_path, played, engine):
    """Numbers may have commas; what is not as announced is an error."""
    played(lost=1)
    with pytest.raises(SteleError, match=r"did not index 3 passages: .*2 documents indexed"):
        engine()
    assert not (tmp_path / "sw/passages.json").exists() and not (tmp_path / "sw/lucene").exists()
    played(writes=False)
    assert engine(texts={str(n): "mto" for n in range(1234)}).passages == 1234
    with pytest.raises(SteleError, match=r"wrote no run for k1 0\.9, b 0\.4"):
        list(engine([Query("q", "x")]).runs("all", [(0.9, 0.4)], 5))


def test_passages_and_questions_without_text_stop_nothing(played, engine):
    """The passages count, as they do for bm25s, and the questions find nothing."""
    played()
    made = engine([Query("q1", "mto"), Query("q2", " \t")], texts={**TEXTS, "4#0": "\n\n", "5#0": "\n\n\x01 "})
    assert made.passages == 5
    assert dict(made.runs("all", [(0.9, 0.4)], 7))[0.9, 0.4][1] == []


def test_expansion_has_its_flags_and_needs_the_vectors(tmp_path, played, engine):
    log, queries = played(), [Query("q1", "mto")]
    for expansion in (Rm3(documents=7), Rm3(filter="none")):
        assert engine(queries, expands=True).expanded("all", (0.9, 0.4), 5, expansion)
    index, ascii_only, unfiltered = [flags for _, flags in calls(log)]
    assert "-storeDocvectors" in index and ascii_only["-rm3.fbDocs"] == ["7"] and ascii_only["-rm3.fbTerms"] == ["10"]
    assert "-rm3" in ascii_only and ascii_only["-rm3.originalQueryWeight"] == ["0.5"]
    assert "-rm3.noTermFilter" not in ascii_only and unfiltered["-rm3.noTermFilter"] == []


def test_without_java_or_a_jar(tmp_path, monkeypatch, engine):
    with pytest.raises(SteleError, match=r"want one file of Anserini, .*fatjar.jar, found none"):
        find_file(tmp_path, *anserini.JAR)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SteleError, match="needs Java 11 or later on PATH"):
        engine()


@pytest.mark.skipif(not (JAR.is_dir() and shutil.which("java")), reason="STELE_ANSERINI names no folder, or no Java")
def test_anserini_itself_finds_what_bm25s_finds(tmp_path):
    """Words that no analyzer changes: the same passages, and the same scores to the four decimals of Anserini's."""
    words = ["zq", "wx", "vk", "jj", "xx", "kz"]
    texts = [" ".join(words[(i * n + n) % 6] for n in range(2 + i % 7)) for i in range(30)]
    dev, test = ({f"{n}#0": texts[n] for n in range(first, first + 5)} for first in (0, 5))
    passages = [{"docid": f"{n}#0", "title": "qz", "text": text} for n, text in enumerate(texts)]
    data = write_mrtydi(tmp_path, "ru", passages, test, dev=dev)
    jar = tmp_path / "jar"
    jar.mkdir()
    (jar / find_file(JAR, *anserini.JAR).name).symlink_to(find_file(JAR, *anserini.JAR))
    recipe = json.dumps({"split": "dev", "k1": [0.9], "b": [0.4, 0.8]})
    line = ["--benchmark", "mrtydi", "--languages", "ru", "--recipe", recipe, "--data", *data]
    collected = {}
    for name, more in (("ours", []), ("theirs", ["--anserini", str(record(jar))])):
        out = ["--state", str(tmp_path / "state" / name), "--output", str(tmp_path / name / "retrieval.json")]
        bm25.run(job(bm25, [*line, *more, *out]))
        collected[name] = json.loads((tmp_path / name / "retrieval.json").read_text())["searches"]["ru"]
        collected[f"{name} run"] = dict(read_run(tmp_path / name / "runs/ru.trec.gz").items())
    assert collected["ours"]["passages"] == collected["theirs"]["passages"] == 30
    for query, hits in collected["theirs run"].items():
        assert dict(collected["ours run"][query]) == {name: pytest.approx(score, abs=2e-4) for name, score in hits}
