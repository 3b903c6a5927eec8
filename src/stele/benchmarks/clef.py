"""CLEF 2000-2003 ad hoc, queries in one language and documents in another: re-ranking of the judged documents.

A query set is a pair `en-de` (query language, document language). All judged documents of a query are its candidates
(Yu et al., section 5.1.3); a run's files may be the folds of a cross-validation.

Each language is a test collection: a part `de` of the dataset, or the folder `de` of a dataset given as a whole, with
its documents, the topics in this language (`*topics*`) and the judgments of its documents (`*qrels*`), in one or more
files each. Topics have the same numbers in all languages. To score runs, the judgments of a pair suffice, as part
`en-de`. Any dataset with this layout can be read.
"""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from stele.benchmarks._files import folder_of, refuse_again
from stele.benchmarks._topics import by_judgments, topics
from stele.benchmarks._trec import read_qrels
from stele.benchmarks.collection import files_named, layout, passages_once, qrels_file
from stele.benchmarks.reader import RetrievalReader, checked_pairs
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet
from stele.catalogue.user_data import QRELS, TOPICS
from stele.errors import SteleError

FIELDS = ("title", "description")  # a topic's fields that make its query (Yu et al., section 5.1.1)
logger = logging.getLogger(__name__)


class Clef(RetrievalReader):
    AVERAGE = "macro"  # mean over pairs; of a pair, over queries, so that folds weigh by their queries

    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """Makes a query set for each pair; the collection is the documents' language. Raises SteleError for others."""
        pairs = checked_pairs(languages, "query and document language, e.g. en-de")
        return [QuerySet(pair, pair, pair.partition("-")[2]) for pair in pairs]

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields judged topics (title, description) in the queries' language. Raises SteleError if one lacks them."""
        language = _query_language(query_set)
        for number, fields in _topics(data, query_set).items():
            if missing := next((name for name in FIELDS if not fields.get(name)), None):
                raise SteleError(
                    f"topics in {language}: topic {number} has no {missing}; a query is title and description"
                )
            yield Query(number, " ".join(fields[name] for name in FIELDS))

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Maps topic id -> {document id: relevance} for the topics or, if none are given, for all judgments."""
        judged = self.all_judgments(data, query_set)
        if not _topic_files(data, _query_language(query_set)):
            return judged
        return {number: judged[number] for number in _topics(data, query_set)}

    def all_judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Judgments of all topics, with or without a query in this language: the same for all query languages."""
        pair, language = query_set.name, query_set.collection
        files = [qrels_file(parts[pair]) for parts in data.values() if pair in parts]
        files = files or [path for _, path in files_named(of_language(data, language), language, QRELS)]
        files = files or [qrels_file(folder_of(data, next(iter(data), "clef"), pair))]
        judged: Judgments = {}
        for path in files:
            for topic, documents in read_qrels(path).items():
                judged[refuse_again(topic, judged, str(path), "topic")] = documents
        return judged

    def passages(self, data: Data, name: str) -> Iterator[Passage]:
        """Yields the documents in a language, each id once. Raises SteleError if the data lack the language."""
        selected = of_language(data, name)
        if not selected:
            folder = folder_of(data, next(iter(data), "clef"), name)
            raise SteleError(
                f"{folder}: no folder {name} in it; want one for each language, with its documents, topics, judgments"
            )
        yield from passages_once(selected, name)


def _topics(data: Data, query_set: QuerySet) -> dict[str, dict[str, str]]:
    """Judged topics in the queries' language, by their ids in the judgments. Raises SteleError if there are none."""
    language, read = _query_language(query_set), {}
    files = _topic_files(data, language)
    for dataset, path in files:
        for number, fields in topics(path, language, layout(dataset).encoding).items():
            read[refuse_again(number, read, str(path), "topic")] = fields
    if not files:
        raise SteleError(
            f"{query_set.name}: no topics in {language}; want files named *topics* in the folder {language}"
        )
    judged = Clef().all_judgments(data, query_set)
    known = by_judgments(read, judged, files[0][1])
    if not known:
        raise SteleError(
            f"{files[0][1]}: none of its topics ({next(iter(read))}, ...) is judged in {query_set.collection} "
            f"({next(iter(judged))}, ...): they are of different collections"
        )
    if lacking := len(judged) - len(known):
        logger.warning("%s: %d of %d judged topics have no query in %s", query_set.name, lacking, len(judged), language)
    return known


def _query_language(query_set: QuerySet) -> str:
    return query_set.name.partition("-")[0]


def _topic_files(data: Data, language: str) -> list[tuple[str, Path]]:
    return files_named(of_language(data, language), language, TOPICS)


def of_language(data: Data, language: str) -> Data:
    """Selects the data of one language: its part, or its folder in a dataset that is given as a whole."""
    folders = {name: parts.get(language) or _inside(parts.get("all"), language) for name, parts in data.items()}
    return {name: {language: folder} for name, folder in folders.items() if folder}


def _inside(folder: Path | None, language: str) -> Path | None:
    return folder / language if folder and (folder / language).is_dir() else None
