"""Data as small as the tests need them, with their records."""

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from stele.command.arguments import Job
from stele.retrieval import retrieve
from tests.jobs import job
from tests.killing import kill_at, killed
from tests.sealed import write_sealed

SPEC = {"pooling": "mean", "query_length": 16, "passage_length": 16}
WORDS = ["river", "nile", "flows", "through", "uganda", "egypt", "who", "wrote", "first", "novel", "city", "capital"]


def retrieving(
    tmp_path: Path,
    encoder: Path,
    data: list[str],
    name: str = "out",
    *more: str,
    benchmark: str = "mrtydi",
    languages: Iterable[str] = ("sw", "th"),
    depth: int = 20,
    spec: Mapping[str, Any] = SPEC,
) -> Job:
    """A job of `retrieve` on one thread, whose output is in the folder `name`."""
    line = ["--benchmark", benchmark, "--languages", *languages, "--encoder", str(encoder), "--depth", str(depth)]
    line += ["--encoding", json.dumps(spec), "--data", *data, "--state", str(tmp_path / "state" / name)]
    return job(retrieve, [*line, "--threads", "1", "--output", str(tmp_path / name / "retrieval.json"), *more])


def record(folder: Path, **facts) -> Path:
    return write_sealed(folder / "record.json", {"job": "x", "labels": [], **facts})


def put(path: Path, items: Iterable[Any]) -> None:
    """Writes a file of JSON lines, compressed as its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(item) + "\n" for item in items)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def goes_on(command: ModuleType, made: Callable[[str], Job], *fault: Any) -> None:
    """A job that is killed at a call of a function and run again writes the files of one that is not."""
    whole, cut = made("whole"), made("killed")
    command.run(whole)
    killed(lambda: command.run(cut), kill_at(*fault))
    assert not cut.output.exists()
    command.run(cut)
    assert files(cut.output.parent) == files(whole.output.parent)
    assert not cut.state.exists()


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def files(folder: Path) -> dict[str, bytes]:
    """Name -> bytes of the runs and tables that a command has written."""
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.suffix in (".gz", ".parquet")}


def write_mrtydi(
    folder: Path, language: str, passages: Iterable[Any], test: Mapping[str, str], **more: Mapping[str, str]
) -> list[str]:
    """Mr. TyDi's files in a language: passages (rows, or texts of 0#0, 1#0, ...), and passage -> its question by split.

    Returns the command line's data. The questions of a split are called 0, 1, ...
    """
    rows = [
        row if isinstance(row, dict) else {"docid": f"{n}#0", "title": "", "text": row}
        for n, row in enumerate(passages)
    ]
    put(folder / language / "c/corpus.jsonl.gz", rows)
    for split, questions in {"test": test, **more}.items():
        topics = [{"query_id": str(n), "query": text} for n, text in enumerate(questions.values())]
        put(folder / language / f"t/{split}.jsonl.gz", topics)
        judged = "".join(f"{n} Q0 {passage} 1\n" for n, passage in enumerate(questions))
        (folder / language / f"t/qrels.{split}.txt").write_text(judged)
    return recorded_parts(folder, language, mrtydi="t", mrtydi_corpus="c")


def recorded_parts(folder: Path, language: str, **parts: str) -> list[str]:
    """The command line's data of datasets (dataset -> folder) in a language, with a record each."""
    given = []
    for dataset, part in parts.items():
        path = record(folder / language / part, content=f"{language}{part}", labels=["generated data"])
        given.append(f"{dataset}:{language}={path}")
    return given
