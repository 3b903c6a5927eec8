"""MLQA: the answer to a question, a span of a paragraph in the same or in another language.

A search is a pair `de-en`: questions in German, paragraphs (and so answers) in English; `pool` is the language of the
answers, by which they are normalised. Native files: `test-context-en-question-de.json`, SQuAD's layout.
"""

from __future__ import annotations

from collections.abc import Sequence

from stele.benchmarks._files import checked_object, field, folder_of, identifier, json_file, located, refuse_again
from stele.benchmarks.types import Data, Search
from stele.errors import SteleError

DATASET = "mlqa"
AVERAGE = "macro"  # mean over pairs
PREDICTED = True  # a system gives answers, not a ranking


def searches(languages: Sequence[str]) -> list[Search]:
    """One search per pair of question and answer language; `de` alone is `de-de`."""
    pairs = [language if "-" in language else f"{language}-{language}" for language in languages]
    for pair in pairs:
        if len([code for code in pair.split("-") if code]) != 2:
            raise SteleError(f"{pair!r}: want question and answer language, as de-en")
    return [Search(pair, pair, pair.partition("-")[2]) for pair in pairs]


def answers(data: Data, search: Search) -> dict[str, list[str]]:
    """Question id -> its gold answers."""
    question, context = search.name.split("-")
    folder = folder_of(data, DATASET, search.language)
    path = located(folder, f"test-context-{context}-question-{question}.json")
    found: dict[str, list[str]] = {}
    for article in field(json_file(path), "data", list, str(path)):
        for paragraph in field(article, "paragraphs", list, str(path)):
            for item in field(paragraph, "qas", list, str(path)):
                name = refuse_again(
                    identifier(checked_object(item, path).get("id"), str(path)), found, str(path), "question"
                )
                given = field(item, "answers", list, f"{path}, question {name}")
                found[name] = [field(answer, "text", str, f"{path}, question {name}") for answer in given]
    return found
