"""What several writers need of a world, made once: page numbers, titles, passages, ids of questions."""

from __future__ import annotations

import hashlib
from functools import cache, cached_property
from typing import TYPE_CHECKING

from stele.catalogue import entries
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError
from stele_world.content.model import Article
from stele_world.writers.passages import Collection, hundred_words, paragraphs

if TYPE_CHECKING:
    from stele_world.content.generate import World

FIRST_PAGE, PAGE_STEP = 10, 3  # page ids have gaps, as those of real wikis do; redirects and other pages sit in them


class Library:
    """A world, with what the writers derive from it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.articles = cache(self._articles)
        self.paragraphs = cache(self._paragraphs)
        self.titles = cache(self._titles)

    def _articles(self, language: str) -> list[Article]:
        articles = list(self.world.articles(language))
        titles: dict[str, str] = {}
        for article in articles:
            if (other := titles.setdefault(article.title, article.entity)) != article.entity:
                raise SteleError(
                    f"generated world: {other} and {article.entity} share the {language} title {article.title!r}"
                )
        return articles

    def _titles(self, language: str) -> dict[str, str]:
        """Entity -> title of its page in the Wikipedia of `language`."""
        return {a.entity: a.title for a in self.articles(language)}

    def pages(self, language: str) -> dict[str, int]:
        """Entity -> id of its page in the Wikipedia of `language`."""
        return {a.entity: FIRST_PAGE + PAGE_STEP * n for n, a in enumerate(self.articles(language))}

    def languages_with(self, field: str) -> dict[str, str]:
        """The world's languages that languages.yaml gives `field` for, with its value (e.g. the code in file names)."""
        known = entries(Language)
        return {code: name for code in self.world.languages if (name := getattr(known[code], field))}

    def between(self, language: str) -> str:
        """What stands between two sentences of running text: nothing in Chinese and Japanese, else a blank."""
        return "" if entries(Language)[language].script in ("Han", "Japanese") else " "

    def _paragraphs(self, language: str) -> Collection:
        pages, between = self.pages(language), self.between(language)
        return Collection(p for a in self.articles(language) for p in paragraphs(a, pages[a.entity], between))

    @cached_property
    def hundred_words(self) -> Collection:
        """The English Wikipedia in passages of 100 words, numbered from 1."""
        passages = []
        for article in self.articles("en"):
            passages += hundred_words(article, len(passages) + 1)
        return Collection(passages)


def hex_id(key: str) -> str:
    """A SQuAD-like id: 24 hex digits."""
    return hashlib.sha256(key.encode()).hexdigest()[:24]


def long_id(key: str) -> str:
    """A TyDi-like id: a signed 64-bit number."""
    return str(int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True))
