"""Belebele as retrieval, as MTEB makes it: 376 searches in 122 variants (a language in a script).

A query set is a pair `ru-en`: *passages* in Russian, questions in English, as in MTEB's subset `rus_Cyrl-eng_Latn`.
There are three directions: both sides in one variant, English questions, English passages; and six languages in Latin
script besides their own script (Arabic, Bengali, Hindi, Nepali, Sinhala, Urdu), in both directions. A variant has
Stele's code of its language or, if languages.yaml has no entry for it, Belebele's code (`hin_Latn`). So a table's cell
names a pair, and an average lists pairs, by direction or by script.

Native files: `{variant}.jsonl` with {link, flores_passage, question, ...}, 900 questions about 488 passages; rows are
parallel over variants by `link`. MTEB's rules (BelebeleRetrieval): each link has one passage, the first with that link;
the queries are the distinct question texts, so a question asked about two passages has both as answers.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from stele.benchmarks._files import file_of_part, name_in_files
from stele.benchmarks._tables import table_rows
from stele.benchmarks.reader import RetrievalReader, checked_pairs
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet
from stele.errors import SteleError

DATASET = "belebele"


class Belebele(RetrievalReader):
    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """Makes a query set per pair, over the passages' variant (`ru`: `ru-ru`). Raises SteleError for `a-b-c`."""
        pairs = [language if "-" in language else f"{language}-{language}" for language in languages]
        pairs = checked_pairs(pairs, "the variants of passages and of questions, e.g. ru-en")
        return [QuerySet(pair, pair, pair.partition("-")[0]) for pair in pairs]

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the distinct questions of a variant; the id is the number of a question's first row."""
        return (Query(number, question) for question, number in _numbers(data, self.asked_in(query_set)).items())

    def asked_in(self, query_set: QuerySet) -> str:
        """Variant of a pair's questions; pairs that share it have the same questions, which are encoded once."""
        return query_set.name.partition("-")[2]

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Yields the passages of a variant, numbered in the order of their links' first occurrence."""
        texts: dict[str, str] = {}
        for link, passage, _ in _rows(data, collection):
            texts.setdefault(link, passage)
        return (Passage(f"C{number}", "", text) for number, text in enumerate(texts.values()))

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Maps question -> {passage: 1} over all rows. Raises SteleError for a question about an unknown passage."""
        links = dict.fromkeys(link for link, _, _ in _rows(data, query_set.collection))
        passage = {link: f"C{number}" for number, link in enumerate(links)}
        number = _numbers(data, self.asked_in(query_set))
        judged: dict[str, dict[str, int]] = {}
        for link, _, question in _rows(data, self.asked_in(query_set)):
            if link not in passage:
                raise SteleError(
                    f"{_file(data, self.asked_in(query_set))}: a question is about {link}, which is not in "
                    f"{_file(data, query_set.collection)}; both must be of one release"
                )
            judged.setdefault(number[question], {})[passage[link]] = 1
        return judged


def _numbers(data: Data, variant: str) -> dict[str, str]:
    """Maps the questions to their ids, which are row numbers: rows are parallel over variants, so that a question has
    the same id in all variants, even if a variant asks two questions in the same words.
    """
    numbers: dict[str, str] = {}
    for number, (_, _, question) in enumerate(_rows(data, variant)):
        numbers.setdefault(question, f"Q{number}")
    return numbers


def _rows(data: Data, variant: str) -> list[tuple[str, str, str]]:
    return _read(_file(data, variant))


def _file(data: Data, variant: str) -> Path:
    return file_of_part(data, DATASET, variant, f"{name_in_files(variant, DATASET)}.jsonl")


@lru_cache(maxsize=8)
def _read(path: Path) -> list[tuple[str, str, str]]:
    """Reads (link, passage, question) of all rows; it is cached, because two of three pairs need the English file."""
    wanted = {"link": str, "flores_passage": str, "question": str}
    return [tuple(row.values()) for _, row in table_rows(path, wanted)]
