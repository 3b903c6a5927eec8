"""Common parts of all search jobs: finished searches, the runs they publish, and training questions."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stele.artifacts.run_files import checked_id, write_run
from stele.benchmarks.arguments import record_count
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Passage, Query, QuerySet, TrainingExample
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_write_json
from stele.files.digests import facts_digest, file_facts
from stele.files.reading import read_state


def topic_options(benchmark: RetrievalReader, name: str, field: str | None) -> dict[str, str]:
    """Keyword arguments with which a benchmark's `queries` reads `field` of its topics; {} for the default field.

    Raises SteleError if the queries of the benchmark have no fields.
    """
    if field is None:
        return {}
    if not benchmark.FIELDS:
        raise SteleError(f"field {field}: the queries of {name} have no fields; leave it out")
    return {"field": field}


def distinct_queries(queries: Iterable[Query], query_set: QuerySet) -> list[Query]:
    """Reads queries of a query set. Raises SteleError for an id that a run cannot hold or that appears twice."""
    where, by_id = f"query set {query_set.name}", {}
    for query in queries:
        if query.id in by_id:
            raise SteleError(f"{where}: query id {query.id!r} appears twice")
        by_id[checked_id(query.id, where)] = query
    return [*by_id.values()]


def expected_passages(inputs: Mapping[str, Path], collection: str, *names: str) -> int | None:
    """Number of passages of a collection according to the records of its data; None if unknown."""
    of_collection = {key: path for key, path in inputs.items() if key.partition(":")[2] in (collection, "all")}
    return record_count(of_collection, *names, part=collection)


def some_passages(passages: Iterable[Passage], wanted: set[str], others: int) -> Iterator[Passage]:
    """Yields the passages whose ids are `wanted`, and the first `others` of all other passages.

    >>> [p.id for p in some_passages([Passage(name, "", "") for name in "abcd"], {"c"}, 1)]
    ['a', 'c']
    """
    missing = set(wanted)
    for passage in passages:
        if passage.id in missing:
            missing.remove(passage.id)
            yield passage
        elif others:
            others -= 1
            yield passage
        elif not missing:
            return


@dataclass(frozen=True)
class FinishedSearches:
    """Finished searches of a job, each a run and its facts in `folder`; facts with another `key` are stale."""

    folder: Path
    key: str = ""

    def run(self, query_set: QuerySet) -> Path:
        """File of a query set's run."""
        return self.folder / f"{query_set.name}.trec.gz"

    def facts(self, query_set: QuerySet) -> dict[str, Any] | None:
        """Facts of a finished search; None if it is not finished, or was made under another key."""
        state = read_state(self.folder / f"{query_set.name}.json")
        return state["facts"] if state and state["key"] == self.key else None

    def save(
        self, query_set: QuerySet, hits: Iterable[tuple[str, Sequence[tuple[str, float]]]], facts: Mapping[str, Any]
    ) -> None:
        """Writes a run of (query id, hits), then its facts, which mark the search as finished."""
        marked = self.folder / f"{query_set.name}.json"
        marked.unlink(missing_ok=True)  # of another key, whose run this one takes the place of
        write_run(self.run(query_set), hits, tag="stele")
        atomic_write_json(marked, {"key": self.key, "facts": facts})

    def publish(self, query_sets: Sequence[QuerySet], folder: Path, job: str) -> dict[str, Any]:
        """Copies the runs of all query sets to `folder`; returns the `outputs` and `content` of their record."""
        with atomic_directory(folder, job) as made:
            for query_set in query_sets:
                shutil.copyfile(self.run(query_set), made / self.run(query_set).name)
        runs = {query_set.name: file_facts(self.run(query_set)) for query_set in query_sets}
        outputs = {f"{folder.name}/{self.run(query_set).name}": runs[query_set.name] for query_set in query_sets}
        return {"outputs": outputs, "content": facts_digest(runs)}


# --- the questions of a training set, and the passages of a collection that answer them, by id or by text -------------
class Questions:
    """Distinct questions of a collection, with the passages that answer them and so cannot be negatives.

    Row i of each list belongs to question i: `positives` are ids, `texts` digests of the positives' texts.
    """

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.positives: list[set[str]] = []
        self.texts: list[set[str]] = []
        self.is_collection_read = False

    def add(self, example: TrainingExample) -> None:
        row = self.rows.setdefault(example.query, len(self.rows))
        if row == len(self.positives):
            self.positives.append(set())
            self.texts.append(set())
        self.positives[row].update(passage.id for passage in example.positives)
        self.texts[row].update(text_digest(passage.text) for passage in example.positives)

    def find_answers(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        """Yields the passages of the collection unchanged; after the last one `excluded` can be called."""
        wanted = set().union(*self.positives)
        self._present: set[str] = set()  # positives that the collection has by id
        self._ids_of_text: dict[str, list[str]] = {text: [] for texts in self.texts for text in texts}
        for passage in passages:
            if (text := text_digest(passage.text)) in self._ids_of_text:
                self._ids_of_text[text].append(passage.id)
            if passage.id in wanted:
                self._present.add(passage.id)
            yield passage
        self.is_collection_read = True

    def excluded(self) -> list[set[bytes]]:
        """Ids of the collection's passages that answer each question, one set per question."""
        excluded = []
        for positives, texts in zip(self.positives, self.texts, strict=True):
            names = positives & self._present
            for text in texts:
                names.update(self._ids_of_text[text])
            excluded.append({name.encode() for name in names})
        return excluded


def text_digest(text: str) -> str:
    """Digest of a text without surrounding white space."""
    return hashlib.blake2b(text.strip().encode(), digest_size=16).hexdigest()
