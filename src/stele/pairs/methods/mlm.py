"""MLM: contiguous spans of a document's tokens, for masked language modelling.

A span has `length` tokens with the special ones (256: run_msm.sh) and may end within a sentence; only the last span of
a document is shorter. The released code packs whole sentences instead and continues across documents; here no span
crosses the end of a document, so that each token has the context of its own document. An example is one span.
"""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from stele.pairs.mining.segments import Tokens
from stele.recipes.mining import SPECIAL, MlmRecipe


def examples(
    tokens: Tokens, recipe: MlmRecipe, rng: Callable[[], np.random.Generator], counts: Counter[str]
) -> Iterator[list[np.ndarray]]:
    """Yields the spans of one document in order, drawing nothing; counts tails and documents that are too short."""
    size = recipe.length - SPECIAL
    for begin in range(0, max(len(tokens.ids), 1), size):  # once for an empty document, which is counted
        stretch = tokens.ids[begin : begin + size]
        if len(stretch) == size or len(stretch) >= recipe.least:
            yield [stretch]
        else:
            counts["dropped_short_tails" if begin else "dropped_short_documents"] += 1
