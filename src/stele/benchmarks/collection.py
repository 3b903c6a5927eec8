"""Ad hoc test collections in one language: topics that ask for documents, judged in TREC's layout.

Shi et al., table 1, has six, and one of your own is read by the same code: benchmarks.yaml names its datasets, and
`collection` in datasets.yaml says how they are written. A passage is a whole document. Topics are those that the
judgments know, by the id that they have there (AR26 and SP1 are 26 and 1 in TREC's); judgments are those of the topics
(NTCIR-8 judges 100, of which 73 are topics: trec_eval takes the mean over those that were run). Of a document whose id
comes twice the last one stands, as in an index that is updated.

The files of a collection are found by their names: topics, judgments, and documents. A file of topics or of judgments
may be given itself, the latter under any name.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from stele import catalogue
from stele.benchmarks._files import below, folder_of, lines
from stele.benchmarks._topics import by_judgments, topics
from stele.benchmarks._trec import TAGS, Document, Text, documents, read_qrels
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet
from stele.catalogue.schema.datasets import Collection, Dataset
from stele.catalogue.user_data import QRELS, TOPICS, document_files, role
from stele.errors import SteleError

logger = logging.getLogger(__name__)


class AdHocCollection(RetrievalReader):
    AVERAGE = "micro"  # mean over topics
    FIELDS = True

    def queries(self, data: Data, query_set: QuerySet, field: str | None = None) -> Iterator[Query]:
        """The judged topics, by one field of theirs: what the catalogue says (title), or `field`."""
        dataset, path = topics_file(data, query_set.language)
        facts = layout(dataset)
        name = field or facts.field
        for number, fields in _topics(data, query_set.language).items():
            if not fields.get(name):
                have = ", ".join(key for key, text in fields.items() if text) or "nothing"
                raise SteleError(f"{path}: topic {number} has no {name}; it has {have}. Take another `field`")
            yield Query(number, fields[name])

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Topic id -> {document id: relevance}; of all that is judged where no topics are given."""
        judged = read_qrels(judgments_file(data, query_set.language))
        if not has_topics(data, query_set.language):
            return judged
        return {number: judged[number] for number in _topics(data, query_set.language)}

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """The documents, each id once; an empty one is a document, too. Raises SteleError where all are empty."""
        number, repeated = _ids(data, collection)
        if repeated:
            logger.warning(
                "%s: %d ids come again (%s); the last document stands", collection, len(repeated), min(repeated)
            )
        has_text = False
        for text, document in all_documents(data, collection):
            if repeated[document.id]:
                repeated[document.id] -= 1
            else:
                yield (passage := Passage(document.id, document.title, text.of(document)))
                has_text = has_text or bool(passage.text or passage.title)
        if not has_text:
            raise SteleError(
                f"{', '.join(map(str, folders(data, collection).values()))}: none of {number:,} documents has text in "
                "a tag that is read; name the tags that hold it in the dataset's `collection: {tags: [...]}`"
            )


def document_counts(data: Data, collection: str) -> tuple[int, int]:
    """(documents, how many more stand in the files under the id of a later one)."""
    number, repeated = _ids(data, collection)
    return number, repeated.total()


def _ids(data: Data, collection: str) -> tuple[int, Counter[str]]:
    """How many ids there are, and how often some come once more."""
    seen: set[str] = set()
    repeated: Counter[str] = Counter()
    for _, document in all_documents(data, collection):
        if document.id in seen:
            repeated[document.id] += 1
        seen.add(document.id)
    if not seen:
        where = ", ".join(map(str, folders(data, collection).values()))
        raise SteleError(f"{where}: no document in it; it should hold the collection's files")
    return len(seen), repeated


def _topics(data: Data, language: str) -> dict[str, dict[str, str]]:
    """The judged topics by the ids of the judgments."""
    dataset, path = topics_file(data, language)
    judged = read_qrels(judged_path := judgments_file(data, language))
    read = topics(path, language, layout(dataset).encoding)
    known = by_judgments(read, judged)
    if lacking := len(read) - len(known):
        logger.warning("%s: %d of %d topics have no judgments and are left out", path, lacking, len(read))
    if not known:
        raise SteleError(f"{path}: none of its topics ({next(iter(read))}, ...) is judged in {judged_path} "
                         f"({next(iter(judged))}, ...): they are of different collections")  # fmt: skip
    return known


def qrels_file(folder: Path) -> Path:
    """The one file of a folder that holds judgments."""
    return folder if folder.is_file() else _the_one(folder, QRELS, "judgments, named *qrels*")


def folders(data: Data, language: str) -> dict[str, Path]:
    """dataset -> the folder of a collection's language; those whose files the catalogue names come first."""
    parts = {name: parts_of.get(language) or parts_of.get("all") for name, parts_of in data.items()}
    known = catalogue.entries(Dataset)
    order = sorted(parts, key=lambda name: not (name in known and known[name].files))
    return {name: Path(folder) for name in order if (folder := parts[name])} or {"": folder_of(data, "", language)}


def judgments_file(data: Data, language: str) -> Path:
    """The file of judgments, of the first of the datasets that has one."""
    return _first(data, language, QRELS, "judgments, named *qrels*")[1]


def topics_file(data: Data, language: str) -> tuple[str, Path]:
    """(dataset, its file of topics), of the first of the datasets that has one."""
    return _first(data, language, TOPICS, "topics, named *topics*")


def files_named(data: Data, language: str, wanted: re.Pattern[str]) -> list[tuple[str, Path]]:
    """(dataset, file) of all that bear such a name (`QRELS`, `TOPICS`), where a collection has several."""
    by_dataset = folders(data, language) if data else {}
    return [(dataset, path) for dataset, folder in by_dataset.items() for path in _named(folder, wanted)]


def has_topics(data: Data, language: str) -> bool:
    """Whether topics are among what was given; judgments may be given alone."""
    return any(_named(folder, TOPICS) for folder in folders(data, language).values())


def layout(dataset: str) -> Collection:
    """What the catalogue says of how a dataset's texts are written."""
    known = catalogue.entries(Dataset)
    return (known[dataset].collection if dataset in known else None) or Collection()


def all_documents(data: Data, language: str) -> Iterator[tuple[Text, Document]]:
    """Every document, with the function that reads its text; repeated ids are kept. Files come in order of name."""
    for dataset, folder in folders(data, language).items():
        facts = layout(dataset)
        text = Text(facts.tags or TAGS, facts.encoding)
        for path in _document_files(folder, facts.documents):
            yield from ((text, document) for document in documents(path))


def _document_files(folder: Path, patterns: list[str]) -> list[Path]:
    if folder.is_file():
        return [] if role(folder) else [folder]
    return [Path(path) for path in document_files(sorted(str(path) for path in below(folder)), patterns)]


def _named(folder: Path, wanted: re.Pattern[str]) -> list[Path]:
    if folder.is_file():
        actual = role(folder) or (QRELS if _looks_judged(folder) else None)
        return [folder] if actual is wanted else []
    return sorted(path for path in below(folder) if role(path) is wanted)


@cache
def _looks_judged(path: Path) -> bool:
    """Whether a file that is given itself, under any name, is one of judgments."""
    columns = next((line.split() for _, line in lines(path) if line.strip()), [])
    return len(columns) == 4 and re.fullmatch(r"[+-]?[0-9]+", columns[3]) is not None


def _first(data: Data, language: str, wanted: re.Pattern[str], what: str) -> tuple[str, Path]:
    by_dataset = folders(data, language)
    for dataset, folder in by_dataset.items():
        if _named(folder, wanted):
            return dataset, folder if folder.is_file() else _the_one(folder, wanted, what)
    raise SteleError(f"{', '.join(map(str, by_dataset.values()))}: want one file of {what}; found none")


def _the_one(folder: Path, wanted: re.Pattern[str], what: str) -> Path:
    files = _named(folder, wanted)
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise SteleError(f"{folder}: want one file of {what}; found {names}. Keep one there, or give the file itself")
    return files[0]
