"""BM25 by Anserini: Lucene itself, with its analyzer of a language, run by Java on the user's own fat jar.

It differs from ours (lucene_bm25.py) in its analyzers, in lengths of one byte, and in its runs, which have scores to
four decimals and, among equal scores, the lowest id first. Written for Anserini 0.25; 0.35 and later need Java 21.
"""

import ctypes
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from stele.artifacts.run_files import read_run
from stele.benchmarks.types import Query
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_write_json
from stele.files.reading import read_state
from stele.recipes.search import Rm3
from stele.retrieval.lexical.engines import Texts
from stele.retrieval.lexical.lucene_bm25 import Hits, Parameters

JOB = "bm25"
JAR = ("*fatjar.jar",), "Anserini, anserini-VERSION-fatjar.jar"
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl
TAIL = 5  # lines of Java's output in an error
BLANK = "".join(map(chr, range(ord(" ") + 1)))  # what Java's `trim` removes


class AnseriniEngine:
    """Searches as `Bm25sEngine`, by Anserini: a Lucene index of whole passages with Lucene's analyzer of the language.

    Raises SteleError if there is no Java. `expands` also stores the terms of each passage, which RM3 reads.
    """

    def __init__(
        self, jar: Path, texts: Texts, folder: Path, splits: Mapping[str, Sequence[Query]], threads: int, expands: bool
    ) -> None:
        if not shutil.which("java"):
            raise SteleError("Anserini needs Java 11 or later on PATH (apt-get install default-jre-headless)")
        self.jar, self.language, self.threads = jar, texts.language, threads
        self.folder, self.splits = folder, splits
        self.passages = self._write_index(texts.read, expands)
        self.facts = {"analyzer": {"of": jar.stem, "language": texts.language}}

    def _write_index(self, read: Callable[[], Iterable[tuple[str, str]]], expands: bool) -> int:
        finished = self.folder / "passages.json"
        if (passages := read_state(finished)) is not None:
            return passages
        with (
            atomic_directory(self.folder / "lucene", JOB) as index,
            atomic_directory(self.folder / "collection", JOB) as collection,
        ):
            total = with_text = 0
            with open(collection / "passages.jsonl", "w", encoding="utf-8") as handle:
                for name, text in read():
                    total += 1
                    if text.strip(BLANK):  # Anserini indexes no other passages
                        with_text += 1
                        handle.write(json.dumps({"id": name, "contents": text}, ensure_ascii=False) + "\n")
            output = self._java(
                "index.IndexCollection",
                *("-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"),
                *("-input", str(collection), "-index", str(index), "-threads", str(self.threads)),
                *(["-storeDocvectors"] if expands else []),
            )
            # its exit status is always 0; some versions write numbers with commas
            if f"{with_text} documents indexed" not in output.replace(",", ""):
                raise SteleError(f"Anserini did not index {with_text} passages: {_tail(output)}")
        shutil.rmtree(self.folder / "collection")
        atomic_write_json(finished, total)
        return total

    def expanded(self, split: str, parameters: Parameters, depth: int, recipe: Rm3) -> list[Hits]:
        ((_, hits),) = self.runs(split, [parameters], depth, recipe)
        return hits

    def runs(
        self, split: str, grid: Sequence[Parameters], depth: int, expansion: Rm3 | None = None
    ) -> Iterator[tuple[Parameters, list[Hits]]]:
        """Yields each (k1, b) with its hits (RM3: `expansion`), one Java process per k1. Raises SteleError for none."""
        queries = self.splits[split]
        for k1, pairs in groupby(sorted(grid), key=lambda parameters: parameters[0]):
            values = [b for _, b in pairs]
            with atomic_directory(self.folder / "runs", JOB) as runs:
                texts = [" ".join(query.text.split()).strip(BLANK) for query in queries]
                # Anserini reads no file with a topic without text
                lines = (f"{number}\t{text}\n" for number, text in enumerate(texts) if text)
                (runs / "topics.tsv").write_text("".join(lines), encoding="utf-8")
                output = self._java(
                    "search.SearchCollection",
                    *("-index", str(self.folder / "lucene"), "-topics", str(runs / "topics.tsv")),
                    *("-topicReader", "TsvString", "-output", str(runs / "run"), "-hits", str(depth)),
                    *("-threads", str(self.threads), "-bm25", "-bm25.k1", str(k1), "-bm25.b", *map(str, values)),
                    *(_rm3(expansion) if expansion else []),
                )
                for b in values:
                    # with several parameters the file's name has their values
                    path = runs / ("run" if len(values) == 1 else f"run_bm25(k1={float(k1)},b={float(b)})_default")
                    if not path.exists():
                        raise SteleError(f"Anserini wrote no run for k1 {k1}, b {b}: {_tail(output)}")
                    yield (k1, b), _hits(path, len(queries))

    def _java(self, command: str, *arguments: str) -> str:
        """Runs a command of Anserini and returns its output; Java is killed when this process ends."""
        line = ["java", "-cp", str(self.jar), f"io.anserini.{command}", *arguments, "-language", self.language]
        done = subprocess.run(line, capture_output=True, text=True, errors="replace", preexec_fn=_end_with_parent)
        output = done.stdout + done.stderr
        if done.returncode:
            raise SteleError(f"{' '.join(line[:4])} failed ({done.returncode}): {_tail(output)}")
        return output


def _rm3(recipe: Rm3) -> list[str]:
    """Anserini's flags for RM3; `-rm3.noTermFilter`, which has no value, allows it to add any term."""
    flags = ["-rm3", "-rm3.fbDocs", str(recipe.documents), "-rm3.fbTerms", str(recipe.terms)]
    flags += ["-rm3.originalQueryWeight", str(recipe.original_weight)]
    return [*flags, "-rm3.noTermFilter"] if recipe.filter == "none" else flags


def _hits(path: Path, queries: int) -> list[Hits]:
    if not path.stat().st_size:
        return [[] for _ in range(queries)]
    run = read_run(path)
    return [run.hits(str(number)) for number in range(queries)]


def _tail(output: str) -> str:
    return " | ".join(line.strip() for line in output.strip().splitlines()[-TAIL:])


def _end_with_parent() -> None:
    """Makes Java end with its parent, so that no orphan keeps writing; runs in the child before Java starts."""
    if os.uname().sysname == "Linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
