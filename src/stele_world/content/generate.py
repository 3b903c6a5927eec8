"""The generated world: `generate(sizes, languages, seed)` -> World, which writes all texts on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice, product

from stele.errors import unknown
from stele.recipes.world import WorldSizes
from stele_world.content.articles import Teller, parallel_pairs, translations
from stele_world.content.concepts import inventory
from stele_world.content.draws import stream
from stele_world.content.facts import Facts, entities
from stele_world.content.model import Article, Entity, Fact, Mention, Question, Sentence
from stele_world.language.english import English
from stele_world.language.grammar import Grammar
from stele_world.language.lexicon import ENGLISH, Lexicon, language

HELD_OUT = ("dev", "test")  # splits whose entities no fine-tuning text may name
# training may ask for a fact again in other words when it wants more questions than there are facts
WORDINGS = 3
# what the questions of a purpose end with; where none is given, with the language's own question mark
MARKS = {"nq": "", "marco": ""}


def mentions(
    language: str,
    split: str,
    count: int,
    entities: Mapping[str, Entity],
    paragraphs: Iterator[tuple[Sentence, ...]],
) -> list[Mention]:
    """Selects up to `count` mentions of entities of the split in running text, one per sentence.

    Mentions of train exclude sentences that also name an entity of dev or test.
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


LAREQA_QUESTIONS_A_CONTEXT = 5
TRANSLATED = 100  # sentences of XNLI, documents of the United Nations, of a scale whose `parallel` has none
ARTICLES_KEPT = 50_000  # bounds the memory of a large world; a small one is told once


def generate(sizes: WorldSizes, languages: Sequence[str], seed: int) -> World:
    """Generates the world of `seed` in the given languages (always with English).

    The texts of a language do not depend on the other languages.
    """
    codes = list(languages) if ENGLISH in languages else [ENGLISH, *languages]
    return World(sizes, tuple(codes), seed)


class World:
    """A world: entities, facts and all texts about them. All methods are deterministic."""

    def __init__(self, sizes: WorldSizes, languages: tuple[str, ...], seed: int) -> None:
        self.sizes, self.languages, self.seed = sizes, languages, seed
        self.concepts = inventory(sizes)
        self.lexicons = {c: Lexicon(language(c), self.concepts, sizes.dials, seed) for c in languages}
        self.entities: dict[str, Entity] = entities(self.concepts, sizes, self.lexicons, seed)
        self.facts = Facts(self.concepts, self.entities, sizes, seed)
        self.grammars = {
            code: (English if code == ENGLISH else Grammar)(lexicon, self.concepts, self.entities)
            for code, lexicon in self.lexicons.items()
        }
        self._tellers = {code: Teller(grammar, self.facts) for code, grammar in self.grammars.items()}
        self._article = lru_cache(ARTICLES_KEPT)(lambda language, entity: self._tellers[language].article(entity))

    def articles(self, language: str) -> list[Article]:
        """All Wikipedia articles of a language, in the order of the entities' ids."""
        return [article for id_ in self.entities if (article := self.article(language, id_))]

    def article(self, language: str, entity: str) -> Article | None:
        """Article about an entity, or None if the language has none."""
        self._teller(language)
        covered = entity in self.entities and language in self.entities[entity].coverage
        return self._article(language, entity) if covered else None

    def parallel_articles(self, language: str) -> list[Article]:
        """Contexts of LAReQA: articles that are equal, sentence by sentence, in every language."""
        teller = self._teller(language)
        wanted = self.sizes.questions["lareqa"].test if "lareqa" in self.sizes.questions else 0
        test = [id_ for id_, entity in self.entities.items() if entity.split == "test"]
        return [teller.parallel_article(entity) for entity in test[: -(-wanted // LAREQA_QUESTIONS_A_CONTEXT)]]

    def web_documents(self, language: str) -> Iterator[list[list[str]]]:
        """Yields the documents of the crawl, as paragraphs of sentences."""
        teller = self._teller(language)
        for number in range(self.sizes.web_documents):
            yield [[s.text for s in paragraph] for paragraph in teller.document("web", number)]

    def questions(self, purpose: str, language: str, split: str) -> list[Question]:
        """Questions of a purpose (nq, marco, squad, mrtydi, xor, lareqa) in a language, for train, dev or test.

        nq, marco, squad: in English, about English articles. mrtydi: about articles of the language itself. xor: about
        English articles. lareqa: the same questions in every language, about its parallel articles.
        """
        if purpose not in self.sizes.questions:
            raise unknown("purpose", purpose, self.sizes.questions, "world.questions")
        self._teller(language)
        if purpose == "lareqa":
            prefix, key = purpose, (purpose,)  # its ids and facts are shared by the languages
            article = {a.entity: a for a in self.parallel_articles(language)}.get
        else:
            prefix, key = f"{purpose}-{language}", (purpose, language)
            article = partial(self.article, language if purpose == "mrtydi" else ENGLISH)
        facts = self._askable(split, *key)
        turns = product(range(WORDINGS if split == "train" else 1), facts)
        asked = islice(self._asked(purpose, language, article, turns), getattr(self.sizes.questions[purpose], split))
        return [Question(f"{prefix}-{split}-{number}", language, *told) for number, told in enumerate(asked)]

    def _askable(self, split: str, *key: str) -> list[Fact]:
        """Facts that the questions of a split may ask for, in random order.

        The split must be that of the fact's subject. Training excludes facts whose value is an entity of dev or test,
        so that no fine-tuning question or answer names one.
        """
        facts = [
            fact
            for id_, entity in self.entities.items()
            if entity.split == split
            for fact in self.facts.of[id_][1:]  # no question asks for the definition
            if split != "train" or fact.kind != "entity" or self.entities[fact.value].split not in HELD_OUT
        ]
        return stream(self.seed, "questions", *key, split).shuffled(facts)

    def _asked(
        self,
        purpose: str,
        language: str,
        article_about: Callable[[str], Article | None],
        turns: Iterable[tuple[int, Fact]],
    ) -> Iterator[tuple[str, str, Fact, int]]:
        """Yields (question, answer, fact, sentence number) for facts that articles state; no question comes twice."""
        seen: set[str] = set()
        for turn, fact in turns:
            article = article_about(fact.subject)
            sentences = enumerate(article.sentences() if article else ())
            place, sentence = next(((n, s) for n, s in sentences if s.fact == fact and s.value), (0, None))
            draws = stream(self.seed, "ask", purpose, language, fact.subject, fact.relation, turn)
            if sentence and (text := self.grammars[language].question(fact, draws, MARKS.get(purpose))) not in seen:
                seen.add(text)
                start, end = sentence.value
                yield text, sentence.text[start:end], fact, place

    def mentions(self, language: str, split: str) -> list[Mention]:
        """Mentions for entity linking of dev or test, in news that no other text repeats."""
        count = getattr(self.sizes.mentions, split)
        teller = self._teller(language)
        paragraphs = (p for number in range(20 * count) for p in teller.document(f"news {split}", number))
        return mentions(language, split, count, self.entities, paragraphs)

    def parallel(self, language: str, purpose: str) -> list[tuple[str, str]]:
        """Pairs (English, foreign) for "tatoeba" (a test set) or "training"; `language` is another one than English."""
        if purpose not in self.sizes.parallel:
            raise unknown("purpose", purpose, self.sizes.parallel, "world.parallel")
        pair = self._teller(ENGLISH), self._teller(language)
        return list(parallel_pairs(*pair, purpose, self.sizes.parallel[purpose]))

    def told_again(self, language: str, sentences: Sequence[Sentence], *key: str | int) -> list[str]:
        """Translates another language's sentences: states their facts in words drawn by `key`."""
        return self._teller(language).told_again(sentences, stream(self.seed, "told again", language, *key))

    def asked_again(self, language: str, question: Question) -> str:
        """Translates a question of another language."""
        self._teller(language)
        fact, mark = question.fact, MARKS.get(question.id.partition("-")[0])
        draws = stream(self.seed, "asked again", language, question.id)
        return self.grammars[language].question(fact, draws, mark)

    def newswire(self, language: str) -> Iterator[list[tuple[Sentence, ...]]]:
        """Yields documents of a test collection, in paragraphs: news that no other text repeats."""
        teller = self._teller(language)
        return (teller.document("newswire", number) for number in range(self.sizes.newswire))

    def translations(self) -> Iterator[dict[str, str]]:
        """Yields sentences like the test set's, each in most languages (language -> text), two per pair of that set."""
        return translations([*self._tellers.values()], 2 * self.sizes.parallel.get("tatoeba", 0), "translations")

    def translated_sentences(self, languages: Sequence[str]) -> Iterator[dict[str, str]]:
        """Yields sentences in all `languages` (language -> text), like XNLI's; no text comes twice."""
        tellers, count = [self._teller(code) for code in languages], self.sizes.parallel.get("xnli", TRANSLATED)
        return islice(_unrepeated(translations(tellers, 2 * count, "xnli", share=1.0, native=False)), count)

    def translated_documents(self, language: str) -> list[Article]:
        """Documents that are equal, sentence by sentence, in every language, each on another entity."""
        teller, count = self._teller(language), self.sizes.parallel.get("uncorpus", TRANSLATED)
        chosen = stream(self.seed, "uncorpus").shuffled(list(self.entities))[:count]
        return [teller.parallel_article(entity) for entity in chosen]

    def _teller(self, language: str) -> Teller:
        if language not in self._tellers:
            raise unknown("language", language, self.languages, "world")
        return self._tellers[language]


def _unrepeated(translated: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    seen: set[tuple[str, str]] = set()
    for texts in translated:
        if seen.isdisjoint(texts.items()):
            seen.update(texts.items())
            yield texts
