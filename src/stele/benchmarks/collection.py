"""Read ad hoc test collections in one language: topics, documents, and judgments in TREC's layout.

Table 1 of Shi et al. has six of them, and the same code reads your own collection: benchmarks.yaml names its datasets,
and `collection` in datasets.yaml describes their layout. A passage is a whole document. Only judged topics count, under
their ids in the judgments (AR26 and SP1 are 26 and 1 in TREC's), and only judgments of these topics (NTCIR-8 judges
100, of which 73 are topics: trec_eval takes the mean over those that were run). If documents share an id, the last one
counts, as in an index that is updated.

The files of a collection (topics, judgments, documents) are found by their names. A file of topics or of judgments may
be given itself, the latter under any name.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from stele import catalogue
from stele.benchmarks._files import below, folder_of, lines
from stele.benchmarks._topics import by_judgments, topics
from stele.benchmarks._trec import TAGS, Document, Text, documents, read_qrels, warn_missing_judged
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
        """Yields the judged topics' text in `field` (default: the catalogue's). Raises SteleError if one lacks it."""
        dataset, path = topics_file(data, query_set.language)
        facts = layout(dataset)
        name = field or facts.field
        for number, fields in _topics(data, query_set.language).items():
            if not fields.get(name):
                have = ", ".join(key for key, text in fields.items() if text) or "nothing"
                raise SteleError(f"{path}: topic {number} has no {name}; it has {have}. Choose another `field`")
            yield Query(number, fields[name])

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Maps topic id -> {document id: relevance}, for the data's topics; without topics, for all judged ones."""
        judged = read_qrels(judgments_file(data, query_set.language))
        if not files_named(data, query_set.language, TOPICS):
            return judged
        return {number: judged[number] for number in _topics(data, query_set.language)}

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Yields the documents as `passages_once`; logs the number of judged ones that are missing."""
        judged = read_qrels(judgments_file(data, collection)) if files_named(data, collection, QRELS) else {}
        yield from warn_missing_judged(passages_once(data, collection), judged, collection)


def passages_once(data: Data, collection: str) -> Iterator[Passage]:
    """Yields the documents, each id once, empty ones included. Raises SteleError if all of them are empty."""
    number, repeated = document_ids(data, collection)
    if repeated:
        message = "%s: document ids that occur more than once: %d (as %s); the last document of each is read"
        logger.warning(message, collection, len(repeated), min(repeated))
    has_text = False
    for text, document in all_documents(data, collection):
        if repeated[document.id]:
            repeated[document.id] -= 1
        else:
            # the headline of SGML is in its text, too; these benchmarks' encodings read no title
            whole = "\n\n".join(filter(None, (document.title, text.of(document))))
            yield Passage(document.id, "", whole)
            has_text = has_text or bool(whole)
    if not has_text:
        raise SteleError(
            f"{', '.join(map(str, folders(data, collection).values()))}: none of {number:,} documents has text in "
            "a tag that is read; name the tags that hold it in the dataset's `collection: {tags: [...]}`"
        )


def document_ids(data: Data, collection: str) -> tuple[int, Counter[str]]:
    """Counts (distinct ids, replaced documents by repeated id). Raises SteleError if there is no document."""
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
    """Judged topics, by their ids in the judgments. Raises SteleError if none is judged."""
    dataset, path = topics_file(data, language)
    judged = read_qrels(judged_path := judgments_file(data, language))
    read = topics(path, language, layout(dataset).encoding)
    known = by_judgments(read, judged, path)
    if lacking := len(read) - len(known):
        logger.warning("%s: %d of %d topics have no judgments and are left out", path, lacking, len(read))
    if not known:
        raise SteleError(f"{path}: none of its topics ({next(iter(read))}, ...) is judged in {judged_path} "
                         f"({next(iter(judged))}, ...): they are of different collections")  # fmt: skip
    if lacking := len(judged) - len(known):
        logger.warning("%s: lacks %d of %d judged topics, which do not count", path, lacking, len(judged))
    return known


def qrels_file(folder: Path) -> Path:
    """Finds the file of judgments in a folder, or the given file. Raises SteleError unless there is exactly one."""
    return folder if folder.is_file() else _the_one(folder, QRELS, "judgments, named *qrels*")


def folders(data: Data, language: str) -> dict[str, Path]:
    """Maps dataset -> the folder of a language; datasets whose files the catalogue lists come first."""
    parts = {name: parts_of.get(language) or parts_of.get("all") for name, parts_of in data.items()}
    known = catalogue.entries(Dataset)
    order = sorted(parts, key=lambda name: not (name in known and known[name].files))
    return {name: Path(folder) for name in order if (folder := parts[name])} or {"": folder_of(data, "", language)}


def judgments_file(data: Data, language: str) -> Path:
    """Finds the judgments in the first dataset that has them. Raises SteleError unless they are exactly one file."""
    return _first(data, language, QRELS, "judgments, named *qrels*")[1]


def topics_file(data: Data, language: str) -> tuple[str, Path]:
    """Finds (dataset, its file of topics) in the first dataset with topics. Raises SteleError unless it is one file."""
    return _first(data, language, TOPICS, "topics, named *topics*")


def files_named(data: Data, language: str, wanted: re.Pattern[str]) -> list[tuple[str, Path]]:
    """Finds (dataset, file) for all files with a `wanted` name (`QRELS`, `TOPICS`), if a collection has several."""
    by_dataset = folders(data, language) if data else {}
    return [(dataset, path) for dataset, folder in by_dataset.items() for path in _named(folder, wanted)]


def layout(dataset: str) -> Collection:
    """Layout of a dataset's texts, from the catalogue; the default layout if it has none."""
    known = catalogue.entries(Dataset)
    return (known[dataset].collection if dataset in known else None) or Collection()


def all_documents(data: Data, language: str) -> Iterator[tuple[Text, Document]]:
    """Yields (text extractor, document) for every document, repeated ids included; files are sorted by name."""
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
    """Whether a file under any name looks like judgments: its first line has four columns, the last a number."""
    columns = next((line.split() for _, line in lines(path) if line.strip()), [])
    return len(columns) == 4 and re.fullmatch(r"[+-]?[0-9]+", columns[3]) is not None


def _first(data: Data, language: str, wanted: re.Pattern[str], what: str) -> tuple[str, Path]:
    by_dataset = folders(data, language)
    for dataset, folder in by_dataset.items():
        if _named(folder, wanted):
            return dataset, _the_one(folder, wanted, what)
    raise SteleError(f"{', '.join(map(str, by_dataset.values()))}: want one file of {what}; found none")


def _the_one(folder: Path, wanted: re.Pattern[str], what: str) -> Path:
    files = _named(folder, wanted)
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise SteleError(f"{folder}: want one file of {what}; found {names}. Keep one there, or give the file itself")
    return files[0]
