"""LAReQA's XQuAD-R: the same paragraphs and questions in every language, with the sentences marked.

Format: google-research-datasets/lareqa, xquad-r/{language}.json: SQuAD v1.1 with `sentence_breaks` (character spans)
and `sentences` in each paragraph; a question has the same id in all languages, and its answer one sentence in each.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from stele.files.reading import JsonObject
from stele_world.content.model import Article, Question
from stele_world.writers.library import Library
from stele_world.writers.site import Site
from stele_world.writers.squad import question_entry

URL = "https://raw.githubusercontent.com/google-research-datasets/lareqa/master/xquad-r/{language}.json"
LANGUAGES = ("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh")


def paragraph_entry(
    article: Article, texts: Sequence[str], between: str, questions: Sequence[tuple[int, Question]]
) -> JsonObject:
    """A paragraph with its sentences and the (sentence of the paragraph, question) pairs that are asked about it."""
    breaks, position = [], 0
    for text in texts:
        breaks.append([position, position + len(text)])
        position += len(text) + len(between)
    return {
        "context": between.join(texts),
        "qas": [dict(sorted(question_entry(question, article, breaks[n][0]).items())) for n, question in questions],
        "sentence_breaks": breaks,
        "sentences": list(texts),
    }


def _article_entry(article: Article, between: str, questions: Sequence[Question]) -> JsonObject:
    by_paragraph: dict[int, list[tuple[int, Question]]] = defaultdict(list)
    for question in questions:
        paragraph, sentence = article.paragraph_of(question.gold.sentence)
        by_paragraph[paragraph].append((sentence, question))
    texts = [[s.text for s in paragraph] for paragraph in article.paragraphs()]
    paragraphs = [paragraph_entry(article, texts[n], between, pairs) for n, pairs in sorted(by_paragraph.items())]
    return {"paragraphs": paragraphs, "title": article.title.replace(" ", "_")}


def write(site: Site, library: Library) -> None:
    world = library.world
    for language in (code for code in LANGUAGES if code in world.languages):
        questions: dict[str, list[Question]] = defaultdict(list)
        for question in world.questions("lareqa", language, "test"):
            questions[question.gold.entity].append(question)
        data = [
            _article_entry(article, library.between(language), questions[article.entity])
            for article in world.parallel_articles(language)
            if article.entity in questions
        ]
        site.put(URL.format(language=language), json.dumps({"data": data, "version": "1.1"}).encode())
        paragraphs = [p for article in data for p in article["paragraphs"]]
        number_of_questions, sentences = (
            sum(len(p["qas"]) for p in paragraphs),
            sum(len(p["sentences"]) for p in paragraphs),
        )
        site.count("lareqa", language, questions=number_of_questions, candidates=sentences)
