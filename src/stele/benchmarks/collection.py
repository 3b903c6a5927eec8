"""Ad hoc test collections in one language: topics that ask for documents, judged in TREC's layout.

Shi et al., table 1, has six, and one of your own is read by the same code: benchmarks.yaml names its datasets, and
`collection` in datasets.yaml says how they are written. A passage is a whole document. Topics are those that the
judgments know, by the id that they have there (AR26 and SP1 are 26 and 1 in TREC's); judgments are those of the topics
(NTCIR-8 judges 100, of which 73 are topics: trec_eval takes the mean over those that were run). Of a document whose id
comes twice the last one stands, as in an index that is updated.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence

from stele.benchmarks import _collection
from stele.benchmarks._qrels import read_qrels
from stele.benchmarks._topics import by_judgments, topics
from stele.benchmarks.types import Data, Passage, Query, QuerySet
from stele.errors import SteleError

AVERAGE = "micro"  # mean over topics
logger = logging.getLogger(__name__)


def query_sets(languages: Sequence[str]) -> list[QuerySet]:
    """One query set a language, each with its collection."""
    return [QuerySet(language, language, language) for language in languages]


def queries(data: Data, query_set: QuerySet, field: str | None = None) -> Iterator[Query]:
    """The judged topics, by one field of theirs: what the catalogue says (title), or `field`."""
    dataset, path = _collection.topics_file(data, query_set.language)
    facts = _collection.layout(dataset)
    name = field or facts.field
    for number, fields in _topics(data, query_set.language).items():
        if not fields.get(name):
            have = ", ".join(key for key, text in fields.items() if text) or "nothing"
            raise SteleError(f"{path}: topic {number} has no {name}; it has {have}. Take another `field`")
        yield Query(number, fields[name])


def judgments(data: Data, query_set: QuerySet) -> _collection.Judgments:
    """Topic id -> {document id: relevance}; of all that is judged where no topics are given."""
    judged = read_qrels(_collection.judgments_file(data, query_set.language))
    if not _collection.has_topics(data, query_set.language):
        return judged
    return {number: judged[number] for number in _topics(data, query_set.language)}


def passages(data: Data, collection: str) -> Iterator[Passage]:
    """The documents, each id once; an empty one is a document, too."""
    _, repeated = _ids(data, collection)
    if repeated:
        logger.warning("%s: %d ids come again (%s); the last document stands", collection, len(repeated), min(repeated))
    for text, document in _collection.all_documents(data, collection):
        if repeated[document.id]:
            repeated[document.id] -= 1
        else:
            yield Passage(document.id, document.title, text.of(document))


def document_counts(data: Data, collection: str) -> tuple[int, int]:
    """(documents, how many more stand in the files under the id of a later one)."""
    number, repeated = _ids(data, collection)
    return number, repeated.total()


def _ids(data: Data, collection: str) -> tuple[int, Counter[str]]:
    """How many ids there are, and how often some come once more."""
    seen: set[str] = set()
    repeated: Counter[str] = Counter()
    for _, document in _collection.all_documents(data, collection):
        if document.id in seen:
            repeated[document.id] += 1
        seen.add(document.id)
    if not seen:
        where = ", ".join(map(str, _collection.folders(data, collection).values()))
        raise SteleError(f"{where}: no document in it; it should hold the collection's files")
    return len(seen), repeated


def _topics(data: Data, language: str) -> dict[str, dict[str, str]]:
    """The judged topics by the ids of the judgments."""
    dataset, path = _collection.topics_file(data, language)
    judged = read_qrels(judged_path := _collection.judgments_file(data, language))
    read = topics(path, language, _collection.layout(dataset).encoding)
    known = by_judgments(read, judged)
    if lacking := len(read) - len(known):
        logger.warning("%s: %d of %d topics are not judged and left out", path, lacking, len(read))
    if not known:
        raise SteleError(f"{path}: none of its topics ({next(iter(read))}, ...) is judged in {judged_path} "
                         f"({next(iter(judged))}, ...): they are of different collections")  # fmt: skip
    return known
