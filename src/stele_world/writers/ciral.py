"""CIRAL: English questions about passages in African languages, with judgments of which some are 0.

Formats: CIRAL/ciral-corpus, passages-v1.0/{name}_passages.jsonl: {docid, title, text, url}; CIRAL/ciral,
ciral-{name}/topics and qrels: id<TAB>text, and TREC's layout. The passages are paragraphs of a Wikipedia, the topics
its Mr. TyDi questions of `dev`, asked in English.
"""

from __future__ import annotations

from stele_world.content.draws import stream
from stele_world.writers.library import Library
from stele_world.writers.site import Site, jsonl

CORPUS = "https://huggingface.co/datasets/CIRAL/ciral-corpus/resolve/main/passages-v1.0/{name}_passages.jsonl"
FOLDER = "https://huggingface.co/datasets/CIRAL/ciral/resolve/main/ciral-{name}"
PAGE = "https://news.example/{language}/{passage}"
QUESTIONS = 30  # at most
NOT_RELEVANT = 2  # judged 0 of a topic


def write(site: Site, library: Library) -> None:
    for language, name in library.languages_with("ciral").items():
        passages = library.paragraphs(language).passages
        rows = [
            {"docid": p.id, "title": p.title, "text": p.text, "url": PAGE.format(language=language, passage=p.id)}
            for p in passages
        ]
        site.put(CORPUS.format(name=name), jsonl(rows))
        topics, judged = _judged(library, language)
        folder = FOLDER.format(name=name)
        site.put(f"{folder}/topics/topics.ciral-v1.0-{language}-test-a.tsv", _lines(topics))
        site.put(f"{folder}/qrels/qrels.ciral-v1.0-{language}-test-a.tsv", _lines(judged))
        site.count("ciral_corpus", language, passages=len(rows))
        site.count("ciral", language, queries=len(topics), judgments=len(judged))


def _judged(library: Library, language: str) -> tuple[list[str], list[str]]:
    """The lines of topics, and those of judgments: relevant passages, then some that are near by words."""
    world, collection = library.world, library.paragraphs(language)
    topics: list[str] = []
    judged: list[str] = []
    for question in world.questions("mrtydi", language, "dev")[:QUESTIONS]:
        if not (positives := collection.positives(question)):
            continue
        name = str(len(topics) + 1)
        draws = stream(world.seed, "ask", "ciral", language, question.fact.subject, question.fact.relation)
        topics.append(f"{name}\t{world.grammars['en'].question(question.fact, draws, None)}")
        others = [n for n in collection.hard(question, question.text, positives[0], NOT_RELEVANT) if n not in positives]
        judgments = [*((n, 1) for n in positives), *((n, 0) for n in others)]
        judged += [f"{name} Q0 {collection.passages[n].id} {relevance}" for n, relevance in judgments]
    return topics, judged


def _lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
