"""MLQA: the same questions in several languages about the same paragraphs in several, in a zip of SQuAD-like files.

Format: facebookresearch/MLQA, MLQA_V1.zip: `MLQA_V1/{dev,test}/{split}-context-X-question-Y.json`; a question has the
same id in all files. The paragraphs and questions are LAReQA's; some articles are dev's, the others test's.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace

from stele.files.reading import JsonObject
from stele_world.content.model import Article, Question
from stele_world.writers.library import Library
from stele_world.writers.site import Site, zip_of
from stele_world.writers.squad import question_entry

URL = "https://dl.fbaipublicfiles.com/MLQA/MLQA_V1.zip"
LANGUAGES = ("ar", "de", "en", "es", "hi", "vi", "zh")
DEV = 3  # one of so many articles is dev's


def write(site: Site, library: Library) -> None:
    world = library.world
    languages = [code for code in LANGUAGES if code in world.languages]
    questions = {code: world.questions("lareqa", code, "test") for code in languages}
    texts = {code: {question.fact: question.text for question in own} for code, own in questions.items()}
    articles = {code: world.parallel_articles(code) for code in languages}
    members = {}
    for split in ("dev", "test"):
        for context in languages:
            own = [a for n, a in enumerate(articles[context]) if (n % DEV == 0) == (split == "dev")]
            for asked in languages:
                translated = [
                    replace(question, text=texts[asked][question.fact])
                    for question in questions[context]
                    if question.fact in texts[asked]
                ]
                data = _articles(library, own, translated)
                name = f"MLQA_V1/{split}/{split}-context-{context}-question-{asked}.json"
                members[name] = json.dumps({"data": data, "version": "1.0"}).encode()
    site.put(URL, zip_of(members))


def _articles(library: Library, articles: list[Article], questions: list[Question]) -> list[JsonObject]:
    by_article: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_article[question.entity].append(question)
    told = [(article, by_article[article.entity]) for article in articles if article.entity in by_article]
    return [
        {"title": article.title.replace(" ", "_"), "paragraphs": _paragraphs(library, article, own)}
        for article, own in told
    ]


def _paragraphs(library: Library, article: Article, questions: list[Question]) -> list[JsonObject]:
    """The paragraphs of an article that are asked about."""
    between, paragraphs = library.between(article.language), article.paragraphs()
    asked: dict[int, list[JsonObject]] = defaultdict(list)
    for question in questions:
        number, within = article.paragraph_of(question.gold.sentence)
        start = sum(len(sentence.text) + len(between) for sentence in paragraphs[number][:within])
        asked[number].append(question_entry(question, article, start))
    return [
        {"context": between.join(sentence.text for sentence in paragraphs[number]), "qas": qas}
        for number, qas in sorted(asked.items())
    ]
