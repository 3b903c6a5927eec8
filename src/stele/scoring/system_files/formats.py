"""Readers of a system's output files, told apart by content: runs, predictions, pairs of embeddings, our records.

TREC run (txt)              query Q0 passage rank score tag
ranx run (JSON, Parquet)    {query: {passage: score}}; columns q_id, doc_id, score
XOR predictions (JSON)      [{"id", "lang", "ctxs": [passage text, ...]}], best first (eval_xor_retrieve.py)
answers (JSON)              {question id: answer}, as the MLQA and SQuAD scripts read them
embeddings (npy,npy)        two float arrays [n, d]; row i of one belongs to row i of the other
retrieval record (JSON)     the record that `retrieval retrieve` writes, with runs/ beside it
record of vectors (JSON)    a result's vectors.json, with vectors/ beside it, or with runs/ as a retrieval record
record of answers (JSON)    a result's answers.json, with answers/ beside it
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from stele.artifacts import run_files
from stele.artifacts.records import Record
from stele.artifacts.run import Run, make_run
from stele.artifacts.run_files import read_own_run, read_run, runs_of
from stele.benchmarks.types import QuerySet
from stele.errors import SteleError
from stele.files.paths import relative
from stele.files.reading import open_unpacked, parse_json, read_object, reading, refuse_pipe


@dataclass
class Output:
    """A system's output; fields that the file does not fill are empty.

    `runs` maps a query set, or None for a run that may hold several, to its run; `answers` maps it to {question id:
    answer}; `vectors` maps a language, or None for files that do not say theirs, to its pair of embeddings. `texts` are
    passages that came with the file (passage id -> text), `languages` are the languages that it states (question id ->
    language), `record` is Stele's record of the output.
    """

    path: Path
    runs: dict[QuerySet | None, Run] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    answers: dict[QuerySet | None, dict[str, str]] = field(default_factory=dict)
    vectors: dict[str | None, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    record: Record = field(default_factory=dict)


def read_output(files: str) -> Output:
    """Reads a file (or two embedding files, joined by a comma) of any of the formats. Raises SteleError for others."""
    path = Path(files)
    refuse_pipe(path)
    with reading(files, "system's output"):
        if files.lower().endswith(".npy"):
            return _embeddings(files)
        with open_unpacked(path) as handle:
            start = handle.read(64).removeprefix(b"\xef\xbb\xbf")
        if start.startswith(b"PAR1"):
            return Output(path, {None: run_files.from_parquet(path)})
        if start.lstrip()[:1] in (b"{", b"["):
            return _json(path)
        return Output(path, {None: read_run(path)})


def output_paths(files: str) -> list[Path]:
    """Paths of an output: those of embeddings, which a comma joins, else the file, whose name may have a comma."""
    return [Path(name) for name in (files.split(",") if files.lower().endswith(".npy") else [files])]


def _json(path: Path) -> Output:
    with open_unpacked(path) as handle:
        content = handle.read()
    value = parse_json(content, path)
    if isinstance(value, list):
        return _xor_predictions(value, path)
    if isinstance(value.get("searches"), dict):
        return _retrieval(value, path)
    if isinstance(value.get("vectors"), dict):
        return _vectors(value, path)
    if isinstance(value.get("answered"), dict):
        return _answers(value, path)
    kinds = {type(item) for item in value.values()}
    if kinds == {str}:
        return Output(path, answers={None: value})
    if kinds == {dict}:
        return Output(path, {None: run_files.from_json(value, path)})
    types = ", ".join(sorted(kind.__name__ for kind in kinds)) or "nothing"
    raise SteleError(f"{path}: want {{query: {{passage: score}}}} or {{question: answer}}, found values of {types}")


def _xor_predictions(items: list[Any], path: Path) -> Output:
    """XOR-Retrieve's predictions: `ctxs` are texts (or objects with a text), best first, named by their rank."""
    queries, names, scores, output = [], [], [], Output(path)
    for number, item in enumerate(items, start=1):
        where = f"{path}, item {number}"
        if not isinstance(item, dict) or not isinstance(item.get("ctxs"), list) or "id" not in item:
            raise SteleError(f"{where}: want an object {{id, lang, ctxs: [passage text, ...]}}")
        query = str(item["id"])
        if query in output.languages:
            raise SteleError(f"{where}: question {query!r} appears twice (the official script would count it twice)")
        output.languages[query] = str(item.get("lang") or "").strip()
        for rank, context in enumerate(item["ctxs"], start=1):
            text = context.get("text") if isinstance(context, dict) else context
            if not isinstance(text, str):
                raise SteleError(f"{where}: ctxs {rank}: want a passage's text, found {type(context).__name__}")
            name = f"{query}#{rank}"
            output.texts[name] = text
            queries.append(query)
            names.append(name)
            scores.append(-rank)
    output.runs[None] = make_run(queries, names, scores, path, output.languages)
    return output


def _retrieval(record: Record, path: Path) -> Output:
    runs: dict[QuerySet | None, Run] = {}
    for name, run in runs_of(record, path.parent).items():
        facts = record["searches"][name]
        runs[QuerySet(name, facts["language"], facts["pool"])] = read_own_run(run)
    if not runs:
        raise SteleError(f"{path}: want a retrieval record; found no search in `searches`")
    return Output(path, runs, record=record)


def _answers(record: Record, path: Path) -> Output:
    answers: dict[QuerySet | None, dict[str, str]] = {}
    for name, facts in record["answered"].items():
        file = path.parent / "answers" / f"{relative(name, str(path))}.json"
        texts = read_object(file)
        if not all(isinstance(answer, str) for answer in texts.values()):
            raise SteleError(f"{file}: want an object {{question: answer}} with strings only")
        answers[QuerySet(name, facts["language"], facts["pool"])] = texts
    return Output(path, answers=answers, record=record)


def _vectors(record: Record, path: Path) -> Output:
    pairs = {
        language: _pair([path.parent / relative(facts[side], str(path)) for side in ("queries", "passages")])
        for language, facts in record["vectors"].items()
    }
    return Output(path, vectors=pairs, record=record)


def _embeddings(files: str) -> Output:
    paths = output_paths(files)
    if len(paths) != 2:
        raise SteleError(f"--run {files!r}: want a pair of embeddings, FIRST.npy,SECOND.npy, rows being translations")
    return Output(paths[0], vectors={None: _pair(paths)})


def _pair(paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    """Reads two files of float arrays [n, d] of one shape, whose rows belong together; returns float32."""
    arrays = []
    for path in paths:
        with reading(path, "npy file"):
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        if array.ndim != 2 or array.dtype.kind != "f" or not len(array):
            raise SteleError(f"{path}: want floats [sentences, dimension], found {array.dtype} {list(array.shape)}")
        if not np.isfinite(array).all():
            raise SteleError(f"{path}: row {int(np.argmin(np.isfinite(array).all(axis=1)))} (from 0) is not finite")
        arrays.append(np.asarray(array, dtype=np.float32))
    if arrays[0].shape != arrays[1].shape:
        shapes = f"{list(arrays[0].shape)} and {list(arrays[1].shape)}"
        raise SteleError(f"{paths[0]}, {paths[1]}: want arrays of one shape, row i belonging to row i; found {shapes}")
    return arrays[0], arrays[1]
