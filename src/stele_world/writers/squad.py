"""SQuAD v1.1: questions about paragraphs of English articles, with the offset of each answer.

Format: rajpurkar/SQuAD-explorer, dataset/{train,dev}-v1.1.json.
"""

from __future__ import annotations

import json
from collections import defaultdict

from stele.files.reading import JsonObject
from stele_world.content.model import Article, Question
from stele_world.writers.library import Library, hex_id
from stele_world.writers.site import Site

URL = "https://raw.githubusercontent.com/rajpurkar/SQuAD-explorer/master/dataset/{split}-v1.1.json"


def question_entry(question: Question, article: Article, sentence_start: int) -> JsonObject:
    """A question with the answer's offset in its paragraph, where the gold sentence begins at `sentence_start`."""
    sentence = article.sentences()[question.gold.sentence]
    start, end = sentence.value
    return {
        "answers": [{"answer_start": sentence_start + start, "text": sentence.text[start:end]}],
        "question": question.text,
        "id": hex_id(question.id),
    }


def write(site: Site, library: Library) -> None:
    between = library.between("en")
    for split in ("train", "dev"):
        questions: dict[str, list[Question]] = defaultdict(list)
        for question in library.world.questions("squad", "en", split):
            questions[question.gold.entity].append(question)
        data = []
        for article in library.articles("en"):
            by_paragraph: dict[int, list[JsonObject]] = defaultdict(list)
            texts = [[s.text for s in paragraph] for paragraph in article.paragraphs()]
            for question in questions.get(article.entity, ()):
                number, within = article.paragraph_of(question.gold.sentence)
                start = sum(len(t) + len(between) for t in texts[number][:within])
                by_paragraph[number].append(question_entry(question, article, start))
            if by_paragraph:
                paragraphs = [
                    {"context": between.join(texts[n]), "qas": qas} for n, qas in sorted(by_paragraph.items())
                ]
                data.append({"title": article.title.replace(" ", "_"), "paragraphs": paragraphs})
        site.put(URL.format(split=split), json.dumps({"data": data, "version": "1.1"}).encode())
        site.count("squad", **{split: sum(len(p["qas"]) for article in data for p in article["paragraphs"])})
