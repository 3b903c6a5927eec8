"""Common parts of all search jobs: finished searches, the runs they publish, and training questions."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stele.artifacts.run import Hits
from stele.artifacts.run_files import checked_id, copy_runs, write_run
from stele.benchmarks.arguments import record_count
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import LeftOut, Passage, Query, QuerySet, TrainingExample
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
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


def query_sets(benchmark: RetrievalReader, name: str, languages: Sequence[str]) -> list[QuerySet]:
    """Query sets of a benchmark in some languages. Raises SteleError if there are none (`en` of Tatoeba)."""
    if sets := benchmark.query_sets(languages):
        return sets
    raise SteleError(f"{name}: found no query set of {', '.join(languages)}; see --languages")


def distinct_queries(queries: Iterable[Query], where: str, kind: str = "query") -> list[Query]:
    """Reads the queries. Raises SteleError for none, and for an id that a run cannot hold or that appears twice."""
    by_id: dict[str, Query] = {}
    for query in queries:
        if query.id in by_id:
            raise SteleError(f"{where}: query id {query.id!r} appears twice")
        by_id[checked_id(query.id, where)] = query
    if not by_id:
        raise SteleError(f"{where} has no {kind} in the data")
    return [*by_id.values()]


def expected_passages(inputs: Mapping[str, Path], collection: str) -> int | None:
    """Number of passages of a collection according to the records of its data; None if unknown."""
    of_collection = {key: path for key, path in inputs.items() if key.partition(":")[2] in (collection, "all")}
    return record_count(of_collection, "passages", "candidates", part=collection)


def ranked_hits(
    queries: Iterable[Query], hits: Iterable[Hits], left_out: LeftOut, depth: int
) -> Iterator[tuple[str, Hits]]:
    """Yields each query's id and hits, cut after the `depth`-th one that is not left out."""
    for query, hits_of_query in zip(queries, hits, strict=True):
        yield query.id, left_out.cut(query.id, hits_of_query, depth)


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
    """Finished searches of a job, each a run and its facts in `folder`, which belongs to this job's recipe alone."""

    folder: Path

    def run(self, query_set: QuerySet) -> Path:
        """File of a query set's run."""
        return self.folder / f"{query_set.name}.trec.gz"

    def facts(self, query_set: QuerySet) -> dict[str, Any] | None:
        """Facts of a finished search; None if it is not finished."""
        return read_state(self.folder / f"{query_set.name}.json")

    def save(self, query_set: QuerySet, hits: Iterable[tuple[str, Hits]], facts: Mapping[str, Any]) -> None:
        """Writes a run of (query id, hits), then its facts, which mark the search as finished."""
        write_run(self.run(query_set), hits, tag="stele")
        atomic_write_json(self.folder / f"{query_set.name}.json", facts)

    def publish(self, query_sets: Sequence[QuerySet], folder: Path, job: str) -> dict[str, Any]:
        """Copies the runs of all query sets to `folder`; returns the `outputs` and `content` of their record."""
        return copy_runs({query_set.name: self.run(query_set) for query_set in query_sets}, folder, job)


# --- the questions of a training set, and the passages of a collection that answer them, by id or by text -------------
class Questions:
    """Distinct questions of a collection, with the passages that answer them and so cannot be negatives.

    `positives` maps a question to the ids of its positives, `texts` to the digests of their texts.
    """

    def __init__(self) -> None:
        self.positives: defaultdict[str, set[str]] = defaultdict(set)
        self.texts: defaultdict[str, set[str]] = defaultdict(set)
        self.is_collection_read = False

    def add(self, example: TrainingExample) -> None:
        self.positives[example.query].update(passage.id for passage in example.positives)
        self.texts[example.query].update(text_digest(passage.text) for passage in example.positives if passage.text)

    def find_answers(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        """Yields the passages of the collection unchanged; after the last one `excluded` can be called."""
        wanted = set().union(*self.positives.values())
        self._present: set[str] = set()  # positives that the collection has by id
        self._ids_of_text: dict[str, list[str]] = {text: [] for text in set().union(*self.texts.values())}
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
        for question, positives in self.positives.items():
            names = positives & self._present
            for text in self.texts[question]:
                names.update(self._ids_of_text[text])
            excluded.append({name.encode() for name in names})
        return excluded


def text_digest(text: str) -> str:
    """Digest of a text without surrounding white space."""
    return hashlib.blake2b(text.strip().encode(), digest_size=16).hexdigest()
