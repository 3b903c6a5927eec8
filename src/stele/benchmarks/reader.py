"""Base classes of readers. The file of a benchmark or a training set defines a class of one or more of these kinds.

    CollectionReader       passages                       read for searches and mined negatives
    RetrievalReader        queries, passages, judgments   a benchmark that is searched
    ParallelTextsReader    parallel_texts                 a benchmark of translations, ranked by CSLS
    AnsweringReader        questions, answers             a benchmark of questions about paragraphs
    GoldPairsReader        pairs                          questions with their gold passages, compared as vectors
    TrainingReader         training                       examples for fine-tuning
    SpanTrainingReader     training_questions             questions with answers in paragraphs, to train readers

`data` has the folders of the given datasets (`types.Data`). Methods read them on demand and stream large files. All
methods raise SteleError for damaged or missing files.
"""

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
    READS: ClassVar[str] = "collection"  # the name in messages of the content that a class of this kind reads
    KIND: ClassVar[str] = "benchmark"  # the name in messages of the file

    @abstractmethod
    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Streams the passages of a collection; each id occurs once."""


class BenchmarkReader:
    """Reader of a benchmark: its query sets, and their judgments or gold answers.

    AVERAGE       averages over languages ("macro") or over queries ("micro")
    SCORED_BY     the input of its metrics: rankings of judged passages ("judgments"), rankings of passages that may
                  contain an answer ("answers"), or predicted answers ("predictions"); the latter two define `answers`
    COLLECTION    the one collection that all query sets search; None: each language has its own collection
    SIMILARITY    the similarity that ranks pairs of given embeddings; None: they are not ranked
    """

    READS: ClassVar[str] = "query sets"
    KIND: ClassVar[str] = "benchmark"
    AVERAGE: ClassVar[Literal["macro", "micro"]] = "macro"
    SCORED_BY: ClassVar[Literal["judgments", "answers", "predictions"]] = "judgments"
    COLLECTION: ClassVar[str | None] = None
    SIMILARITY: ClassVar[Literal["cosine", "csls"] | None] = None

    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """Makes the query sets of some languages (or pairs); by default one for each of them.

        Every command with --languages calls it. Raises SteleError for a language not in the benchmark's form.
        """
        return [QuerySet(language, language, self.COLLECTION or language) for language in languages]

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Maps query id -> {passage id: gain}, for scoring, tuning and folds. Raises SteleError if there are none."""
        raise SteleError(f"{_file(self)} is scored by {self.SCORED_BY}; it has no judgments of passages")

    def answers(self, data: Data, query_set: QuerySet) -> dict[str, list[str]]:
        """Maps question id -> gold answers, for scoring. Raises SteleError if the benchmark has none."""
        raise SteleError(f"{_file(self)} is scored by {self.SCORED_BY}; it has no answers")

    def left_out(self, data: Data, query_set: QuerySet) -> LeftOut:
        """Documents that are not hits of their queries: searches go past them, and scoring removes them."""
        return LeftOut()


class RetrievalReader(BenchmarkReader, CollectionReader):
    """Reader of a benchmark whose queries search a collection.

    NORMALIZE       whether vectors are always compared by cosine, whatever the encoder does elsewhere
    JUDGED_SPLIT    the split that is scored, if `queries` and `judgments` accept another one (`split`), on which BM25
                    can be tuned; None: there is no other split
    FIELDS          whether `queries` accepts the topic's field to search with (`field`)
    """

    READS: ClassVar[str] = "queries to search"
    NORMALIZE: ClassVar[bool] = False
    JUDGED_SPLIT: ClassVar[str | None] = None
    FIELDS: ClassVar[bool] = False

    @abstractmethod
    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the queries of a query set, in a fixed order."""

    def all_judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Judgments of all topics, which folds divide; some may have no query in this language."""
        return self.judgments(data, query_set)

    def texts(self, data: Data, collection: str, ids: Collection[str]) -> dict[str, str]:
        """Maps the ids of some passages to their texts, in which a metric searches for answers."""
        return {passage.id: passage.text for passage in self.passages(data, collection) if passage.id in ids}

    def asked_in(self, query_set: QuerySet) -> str:
        """Name shared by all query sets with the same queries, so that a job encodes these queries once."""
        return query_set.name

    def query_collection(self, query_set: QuerySet) -> str | None:
        """Collection whose passages are the queries, one by one in the same order; None if there is none."""
        return None

    def parts(self, collection: str) -> Sequence[str]:
        """Collections that make up this one, in order; other benchmarks may have them encoded already."""
        return [collection]


class ParallelTextsReader(BenchmarkReader, ABC):
    """Reader of translations: a query set is one direction of a pair `de-en`; a translation has its text's id."""

    READS: ClassVar[str] = "parallel texts"
    SIMILARITY = "csls"

    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """Makes both directions of every pair. Raises SteleError for anything that is not a pair of languages."""
        return pair_query_sets(languages)

    @abstractmethod
    def parallel_texts(self, data: Data, languages: Iterable[str]) -> ParallelTexts:
        """Reads, in the given languages, the texts that exist in all languages of the data."""

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Maps each text's id to {its translation's id: 1}, which is the same id."""
        return {name: {name: 1} for name in self.parallel_texts(data, sides(query_set.language)).ids}


class AnsweringReader(BenchmarkReader, ABC):
    """Reader of a benchmark of questions about paragraphs, which systems answer."""

    READS: ClassVar[str] = "questions about paragraphs"
    SCORED_BY = "predictions"

    @abstractmethod
    def questions(self, data: Data, query_set: QuerySet, split: str) -> Iterator[SpanQuestion]:
        """Yields the questions of a split ("dev" or "test"), each with its paragraph."""


class GoldPairsReader(ABC):
    @abstractmethod
    def pairs(self, data: Data, language: str) -> Iterator[tuple[Query, Passage | None]]:
        """Yields the questions of a language, each with its gold passage, or None if it has none."""


class TrainingReader(ABC):
    READS: ClassVar[str] = "training examples"
    KIND: ClassVar[str] = "training set"

    @abstractmethod
    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """Streams the examples of a split ("train" or "dev") in a fixed order.

        An example has at least one positive; its `language` is the collection in which negatives can be mined.
        """


class SpanTrainingReader(ABC):
    READS: ClassVar[str] = "questions with answers in paragraphs"
    KIND: ClassVar[str] = "training set"

    @abstractmethod
    def training_questions(self, data: Data, split: str) -> Iterator[SpanQuestion]:
        """Yields the questions of a split ("train"), including questions without an answer."""


def pair_query_sets(pairs: Sequence[str]) -> list[QuerySet]:
    """Makes both directions of every pair, the given one first.

    Raises SteleError for a pair that has not two languages, and for one that is given twice or in both directions.

    >>> [query_set.name for query_set in pair_query_sets(["de-en"])]
    ['de-en', 'en-de']
    """
    both: list[QuerySet] = []
    for pair in pairs:
        first, second = sides(pair)
        if pair in (query_set.name for query_set in both):
            raise SteleError(f"{pair}: a pair is searched in both directions; give it once, in one of them")
        both += [QuerySet(pair, pair, second), QuerySet(f"{second}-{first}", pair, first)]
    return both


def checked_pairs(pairs: Sequence[str], wanted: str) -> Sequence[str]:
    """Returns pairs of languages, which may be equal. Raises SteleError, with the `wanted` form, for any other form."""
    for pair in pairs:
        if len(codes := pair.split("-")) != 2 or "" in codes:
            raise SteleError(f"{pair!r}: want {wanted}")
    return pairs


def sides(pair: str) -> tuple[str, str]:
    """Splits a pair into its two languages. Raises SteleError unless they are two different ones.

    >>> sides("de-en")
    ('de', 'en')
    """
    first, dash, second = pair.partition("-")
    if not (first and dash and second) or first == second:
        raise SteleError(f"{pair!r}: want a pair of languages, e.g. de-en")
    return first, second


def _file(reader: object) -> str:
    """Name of the file that defines a reader, as in the catalogue."""
    return type(reader).__module__.rpartition(".")[2]
