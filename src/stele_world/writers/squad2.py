"""SQuAD v2.0: SQuAD's questions, and some about paragraphs that do not answer them.

Format: rajpurkar/SQuAD-explorer, dataset/{train,dev}-v2.0.json. A question without an answer is a question on another
entity, asked of a paragraph that does not name that one; what is plausible there is not written.
"""

from __future__ import annotations

import json
from collections import defaultdict

from stele.files.reading import JsonObject
from stele_world.content.model import Question, Sentence
from stele_world.writers.library import Library, hex_id
from stele_world.writers.site import Site
from stele_world.writers.squad import question_entry

URL = "https://raw.githubusercontent.com/rajpurkar/SQuAD-explorer/master/dataset/{split}-v2.0.json"
UNANSWERED = 3  # one more question for so many: a third of the real ones has no answer


def write(site: Site, library: Library) -> None:
    for split in ("train", "dev"):
        data = _articles(library, library.world.questions("squad", "en", split))
        site.put(URL.format(split=split), json.dumps({"version": "v2.0", "data": data}).encode())
        site.count("squad2", **{split: sum(len(p["qas"]) for article in data for p in article["paragraphs"])})


def _articles(library: Library, questions: list[Question]) -> list[JsonObject]:
    """The paragraphs that answer a question, with all that is asked of them."""
    between, articles = library.between("en"), {article.entity: article for article in library.articles("en")}
    asked: dict[tuple[str, int], list[JsonObject]] = defaultdict(list)
    places = [(q.entity, *articles[q.entity].paragraph_of(q.gold.sentence)) for q in questions]
    for number, (question, (entity, paragraph, within)) in enumerate(zip(questions, places, strict=True)):
        texts = articles[entity].paragraphs()[paragraph]
        start = sum(len(sentence.text) + len(between) for sentence in texts[:within])
        entry = {**question_entry(question, articles[entity], start), "is_impossible": False}
        asked[entity, paragraph].append(entry)
        other = questions[number - 1]
        if number % UNANSWERED == 0 and not _names(texts, entity, other.entity):
            name = hex_id(f"{other.id} {entity}")
            asked[entity, paragraph].append({"answers": [], "question": other.text, "id": name, "is_impossible": True})
    data: dict[str, list[JsonObject]] = defaultdict(list)
    for (entity, paragraph), qas in sorted(asked.items()):
        context = between.join(sentence.text for sentence in articles[entity].paragraphs()[paragraph])
        data[entity].append({"qas": qas, "context": context})
    return [
        {"title": articles[entity].title.replace(" ", "_"), "paragraphs": paragraphs}
        for entity, paragraphs in data.items()
    ]


def _names(paragraph: tuple[Sentence, ...], subject: str, entity: str) -> bool:
    """Whether a paragraph about `subject` is about an entity or names it."""
    return entity == subject or any(link.entity == entity for sentence in paragraph for link in sentence.mentions)
