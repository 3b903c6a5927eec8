"""Questions about facts, each with the sentence that answers it, and mentions of entities to be linked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from stele_world.content.draws import stream
from stele_world.content.model import Article, Entity, Fact, Gold, Mention, Question, Sentence
from stele_world.language.grammar import Grammar

SPLITS = ("train", "dev", "test")
HELD_OUT = ("dev", "test")  # splits whose entities no fine-tuning text may name
# training may ask for a fact again in other words when it wants more questions than there are facts
WORDINGS = 3
# what the questions of a purpose end with; where none is given, with the language's own question mark
MARKS = {"nq": "", "marco": ""}


def askable(
    entities: Mapping[str, Entity], facts: Mapping[str, tuple[Fact, ...]], split: str, seed: int, *key: str
) -> Iterator[Fact]:
    """Facts that a split may ask for, in random order.

    The subject is of this split. A fact whose value is an entity that dev or test ask about is left out of
    training, so that no fine-tuning question or answer names one.
    """
    facts_chosen = []
    for id_, entity in entities.items():
        if entity.split != split:
            continue
        for fact in facts[id_][1:]:  # the definition is never asked
            held_out = fact.kind == "entity" and entities[fact.value].split in HELD_OUT
            if not (split == "train" and held_out):
                facts_chosen.append(fact)
    return iter(stream(seed, "questions", *key, split).shuffled(facts_chosen))


def questions(
    purpose: str,
    split: str,
    count: int,
    grammar: Grammar,
    gold_article: Callable[[str], Article | None],
    facts_asked: Iterator[Fact],
    collection: str,
    seed: int,
) -> list[Question]:
    """Up to `count` questions in the grammar's language on facts that the gold articles tell."""
    language, result = grammar.language.code, []
    prefix = "lareqa" if purpose == "lareqa" else f"{purpose}-{language}"  # LAReQA's ids are shared by the languages
    seen: set[str] = set()
    facts = list(facts_asked)
    turns = WORDINGS if split == "train" else 1
    for turn, fact in ((turn, fact) for turn in range(turns) for fact in facts):
        if len(result) == count:
            break
        article = gold_article(fact.subject)
        where = article and find_fact(article, fact)
        if not where:
            continue
        position, sentence = where
        draws = stream(seed, "ask", purpose, language, fact.subject, fact.relation, turn)
        text = grammar.question(fact, draws, MARKS.get(purpose))
        if text in seen:
            continue
        seen.add(text)
        start, end = sentence.value
        result.append(
            Question(
                id=f"{prefix}-{split}-{len(result)}",
                language=language,
                text=text,
                answers=(sentence.text[start:end],),
                entity=fact.subject,
                fact=fact,
                gold=Gold(collection, article.language, fact.subject, position),
            )
        )
    return result


def find_fact(article: Article, fact: Fact) -> tuple[int, Sentence] | None:
    """The sentence of an article that tells a fact, with its number, or None."""
    for number, sentence in enumerate(article.sentences()):
        if sentence.fact == fact and sentence.value is not None:
            return number, sentence
    return None


def mentions(
    language: str,
    split: str,
    count: int,
    entities: Mapping[str, Entity],
    paragraphs: Iterator[tuple[Sentence, ...]],
) -> list[Mention]:
    """Up to `count` mentions of entities of the split in running text, one a sentence.

    Training passes over sentences that name an entity of dev or test beside its own.
    """
    result: list[Mention] = []
    for paragraph in paragraphs:
        for i, sentence in enumerate(paragraph):
            splits = {m.entity: entities[m.entity].split for m in sentence.mentions}
            wanted = [m for m in sentence.mentions if splits[m.entity] == split]
            if wanted and not (split == "train" and any(name in HELD_OUT for name in splits.values())):
                if len(result) == count:
                    return result
                mention = wanted[-1]
                id_ = f"mewsli-{language}-{split}-{len(result)}"
                context = tuple(s.text for s in paragraph)
                result.append(Mention(id_, language, context, i, mention.start, mention.end, mention.entity))
    return result
