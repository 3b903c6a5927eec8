"""Mining recipes, one class per method. Lengths in tokens include the two special tokens that training adds.

A method without a class here has its recipe, the class `Recipe`, in its own file (stele/pairs/methods).
"""

from functools import cache
from typing import Literal, Self

from pydantic import Field, model_validator

from stele.errors import SteleError, check_known
from stele.files.strict import Strict, Values, validate
from stele.recipes import Recipe, plan_key
from stele.registry import load_named, module_names

METHODS = "stele.pairs.methods"
SPECIAL = 2  # special tokens that training puts around a segment: lengths in recipes count them, stores leave them out


Corpus = Literal["cc100", "documents", "wikipedia", "wikitext103"]


class MiningRecipe(Recipe):
    """Keys that all mining methods share; each method adds its own."""

    corpus: Corpus = plan_key(
        "cc100",
        description="corpus whose documents are mined; documents of your own (user_data.documents) replace cc100",
    )
    parts: Literal["languages", "language_pairs"] | None = plan_key(
        description="what a job mines in the knowledge base: one language, or a pair of languages; null: it mines "
        "the documents of `corpus`"
    )
    vectors: str | None = plan_key(
        description="dataset of aligned word vectors, by which the headings of sections are matched; null: no word "
        "vectors"
    )

    method: str

    def text(self, sentence: str) -> str:
        """The part of a sentence that is tokenised: all of it, unless the method cuts sentences by words."""
        return sentence


class MlmRecipe(MiningRecipe):
    """Mining recipe of MLM. Lengths include the two special tokens that training adds, except `least`."""

    method: Literal["mlm"] = "mlm"
    length: int = Field(256, ge=3, description="most tokens of a span of text, special ones included")
    least: int = Field(
        16, ge=1, description="fewest tokens, without special ones, of a document's last span; a shorter one is dropped"
    )


class UnitRecipe(MiningRecipe):
    """Keys for cutting documents into pieces of units: sentences or blocks. Lengths include the two special tokens."""

    unit: Literal["sentences", "blocks"] = Field(
        "sentences", description="what a document is cut into: its sentences, or blocks of whole sentences"
    )
    sentence_words: int | None = Field(
        64, ge=1, description="with unit sentences: most words of a sentence; longer ones are cut; null: any number"
    )
    sentence_tokens: int = Field(
        64,
        ge=3,
        description="with unit sentences: most tokens of a sentence, special ones included; longer ones are cut",
    )
    block_tokens: int = Field(64, ge=3, description="with unit blocks: most tokens of a block, special ones included")
    sentences: int = Field(32, ge=2, description="most units of a piece, into which longer documents are split")
    sentences_min: int | None = Field(
        None,
        ge=2,
        description="fewest units of a piece; a smaller one is dropped; null: 2 with unit sentences, the value of "
        "`sentences` with unit blocks",
    )

    @model_validator(mode="after")
    def _least_fits(self) -> Self:
        if self.least > self.sentences:
            raise ValueError(f"sentences_min: {self.least} is more than the {self.sentences} `sentences` of a piece")
        return self

    @property
    def least(self) -> int:
        return self.sentences_min or (2 if self.unit == "sentences" else self.sentences)

    @property
    def unit_tokens(self) -> int:
        """Most tokens of a unit, special ones included."""
        return self.sentence_tokens if self.unit == "sentences" else self.block_tokens

    def text(self, sentence: str) -> str:
        """Cuts a sentence to its first `sentence_words` words; returns the same object if it has no more."""
        most = self.sentence_words
        if self.unit != "sentences" or most is None or len(sentence) < 2 * most:
            return sentence  # too short to have more words
        words = sentence.split(None, most)
        return sentence if len(words) <= most else " ".join(words[:most])


class MsmRecipe(UnitRecipe):
    method: Literal["msm"] = "msm"


class CropRecipe(UnitRecipe):
    method: Literal["crop"] = "crop"
    window: int = Field(5, ge=1, description="largest distance, in units, between an anchor and its neighbour")


class IctRecipe(MiningRecipe):
    method: Literal["ict"] = "ict"
    query_tokens: int = Field(
        64, ge=3, description="most tokens of a query, special ones included; longer ones are cut"
    )
    block_tokens: int = Field(288, ge=3, description="most tokens of a block, special ones and the query included")
    removal: float = Field(0.9, ge=0, le=1, description="probability that a query is removed from its block")
    queries_per_block: int = Field(1, ge=1, description="most sentences of a block that become queries")


# --- on the knowledge base --------------------------------------------------------------------------------------------
class TokenLengths(Strict):
    """Keys that only `pairs tokenise` reads; it reads no others."""

    query_tokens: int = Field(128, ge=3, description="most tokens of a query, special ones included")
    passage_tokens: int = Field(128, ge=3, description="most tokens of a passage, special ones included")


OF_TOKENS = frozenset(TokenLengths.model_fields)


class KnowledgeRecipe(MiningRecipe, TokenLengths):
    """Keys that all methods on the knowledge base share; each method adds its own."""

    passage_words: int = Field(
        100,
        ge=1,
        description="most words of a passage, which has whole sentences; a longer sentence is a passage of its own",
    )
    min_characters: int = Field(
        10, ge=1, description="fewest letters and digits of a text; a pair with a shorter text is dropped"
    )
    max_pairs: int | None = Field(
        None, ge=1, description="most pairs of a part (a language or a language pair); null: no limit"
    )


class IlkRecipe(KnowledgeRecipe):
    method: Literal["ilk"] = "ilk"
    max_pairs: int | None = Field(5_000_000, ge=1, description="most pairs of a language; null: no limit")


class ClkRecipe(KnowledgeRecipe):
    method: Literal["clk"] = "clk"
    passages: int = Field(3, ge=1, description="number of passages at the beginning of a page that are its segments")
    pairing: Literal["all", "aligned", "one"] = Field(
        "all",
        description="segments of two pages that form pairs: all with all, those of equal rank (aligned), or one "
        "drawn from each page (one)",
    )
    max_pairs: int | None = Field(500_000, ge=1, description="most pairs of a language pair; null: no limit")


class DsClkRecipe(ClkRecipe):
    method: Literal["ds_clk"] = "ds_clk"


class UhsIlkRecipe(KnowledgeRecipe):
    method: Literal["uhs_ilk"] = "uhs_ilk"
    passages: int = Field(
        3, ge=1, description="number of passages at the beginning of a page from which the page's description is drawn"
    )
    max_pairs: int | None = Field(5_000_000, ge=1, description="most pairs of a language; null: no limit")


class ClhedRecipe(UhsIlkRecipe):
    method: Literal["clhed"] = "clhed"
    max_pairs: int | None = Field(500_000, ge=1, description="most pairs of a language pair; null: no limit")


NLTK = {"de": "GERMAN", "en": "EN_PLUS", "es": "SPANISH", "fr": "FRENCH"}  # bm25s's names of NLTK's lists


class SectionRecipe(MiningRecipe):
    method: Literal["section"] = "section"
    threshold: float = Field(0.3, ge=-1, lt=1, description="cosine above which two headings can match")
    least_sentences: int = Field(5, ge=1, description="fewest sentences of each section of a pair")
    stop_words: dict[str, str] = Field(
        NLTK,
        description="language -> its list of stop words in bm25s: STOPWORDS_GERMAN is GERMAN; other languages have "
        "no stop words",
    )
    max_pairs: int | None = Field(None, ge=1, description="most pairs of a language pair; null: no limit")


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
    """Validates a recipe with the model of its method; raises SteleError for wrong keys."""
    if not isinstance(values.get("method"), str):
        raise SteleError(f"{where}: want an object with the key `method`, one of {', '.join(methods())}")
    check_known("mining method", values["method"], methods(), where)
    return validate(methods()[values["method"]], values, where)
