"""MLQA: questions whose answers are spans of a paragraph in the same or in another language.

A query set is a pair `de-en`: questions in German, paragraphs (and so answers) in English; `collection` is the language
of the answers, for which they are normalised. Native files: `test-context-en-question-de.json` and likewise for `dev`,
in SQuAD's layout. Any dataset with files of such names can be read.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from stele.benchmarks._files import file_of_part
from stele.benchmarks.reader import AnsweringReader, checked_pairs
from stele.benchmarks.squad import gold_answers, span_questions
from stele.benchmarks.types import Data, QuerySet, SpanQuestion

DATASET = "mlqa"


class Mlqa(AnsweringReader):
    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """Makes a query set per pair, QUESTION-ANSWER language; `de` is `de-de`. Raises SteleError for another form."""
        pairs = [language if "-" in language else f"{language}-{language}" for language in languages]
        pairs = checked_pairs(pairs, "question and answer language, e.g. de-en")
        return [QuerySet(pair, pair, pair.partition("-")[2]) for pair in pairs]

    def answers(self, data: Data, query_set: QuerySet) -> dict[str, list[str]]:
        return gold_answers(_file(data, query_set, "test"))

    def questions(self, data: Data, query_set: QuerySet, split: str) -> Iterator[SpanQuestion]:
        yield from span_questions(_file(data, query_set, split))


def _file(data: Data, query_set: QuerySet, split: str) -> Path:
    question, context = query_set.name.split("-")
    name = f"{split}-context-{context}-question-{question}.json"
    dataset = next(iter(data)) if len(data) == 1 else DATASET
    return file_of_part(data, dataset, query_set.language, name)
