"""Mining recipes, one class per method. Lengths in tokens include the two special tokens that training adds.

A method without a class here has its recipe, the class `Recipe`, in its own file (stele/pairs/methods).
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import Field, model_validator

from stele.errors import SteleError, unknown
from stele.files.strict import Strict, Values, validate
from stele.recipes import Recipe, plan_key
from stele.registry import load_named, module_names

METHODS = "stele.pairs.methods"
SPECIAL = 2  # special tokens that training puts around a segment: lengths in recipes count them, stores leave them out


Corpus = Literal["cc100", "documents", "wikipedia", "wikitext103"]


class MiningRecipe(Recipe):
    """Keys that all mining methods share; each method adds its own."""

    corpus: Corpus = plan_key(
        "cc100", description="whose documents; `documents` of one's own take the place of `cc100` where there are some"
    )
    parts: Literal["languages", "language_pairs"] | None = plan_key(
        description="the knowledge base, a language or two a job; None: the documents of `corpus`"
    )
    vectors: str | None = plan_key(description="a dataset of aligned words' vectors: sections are paired by them")

    method: str

    def text(self, sentence: str) -> str:
        """The part of a sentence that is tokenised: all of it, unless the method cuts sentences by words."""
        return sentence


class MlmRecipe(MiningRecipe):
    """Mining recipe of MLM. Lengths include the two special tokens that training adds, except `least`."""

    method: Literal["mlm"] = "mlm"
    length: int = Field(256, ge=3, description="tokens of a stretch")
    least: int = Field(16, ge=1, description="a document's last stretch is dropped when it has fewer tokens of text")


class UnitRecipe(MiningRecipe):
    """Keys for cutting documents into pieces of units: sentences or blocks. Lengths include the two special tokens."""

    unit: Literal["sentences", "blocks"] = "sentences"
    sentence_words: int | None = Field(64, ge=1, description="unit sentences: most words of one; null: any number")
    sentence_tokens: int = Field(64, ge=3, description="unit sentences: most tokens of one")
    block_tokens: int = Field(64, ge=3, description="unit blocks: most tokens of one")
    sentences: int = Field(32, ge=2, description="most units of a piece")
    sentences_min: int | None = Field(
        None,
        ge=2,
        description="a piece with fewer units is dropped; null: 2 sentences, or as many blocks as a piece has",
    )

    @model_validator(mode="after")
    def _least_fits(self) -> UnitRecipe:
        if self.least > self.sentences:
            raise ValueError(f"sentences_min: {self.least} is more than the {self.sentences} `sentences` of a piece")
        return self

    @property
    def least(self) -> int:
        return self.sentences_min or (2 if self.unit == "sentences" else self.sentences)

    def text(self, sentence: str) -> str:
        """Cuts a sentence to its first `sentence_words` words; returns the same object if it has no more."""
        most = self.sentence_words
        if self.unit != "sentences" or most is None or len(sentence) < 2 * most:
            return sentence  # too short to have more words
        words = sentence.split(None, most)
        return sentence if len(words) <= most else " ".join(words[:most])


class MsmRecipe(UnitRecipe):
    """Mining recipe of MSM, which has only the keys of units."""

    method: Literal["msm"] = "msm"


class CropRecipe(UnitRecipe):
    """Mining recipe of CROP: the window, and the keys of MSM's units."""

    method: Literal["crop"] = "crop"
    window: int = Field(5, ge=1, description="units from the anchor to its neighbour, at most")


class IctRecipe(MiningRecipe):
    """Mining recipe of ICT. Lengths in tokens include the two special tokens that training adds."""

    method: Literal["ict"] = "ict"
    query_tokens: int = Field(64, ge=3, description="most tokens of a query")
    block_tokens: int = Field(288, ge=3, description="most tokens of a block, its query included")
    removal: float = Field(0.9, ge=0, le=1, description="probability that the query is taken out of its block")
    queries_per_block: int = Field(1, ge=1, description="different sentences of a block that are queries")


# --- on the knowledge base --------------------------------------------------------------------------------------------
class TokenLengths(Strict):
    """Keys that `pairs tokenise` reads; it reads no others, and no other command reads them."""

    query_tokens: int = Field(128, ge=3, description="most tokens of a query, special ones included")
    passage_tokens: int = Field(128, ge=3, description="the same of a passage")


OF_TOKENS = frozenset(TokenLengths.model_fields)


class KnowledgeRecipe(MiningRecipe, TokenLengths):
    """Keys that all methods on the knowledge base share; each method adds its own."""

    passage_words: int = Field(100, ge=1, description="most words of a passage, longer sentences apart")
    min_characters: int = Field(10, ge=1, description="a text with fewer letters or digits is near-empty: no pair")
    max_pairs: int | None = Field(None, ge=1, description="most pairs of a part; null: all there are")


class IlkRecipe(KnowledgeRecipe):
    """Mining recipe of ILK, without keys of its own."""

    method: Literal["ilk"] = "ilk"
    max_pairs: int | None = Field(5_000_000, ge=1)


class ClkRecipe(KnowledgeRecipe):
    """Mining recipe of CLK."""

    method: Literal["clk"] = "clk"
    passages: int = Field(3, ge=1, description="first passages of a page that are its segments")
    pairing: Literal["all", "aligned", "one"] = Field("all", description="which passages of two pages are joined")
    max_pairs: int | None = Field(500_000, ge=1)


class DsClkRecipe(ClkRecipe):
    """Mining recipe of DS-CLK, with CLK's keys."""

    method: Literal["ds_clk"] = "ds_clk"


class UhsIlkRecipe(KnowledgeRecipe):
    """Mining recipe of UHS-ILK."""

    method: Literal["uhs_ilk"] = "uhs_ilk"
    passages: int = Field(3, ge=1, description="first passages that describe a page")
    max_pairs: int | None = Field(5_000_000, ge=1)


class ClhedRecipe(UhsIlkRecipe):
    """Mining recipe of CLHED, with UHS-ILK's keys."""

    method: Literal["clhed"] = "clhed"
    max_pairs: int | None = Field(500_000, ge=1)


NLTK = {"de": "GERMAN", "en": "EN_PLUS", "es": "SPANISH", "fr": "FRENCH"}  # bm25s's names of NLTK's lists


class SectionRecipe(MiningRecipe):
    """Mining recipe of section pairs."""

    method: Literal["section"] = "section"
    threshold: float = Field(0.3, ge=-1, lt=1, description="the cosine of two headings is above it")
    least_sentences: int = Field(5, ge=1, description="of both sections of a pair")
    stop_words: dict[str, str] = Field(
        NLTK, description="language -> a list of bm25s, by the end of its name there; others have none"
    )
    max_pairs: int | None = Field(None, ge=1, description="most pairs of a part; null: all there are")


# --- by name ----------------------------------------------------------------------------------------------------------
@cache
def methods() -> dict[str, type[MiningRecipe]]:
    """Recipe class of each mining method, by the method's name."""
    here = {}
    for kind in list(globals().values()):
        if isinstance(kind, type) and issubclass(kind, MiningRecipe):
            here[kind.model_fields["method"].default] = kind
    names = module_names(METHODS)
    return {name: here[name] if name in here else load_named(METHODS, name, "mining method").Recipe for name in names}


def parse_recipe(values: Values, where: str = "--recipe") -> MiningRecipe:
    """Validates a recipe with the model of its method.

    Raises SteleError with the key, what is wrong with it and what is valid.
    """
    if not isinstance(values.get("method"), str):
        raise SteleError(f"{where}: want an object with the key `method`, one of {', '.join(methods())}")
    if values["method"] not in methods():
        raise unknown("mining method", values["method"], methods(), where)
    return validate(methods()[values["method"]], values, where)
