"""MLQA: the answer to a question, a span of a paragraph in the same or in another language.

A query set is a pair `de-en`: questions in German, paragraphs (and so answers) in English; `collection` is the language
of the answers, by which they are normalised. Native files: `test-context-en-question-de.json`, SQuAD's layout.
"""

from __future__ import annotations

from collections.abc import Sequence

from stele.benchmarks._files import checked_object, field, folder_of, identifier, json_file, located, refuse_again
from stele.benchmarks.types import Data, QuerySet
from stele.errors import SteleError

DATASET = "mlqa"
AVERAGE = "macro"  # mean over pairs
PREDICTED = True  # a system gives answers, not a ranking


def query_sets(languages: Sequence[str]) -> list[QuerySet]:
    """One query set a pair of question and answer language; `de` alone is `de-de`."""
    pairs = [language if "-" in language else f"{language}-{language}" for language in languages]
    for pair in pairs:
        if len([code for code in pair.split("-") if code]) != 2:
            raise SteleError(f"{pair!r}: want question and answer language, as de-en")
    return [QuerySet(pair, pair, pair.partition("-")[2]) for pair in pairs]


def answers(data: Data, query_set: QuerySet) -> dict[str, list[str]]:
    """Question id -> its gold answers."""
    question, context = query_set.name.split("-")
    folder = folder_of(data, DATASET, query_set.language)
    path = located(folder, f"test-context-{context}-question-{question}.json")
    gold: dict[str, list[str]] = {}
    for article in field(json_file(path), "data", list, str(path)):
        for paragraph in field(article, "paragraphs", list, str(path)):
            for item in field(paragraph, "qas", list, str(path)):
                name = refuse_again(
                    identifier(checked_object(item, path).get("id"), str(path)), gold, str(path), "question"
                )
                given = field(item, "answers", list, f"{path}, question {name}")
                gold[name] = [field(answer, "text", str, f"{path}, question {name}") for answer in given]
    return gold
