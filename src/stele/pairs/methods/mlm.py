"""MLM: contiguous stretches of a document's text, for masked language modelling.

A stretch has `length` tokens, special ones included (256: run_msm.sh), and ends anywhere, also within a sentence; only
the last of a document is shorter. The released code packs whole sentences instead and goes on across documents; here no
stretch crosses a document's end, so that every token has its own context. An example is one stretch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from stele.pairs.mining.segments import Tokens
from stele.recipes.mining import SPECIAL, MlmRecipe


def examples(
    tokens: Tokens, recipe: MlmRecipe, rng: Callable[[], np.random.Generator], counts: Counter[str]
) -> Iterator[list[np.ndarray]]:
    """The stretches of one document, in order: nothing is drawn. Counts tails that are too short."""
    size = recipe.length - SPECIAL
    for begin in range(0, len(tokens.ids), size):
        stretch = tokens.ids[begin : begin + size]
        if len(stretch) == size or len(stretch) >= recipe.least:
            yield [stretch]
        else:
            counts["dropped_short_tails" if begin else "dropped_short_documents"] += 1
    if not len(tokens.ids):
        counts["dropped_short_documents"] += 1
