"""The keys that mining methods on the knowledge base share (pairs/knowledge.py)."""

from __future__ import annotations

from pydantic import Field

from stele.files.strict import Strict
from stele.recipes.mining import MiningRecipe


class TokenLengths(Strict):
    """The keys that `pairs tokenise` alone reads, and it no others."""

    query_tokens: int = Field(128, ge=3, description="most tokens of a query, special ones included")
    passage_tokens: int = Field(128, ge=3, description="the same of a passage")


OF_TOKENS = frozenset(TokenLengths.model_fields)


class KnowledgeRecipe(MiningRecipe, TokenLengths):
    """Keys of a method that reads the knowledge base; each method adds its own."""

    passage_words: int = Field(100, ge=1, description="most words of a passage, longer sentences apart")
    min_characters: int = Field(10, ge=1, description="a text with fewer letters or digits is near-empty: no pair")
    max_pairs: int | None = Field(None, ge=1, description="most pairs of a part; null: all there are")
