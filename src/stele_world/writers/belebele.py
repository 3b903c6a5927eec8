"""Belebele: the paragraphs of LAReQA's parallel articles with their questions, a file a variant.

Format: facebook/belebele, data/{variant}.jsonl: {link, question_number, flores_passage, question, mc_answer1 ...
mc_answer4, correct_answer_num, dialect, ds}. Rows are parallel over the variants; a link is a passage's.
"""

from __future__ import annotations

from collections.abc import Iterator

from stele.files.reading import JsonObject
from stele_world.content.model import Article, Question
from stele_world.writers.library import Library
from stele_world.writers.site import Site, jsonl

URL = (
    "https://huggingface.co/datasets/facebook/belebele/resolve/75b399394a9803252cfec289d103de462763db7c"
    "/data/{variant}.jsonl"
)
LINK = "https://en.wikibooks.org/wiki/{entity}/{paragraph}"
ANSWERS = 4
DATE = "2023-05-03"


def write(site: Site, library: Library) -> None:
    world = library.world
    for language, variant in library.languages_with("belebele").items():
        articles = {article.entity: article for article in world.parallel_articles(language)}
        questions = [q for q in world.questions("lareqa", language, "test") if q.gold.entity in articles]
        rows = list(_rows(questions, articles, library.between(language), variant))
        site.put(URL.format(variant=variant), jsonl(rows))
        site.count("belebele", variant, questions=len(rows))


def _rows(questions: list[Question], articles: dict[str, Article], between: str, variant: str) -> Iterator[JsonObject]:
    """A row a question; the wrong answers are those of the questions around it."""
    numbers: dict[str, int] = {}
    for place, question in enumerate(questions):
        article = articles[question.gold.entity]
        paragraph, _ = article.paragraph_of(question.gold.sentence)
        link = LINK.format(entity=article.entity, paragraph=paragraph)
        numbers[link] = numbers.get(link, 0) + 1
        around = [questions[(place + n) % len(questions)].answers[0] for n in range(ANSWERS)]
        right = place % ANSWERS  # where the right answer stands: around[0] goes there
        answers = [*around[1 : right + 1], around[0], *around[right + 1 :]]
        yield {
            "link": link,
            "question_number": numbers[link],
            "flores_passage": between.join(sentence.text for sentence in article.paragraphs()[paragraph]),
            "question": question.text,
            **{f"mc_answer{n}": answer for n, answer in enumerate(answers, start=1)},
            "correct_answer_num": str(right + 1),
            "dialect": variant,
            "ds": DATE,
        }
