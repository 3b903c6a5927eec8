"""What the file of a benchmark or a training set defines: a class of one or more of these kinds.

    CollectionReader       passages                       read for searches and mined negatives
    RetrievalReader        queries, passages, judgments   a benchmark that is searched
    ParallelTextsReader    parallel_texts                 a benchmark of translations, ranked by CSLS
    AnsweringReader        questions, answers             a benchmark of questions about paragraphs
    GoldPairsReader        pairs                          questions with their gold passages, compared as vectors
    TrainingReader         training                       examples for fine-tuning
    SpanTrainingReader     training_questions             questions with answers in paragraphs, to train readers

`data` holds the folders of the given datasets (`types.Data`); everything is read from them when it is asked for, and
large files are streamed. All methods raise SteleError for damaged or missing files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import ClassVar, Literal

from stele.benchmarks.types import (
    Data,
    Judgments,
    LeftOut,
    ParallelTexts,
    Passage,
    Query,
    QuerySet,
    SpanQuestion,
    TrainingExample,
)
from stele.errors import SteleError


class CollectionReader(ABC):
    READS: ClassVar[str] = "collection"  # as messages call what a class of this kind reads
    KIND: ClassVar[str] = "benchmark"  # as messages call the file

    @abstractmethod
    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """The passages of a collection, streamed; each id once."""


class BenchmarkReader:
    """A benchmark: its query sets, and what is right.

    AVERAGE       the mean over languages ("macro") or over queries ("micro")
    SCORED_BY     what its metrics look at: rankings of judged passages, rankings of passages that may hold an answer,
                  or answers; `answers` is defined for the latter two
    COLLECTION    the one collection that all query sets search; None: each has its own, of its name
    SIMILARITY    by which pairs of given embeddings are ranked; None: they are not ranked
    """

    READS: ClassVar[str] = "query sets"
    KIND: ClassVar[str] = "benchmark"
    AVERAGE: ClassVar[Literal["macro", "micro"]] = "macro"
    SCORED_BY: ClassVar[Literal["judgments", "answers", "predictions"]] = "judgments"
    COLLECTION: ClassVar[str | None] = None
    SIMILARITY: ClassVar[Literal["cosine", "csls"] | None] = None

    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """The query sets of some languages (or pairs); by default one each.

        Called by every command with --languages. Raises SteleError for a language that is none of the benchmark's form.
        """
        return [QuerySet(language, language, self.COLLECTION or language) for language in languages]

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Query id -> {passage id: gain}; read to score and to tune, and for folds."""
        raise SteleError(f"{_file(self)} is scored by {self.SCORED_BY}; it has no judgments of passages")

    def answers(self, data: Data, query_set: QuerySet) -> dict[str, list[str]]:
        """Question id -> its gold answers; read to score."""
        raise SteleError(f"{_file(self)} is scored by {self.SCORED_BY}; it has no answers")

    def left_out(self, data: Data, query_set: QuerySet) -> LeftOut:
        """The documents that are no hits of their queries: searched past, and removed when runs are scored."""
        return LeftOut()


class RetrievalReader(BenchmarkReader, CollectionReader):
    """A benchmark that is searched.

    NORMALIZE       whether vectors are compared by cosine, whatever the encoder does elsewhere
    JUDGED_SPLIT    the split that is scored, where `queries` and `judgments` take another one too (`split`), on which
                    BM25 can be tuned; None: there is no other
    FIELDS          whether `queries` takes the field of a topic to search by (`field`)
    """

    READS: ClassVar[str] = "queries to search"
    NORMALIZE: ClassVar[bool] = False
    JUDGED_SPLIT: ClassVar[str | None] = None
    FIELDS: ClassVar[bool] = False

    @abstractmethod
    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """The queries of a query set, in a fixed order."""

    def all_judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """The judgments of all topics, also those without a query in this language: folds are made of them."""
        return self.judgments(data, query_set)

    def texts(self, data: Data, collection: str, ids: Collection[str]) -> dict[str, str]:
        """Id -> text of some passages, in which a metric looks for answers."""
        return {passage.id: passage.text for passage in self.passages(data, collection) if passage.id in ids}

    def asked_in(self, query_set: QuerySet) -> str:
        """A name that query sets with the same queries share, so that a job encodes them once."""
        return query_set.name

    def query_collection(self, query_set: QuerySet) -> str | None:
        """The collection whose passages are the queries, one for one in the same order; None where there is none."""
        return None

    def parts(self, collection: str) -> Sequence[str]:
        """The collections that make up this one, in order: they may have been encoded for other benchmarks."""
        return [collection]


class ParallelTextsReader(BenchmarkReader, ABC):
    """A benchmark of translations: a query set is a direction of a pair `de-en`; a translation has its text's id."""

    READS: ClassVar[str] = "parallel texts"
    SIMILARITY = "csls"

    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """Both directions of every pair."""
        return pair_query_sets(languages)

    @abstractmethod
    def parallel_texts(self, data: Data, languages: Iterable[str]) -> ParallelTexts:
        """The texts that all languages have, in some of them."""

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Text -> {itself, in the other language: 1}."""
        return {name: {name: 1} for name in self.parallel_texts(data, sides(query_set.language)).ids}


class AnsweringReader(BenchmarkReader, ABC):
    """A benchmark of questions about paragraphs, to which systems give answers."""

    READS: ClassVar[str] = "questions about paragraphs"
    SCORED_BY = "predictions"

    @abstractmethod
    def questions(self, data: Data, query_set: QuerySet, split: str) -> Iterator[SpanQuestion]:
        """The questions of a split ("dev" or "test"), each with its paragraph."""


class GoldPairsReader(ABC):
    @abstractmethod
    def pairs(self, data: Data, language: str) -> Iterator[tuple[Query, Passage | None]]:
        """The questions of a language, each with its gold passage, None where it has none."""


class TrainingReader(ABC):
    READS: ClassVar[str] = "training examples"
    KIND: ClassVar[str] = "training set"

    @abstractmethod
    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """The examples of a split ("train" or "dev"), streamed in a fixed order.

        `positives` is not empty; `language` names the collection in which negatives can be mined.
        """


class SpanTrainingReader(ABC):
    READS: ClassVar[str] = "questions with answers in paragraphs"
    KIND: ClassVar[str] = "training set"

    @abstractmethod
    def training_questions(self, data: Data, split: str) -> Iterator[SpanQuestion]:
        """The questions of a split ("train"), those without an answer among them."""


def pair_query_sets(pairs: Sequence[str]) -> list[QuerySet]:
    """Both directions of every pair, the pair's own first. Raises SteleError for a pair that is not of two languages.

    >>> [query_set.name for query_set in pair_query_sets(["de-en"])]
    ['de-en', 'en-de']
    """
    both = []
    for pair in pairs:
        first, second = sides(pair)
        both += [QuerySet(pair, pair, second), QuerySet(f"{second}-{first}", pair, first)]
    return both


def sides(pair: str) -> tuple[str, str]:
    """The two languages of a pair. Raises SteleError where it is not two.

    >>> sides("de-en")
    ('de', 'en')
    """
    first, dash, second = pair.partition("-")
    if not (first and dash and second) or first == second:
        raise SteleError(f"{pair!r}: want a pair of languages, e.g. de-en")
    return first, second


def _file(reader: object) -> str:
    """The file that defines a reader, as the catalogue names it."""
    return type(reader).__module__.rpartition(".")[2]
