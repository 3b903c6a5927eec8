"""LAReQA (XQuAD-R): questions in eleven languages, with the answer sentences of all eleven in one collection.

Each question language has a query set; the collection is "all". Native files: `{lang}.json` in SQuAD's layout, with
`sentence_breaks` (character spans of the sentences) in each paragraph. The rules are those of the official loader
(google-research/xtreme third_party/utils_lareqa.py `load_data`, evaluate_retrieval.py task lareqa):

- candidate id `{lang}_{paragraph number from 1}_{sentence number from 0}`, question id `{question}_{lang}`
- the answer is the sentence that contains `answer_start`; questions whose answer starts in no sentence are left out,
  as are paragraphs without remaining questions
- every sentence of the paragraph with the same text as the answer sentence is an answer
- a question's answers in all languages are relevant, including those in its own language
- candidate text: (sentence + paragraph) without line feeds

On the real files: 13,090 questions, 13,014 candidates, 11 answers each. AP@20 divides by min(R, 20) = 11.
"""

import logging
from collections.abc import Iterator
from typing import NamedTuple

from stele.benchmarks._files import below, field, file_of_part, identifier, json_file, refuse_again
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.squad import paragraphs
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet
from stele.errors import SteleError
from stele.files.atomic import RECORD
from stele.files.reading import reading

logger = logging.getLogger(__name__)

DATASET = "lareqa"
LANGUAGES = ("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh")


class _Question(NamedTuple):
    key: str  # the same in all languages
    text: str
    answers: list[str]  # candidate ids


_Paragraph = tuple[list[tuple[str, str]], list[_Question]]  # candidates as (id, text), questions


class Lareqa(RetrievalReader):
    AVERAGE = "micro"  # mean over all questions
    COLLECTION = "all"

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        for _, questions in _paragraphs(data, query_set.language):
            for question in questions:
                yield Query(f"{question.key}_{query_set.language}", question.text)

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Yields the candidate sentences of all languages in the data."""
        for language in _collection_languages(data):
            for candidates, _ in _paragraphs(data, language):
                for docid, text in candidates:
                    yield Passage(docid, "", text)

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Maps question id -> {candidate id: 1}, with the answers in all languages of the collection."""
        keys = [q.key for _, questions in _paragraphs(data, query_set.language) for q in questions]
        answers: dict[str, dict[str, int]] = {key: {} for key in keys}
        languages = _collection_languages(data)
        whole = data[DATASET].get("all")
        if len(languages) < len(LANGUAGES) and not (whole and (whole / RECORD).is_file()):  # a scale's languages
            official = "the official score counts those in all languages: --data lareqa=FOLDER, with eleven files"
            logger.warning("lareqa: only answers in %s count as relevant; %s", ", ".join(languages), official)
        for language in languages:
            for _, questions in _paragraphs(data, language):
                for question in questions:
                    answers.get(question.key, {}).update(dict.fromkeys(question.answers, 1))
        return {f"{key}_{query_set.language}": answers[key] for key in keys}


def _collection_languages(data: Data) -> list[str]:
    """Languages whose files the data have: all eleven in the real data, those of the scale in generated data."""
    parts = data.get(DATASET, {})
    names = (path.name.removesuffix(".gz") for folder in parts.values() for path in below(folder))
    languages = {*parts, *(name.removesuffix(".json") for name in names if name.endswith(".json"))}  # any file names
    return [language for language in LANGUAGES if language in languages]


def _paragraphs(data: Data, language: str) -> Iterator[_Paragraph]:
    path = file_of_part(data, DATASET, language, f"{language}.json")
    seen: set[str] = set()
    for number, (where, paragraph) in enumerate(paragraphs(json_file(path), path), start=1):
        with reading(where, "paragraph of LAReQA"):
            candidates, questions = _paragraph(paragraph, f"{language}_{number}", where)
        for question in questions:
            seen.add(refuse_again(question.key, seen, where, "question id"))
        if questions:
            yield candidates, questions


def _paragraph(paragraph: dict, name: str, where: str) -> _Paragraph:
    context = field(paragraph, "context", str, where)
    breaks = field(paragraph, "sentence_breaks", list, where)
    if not all(isinstance(b, list) and len(b) == 2 and 0 <= b[0] <= b[1] <= len(context) for b in breaks):
        raise SteleError(f"{where}: sentence_breaks must be [start, end] within its {len(context)} characters")
    sentences = [context[start:end] for start, end in breaks]
    questions = []
    for item in field(paragraph, "qas", list, where):
        key = identifier(item.get("id"), where)
        gold = field(item, "answers", list, where)
        if len(gold) != 1:
            raise SteleError(f"{where}: question {key}: want one answer, found {len(gold)}")
        start = field(gold[0], "answer_start", int, where)
        answer = next((s for s, (first, end) in zip(sentences, breaks, strict=True) if first <= start < end), None)
        if not answer:
            logger.warning("%s: question %s: its answer starts in no sentence; left out", where, key)
            continue
        answers = [f"{name}_{i}" for i, sentence in enumerate(sentences) if sentence == answer]
        questions.append(_Question(key, field(item, "question", str, where), answers))
    candidates = [(f"{name}_{i}", (s + context).replace("\n", "")) for i, s in enumerate(sentences)]
    return candidates, questions
