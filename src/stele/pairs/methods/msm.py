"""MSM's documents: pieces of up to 32 sentences, each to be predicted from the others (Zhang et al., section 4.2).

An example is a piece; its segments are the units of the piece, in order. `segments.py` defines a unit in two ways:
as one of the paper's sentences (default) or as one of the released code's packed blocks.
"""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from stele.pairs.mining.segments import Tokens, pieces
from stele.recipes.mining import MsmRecipe


def examples(
    tokens: Tokens, recipe: MsmRecipe, rng: Callable[[], np.random.Generator], counts: Counter[str]
) -> Iterator[list[np.ndarray]]:
    """Yields the pieces of one document in order; draws nothing."""
    yield from pieces(tokens, recipe, counts)
