"""Mining recipes: what each reads, its parts, and what its command is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from stele import catalogue
from stele.errors import SteleError, unknown
from stele.plan.per_instance import once
from stele.plan.settings import Settings
from stele.recipes import merge

READ = ("corpus", "parts")  # keys of a mining recipe that say what is read, not how it is mined
TOKENS = ("query_tokens", "passage_tokens")  # those of knowledge pairs that only their tokenising reads


@dataclass(frozen=True, eq=False)
class Mining:
    settings: Settings

    @once
    def whole_recipe(self, mining: str) -> dict[str, Any]:
        """A mining recipe with what it reads and how it mines."""
        return merge.pairs(mining, self.settings.sizes)

    @once
    def recipe(self, mining: str) -> dict[str, Any]:
        """What the mining command is given: how it mines."""
        return {name: value for name, value in self.whole_recipe(mining).items() if name not in READ}

    def text_recipe(self, mining: str) -> dict[str, Any]:
        """What mining the texts of knowledge pairs is given: another length in tokens is no other text."""
        return {name: value for name, value in self.recipe(mining).items() if name not in TOKENS}

    def token_recipe(self, mining: str) -> dict[str, Any]:
        """What tokenising knowledge pairs is given."""
        return {name: value for name, value in self.recipe(mining).items() if name in ("method", *TOKENS)}

    def modules(self, mining: str) -> list[str]:
        """The module of its method."""
        return [f"pairs.methods.{self.recipe(mining)['method']}"]

    # --- what is read -------------------------------------------------------------------------------------------------
    def web_corpus(self, language: str) -> str:
        """The corpus of a language's web text: CC-100, or the named substitute for a language it lacks."""
        return catalogue.get("languages", language).get("cc100_substitute", {"corpus": "cc100"})["corpus"]

    def corpus(self, mining: str, language: str) -> str:
        """The corpus that a mining recipe reads in a language: its own, or the language's web text."""
        named = self.whole_recipe(mining).get("corpus", "cc100")
        return self.web_corpus(language) if named == "cc100" else named

    def reads_knowledge(self, mining: str) -> bool:
        """Whether a mining recipe reads the knowledge base, and not the text of a corpus alone."""
        return "parts" in self.whole_recipe(mining)

    def pairs_languages(self, mining: str) -> bool:
        """Whether a mining recipe makes pairs of two languages."""
        return self.whole_recipe(mining).get("parts") == "language_pairs"

    @cached_property
    def by_rule(self) -> dict[str, list[str]]:
        """The mining recipes by the rule that starts with them: `mine` and `knowledge_pairs`."""
        rules: dict[str, list[str]] = {"mine": [], "knowledge_pairs": []}
        for name in sorted(catalogue.load("recipes")["pairs"]):
            rules["knowledge_pairs" if self.reads_knowledge(name) else "mine"].append(name)
        return rules

    # --- parts --------------------------------------------------------------------------------------------------------
    def parts(self, mining: str, languages: Iterable[str]) -> list[str]:
        """The parts that a mining recipe has in some languages: the languages, or all pairs of them ("en-fr")."""
        if not self.pairs_languages(mining):
            return list(languages)
        return ["-".join(pair) for pair in combinations(sorted(set(languages)), 2)]

    def part_codes(self, mining: str, part: str) -> list[str]:
        """The languages of a part, "en" or "en-fr"; a part of another shape is an error that shows the right one."""
        known = catalogue.load("languages")
        codes = part.split("-") if part not in known else [part]
        for code in codes:
            if code not in known:
                raise unknown("language", code, known, f"pairs/{mining}/{part}")
        if (right := self.parts(mining, codes)) != [part]:
            raise SteleError(f"pairs/{mining}/{part}: want {' or '.join(right) or 'two languages'}")
        return codes
