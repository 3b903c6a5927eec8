"""CROP: a unit of a document, paired with another unit near it (Wu et al. 2022; MSM section 5.3).

For each unit of a document, MSM's released code (models/msm/model.py, window_crop, --enable-sent2sent) draws another
unit at most 5 units before or after it, uniformly and within the document. It draws anew in every pass; here each unit
is the anchor once. Units and pieces are those of MSM (`segments.py`), with the same keys and defaults, so that the two
table rows differ in the objective only. An example is (anchor, neighbour).
"""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from stele.pairs.mining.segments import Tokens, pieces
from stele.recipes.mining import CropRecipe


def examples(
    tokens: Tokens, recipe: CropRecipe, rng: Callable[[], np.random.Generator], counts: Counter[str]
) -> Iterator[list[np.ndarray]]:
    """Yields [anchor, neighbour] for each unit of each piece of one document, in the order of the anchors."""
    draw = None
    for piece in pieces(tokens, recipe, counts):
        draw = draw or rng()
        for anchor, other in enumerate(neighbours(len(piece), recipe.window, draw).tolist()):
            yield [piece[anchor], piece[other]]


def neighbours(size: int, window: int, draw: np.random.Generator) -> np.ndarray:
    """Draws for each of `size` >= 2 places another one at most `window` away, uniformly; returns int64 [size]."""
    place = np.arange(size)
    low, high = np.maximum(place - window, 0), np.minimum(place + window, size - 1)
    chosen = draw.integers(low, high)  # all places but the anchor's
    return chosen + (chosen >= place)
