"""Belebele as retrieval, as MTEB makes it: 376 searches in 122 variants (a language in a script).

A query set is a pair `ru-en`: *passages* in Russian, questions in English, as in MTEB's subset `rus_Cyrl-eng_Latn`.
There are three directions: both in one variant, English questions, English passages; and six languages in Latin script
besides their own (Arabic, Bengali, Hindi, Nepali, Sinhala, Urdu), both ways. A variant goes by the code that Stele uses
of its language, one that has no entry of its own in languages.yaml by Belebele's (`hin_Latn`). So a table's cell names
a pair, and an average lists pairs: by direction, or by script.

Native files: `{variant}.jsonl` with {link, flores_passage, question, ...}, 900 questions about 488 passages; rows are
parallel over variants by `link`. MTEB's rules (BelebeleRetrieval): the passages are one a link, the first that bears
it; the queries are the different texts of the questions, so one that is asked of two passages has both for answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from stele.benchmarks._files import file_of_part, name_in_files
from stele.benchmarks._tables import table_rows
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet
from stele.errors import SteleError

DATASET = "belebele"


class _Row(NamedTuple):
    link: str
    passage: str
    question: str


class Belebele(RetrievalReader):
    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """One query set a pair; the collection is the variant of the passages. `ru` alone is `ru-ru`."""
        pairs = [language if "-" in language else f"{language}-{language}" for language in languages]
        for pair in pairs:
            if len([code for code in pair.split("-") if code]) != 2:
                raise SteleError(f"{pair!r}: want the variants of passages and of questions, e.g. ru-en")
        return [QuerySet(pair, pair, pair.partition("-")[0]) for pair in pairs]

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """The different questions of a variant, each by the number of its first row."""
        return (Query(number, question) for question, number in _numbers(data, self.asked_in(query_set)).items())

    def asked_in(self, query_set: QuerySet) -> str:
        """The variant of a pair's questions: pairs that share it ask the same ones, which are encoded once."""
        return query_set.name.partition("-")[2]

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """The passages of a variant, numbered in the order in which their links come first."""
        texts: dict[str, str] = {}
        for row in _rows(data, collection):
            texts.setdefault(row.link, row.passage)
        return (Passage(f"C{number}", "", text) for number, text in enumerate(texts.values()))

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Question -> {passage: 1}: the passage that bears the link of each row with that question."""
        links = dict.fromkeys(row.link for row in _rows(data, query_set.collection))
        passage = {link: f"C{number}" for number, link in enumerate(links)}
        number = _numbers(data, self.asked_in(query_set))
        judged: dict[str, dict[str, int]] = {}
        for row in _rows(data, self.asked_in(query_set)):
            if row.link not in passage:
                raise SteleError(
                    f"{_file(data, self.asked_in(query_set))}: a question is about {row.link}, which no passage of "
                    f"{_file(data, query_set.collection)} is from; both must be of one release"
                )
            judged.setdefault(number[row.question], {})[passage[row.link]] = 1
        return judged


def _numbers(data: Data, variant: str) -> dict[str, str]:
    """Question -> its id. Rows are parallel over variants: by their numbers a question has the same id in all of them,
    also where a variant asks two questions in the same words.
    """
    numbers: dict[str, str] = {}
    for number, row in enumerate(_rows(data, variant)):
        numbers.setdefault(row.question, f"Q{number}")
    return numbers


def _rows(data: Data, variant: str) -> list[_Row]:
    return _read(_file(data, variant))


def _file(data: Data, variant: str) -> Path:
    return file_of_part(data, DATASET, variant, f"{name_in_files(variant, DATASET)}.jsonl")


@lru_cache(maxsize=8)
def _read(path: Path) -> list[_Row]:
    """The rows of a file, of which the English one is read for two pairs of three."""
    wanted = {"link": str, "flores_passage": str, "question": str}
    return [_Row(*row.values()) for _, row in table_rows(path, wanted)]
