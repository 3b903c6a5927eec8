"""MSM's documents: pieces of up to 32 sentences, each to be predicted from the others (Zhang et al., section 4.2).

An example is a piece; its segments are the piece's units in order. `segments.py` has the two readings of a unit:
the paper's sentences (default) and the released code's packed blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from stele.pairs.mining.segments import Tokens, pieces
from stele.recipes.mining import MsmRecipe


def examples(
    tokens: Tokens, recipe: MsmRecipe, rng: Callable[[], np.random.Generator], counts: Counter[str]
) -> Iterator[list[np.ndarray]]:
    """The pieces of one document: nothing is drawn."""
    yield from pieces(tokens, recipe, counts)
