"""MIRACL v1.0: monolingual retrieval in eighteen languages (miracl/miracl-corpus, macavaney/miracl-noauth).

Each language has one query set and one collection. Judged split: dev (test-a and test-b have no public judgments).
Native files, under the paths of ir_datasets' cache: `docs/docs-{n}.jsonl.gz` with {docid, title, text}, 222 files with
500,000 passages each, where a docid is `page#paragraph`, or Parquet files with the same columns;
`{dev,train}/topics.tsv` with id and text; `{dev,train}/qrels.tsv` in TREC's layout. Judgment 0 means "not relevant"; in
training these passages are the hard negatives.
"""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

from stele import catalogue
from stele.benchmarks._files import below, folder_of, language_folder, located
from stele.benchmarks._tables import table_passages, tables
from stele.benchmarks._trec import read_qrels, tsv_topics, warn_missing_judged
from stele.benchmarks.reader import RetrievalReader, TrainingReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet, TrainingExample
from stele.catalogue.schema.datasets import Dataset
from stele.errors import SteleError

logger = logging.getLogger(__name__)

TOPICS = "miracl"
TRAINING = "miracl_train"
CORPUS = "miracl_corpus"
JUDGED = "dev"

SHARD = re.compile(r"docs-([0-9]+)\.jsonl(?:\.gz)?")


class Miracl(RetrievalReader, TrainingReader):
    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the dev topics of one language."""
        yield from tsv_topics(_file(data, TOPICS, query_set.language, JUDGED, "topics"))

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Streams the passages of one language by shard; logs the number of judged dev passages that are missing."""
        folder = folder_of(data, CORPUS, collection)
        paths = tables(folder) or shards(folder, collection)
        judged = read_qrels(_file(data, TOPICS, collection, JUDGED, "qrels")) if TOPICS in data else {}
        yield from warn_missing_judged(
            (passage for path in paths for passage in table_passages(path, "docid")), judged, collection
        )

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        return read_qrels(_file(data, TOPICS, query_set.language, JUDGED, "qrels"))

    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """Yields a split's topics with their judged passages; leaves out topics without a relevant passage.

        The passages of a language are read once, and the judged ones are held in memory.
        """
        for language in sorted(data.get(TRAINING, {})):
            judged = read_qrels(_file(data, TRAINING, language, split, "qrels"))
            named = set().union(*judged.values())
            texts = {passage.id: passage for passage in self.passages(data, language) if passage.id in named}
            if lacking := sorted(named - texts.keys()):
                logger.warning(
                    "%s: %d of %d judged passages are not in its collection (%s...); they are left out",
                    language, len(lacking), len(named), lacking[0],
                )  # fmt: skip
            for query in tsv_topics(_file(data, TRAINING, language, split, "topics")):
                of_query = judged.get(query.id, {})
                positives, negatives = (
                    [texts[name] for name, relevance in of_query.items() if (relevance > 0) is wanted and name in texts]
                    for wanted in (True, False)
                )
                if positives:
                    yield TrainingExample(query.text, positives, negatives, language)


def shards(folder: Path, language: str) -> list[Path]:
    """Finds the files of a language's passages, in order. Raises SteleError unless they are those of the catalogue."""
    files = {int(match[1]): path for path in below(folder) if (match := SHARD.fullmatch(path.name))}
    known = catalogue.entry(Dataset, CORPUS).files[0].shards or {}
    number = known.get(language, max(files, default=0) + 1)
    if missing := [n for n in range(number) if n not in files]:
        names = ", ".join(f"docs-{n}.jsonl.gz" for n in missing[:5])
        raise SteleError(f"{folder}: {names} missing, of the {number} files docs-0 to docs-{number - 1} of {language}")
    if other := sorted(files.keys() - {*range(number)}):
        raise SteleError(
            f"{files[other[0]]}: {language} has {number} files, docs-0 to docs-{number - 1}; "
            "keep each language's in a folder of its own"
        )
    return [files[n] for n in range(number)]


def _file(data: Data, dataset: str, language: str, split: str, what: str) -> Path:
    """Finds a split's topics or judgments: `{split}/{what}.tsv`, or the file that is given itself."""
    folder = language_folder(data, dataset, language)
    return located(inner if (inner := folder / split).is_dir() else folder, f"{what}.tsv")
