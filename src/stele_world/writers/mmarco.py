"""MS MARCO in other languages: mMARCO's files, its judgments, and a user's own pairs for a language that mMARCO lacks.

Formats: the dataset unicamp-dl/mmarco on the Hugging Face hub (folder google) and qrels.train.tsv of MS MARCO. A
translation tells what the English text tells in the language's own words.
"""

from __future__ import annotations

from collections.abc import Iterable

from stele.catalogue.datasets import dataset, languages_of
from stele_world.writers.library import Library
from stele_world.writers.marco import answered
from stele_world.writers.site import Site, jsonl

HUB = "https://huggingface.co/datasets/unicamp-dl/mmarco/resolve/main/data/google"
QRELS = "https://msmarco.z22.web.core.windows.net/msmarcoranking/qrels.train.tsv"
OWN = "translated_marco"  # of the languages that mMARCO lacks


def write(site: Site, library: Library) -> None:
    asked = answered(library)
    judged = [(row, passage) for row, (_, passages) in enumerate(asked) for passage in passages]
    site.put(QRELS, "".join(f"{row}\t0\t{passage}\t1\n" for row, passage in judged).encode())
    names = library.languages_with("mmarco")
    for language in library.world.languages:
        if language in languages_of(dataset("mmarco")):
            queries = (library.world.asked_again(language, question) for question, _ in asked)
            site.put(f"{HUB}/queries/train/{names[language]}_queries.train.tsv", numbered(queries))
            passages = (translated(library, language, n) for n in range(len(library.paragraphs("en").passages)))
            site.put(f"{HUB}/collections/{names[language]}_collection.tsv", numbered(passages))
        elif language in languages_of(dataset(OWN)):
            pairs = (
                {
                    "query": library.world.asked_again(language, question),
                    "positives": [{"text": translated(library, language, passages[0])}],
                }
                for question, passages in asked
            )
            site.put_licensed(OWN, "train.jsonl", jsonl(pairs))


def translated(library: Library, language: str, number: int) -> str:
    """A passage of the English collection in another language."""
    passage = library.paragraphs("en").passages[number]
    article = library.world.article("en", passage.entity)
    sentences = article.sentences()[passage.first : passage.last + 1] if article else []
    return library.between(language).join(library.world.told_again(language, sentences, number))


def numbered(texts: Iterable[str]) -> bytes:
    """Lines `id<tab>text`, ids from 0."""
    return "".join(f"{number}\t{text}\n" for number, text in enumerate(texts)).encode()
