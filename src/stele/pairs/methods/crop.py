"""CROP: a unit of a document and another one near it (Wu et al. 2022; MSM section 5.3).

The released code of MSM (models/msm/model.py, window_crop, --enable-sent2sent) draws, for each unit of a document of
MSM's, one other unit at most 5 before or after it, all with equal chance, never past the document's ends. It draws anew
in every pass; here each unit is the anchor once. Units and pieces are MSM's own (`segments.py`), by the same keys
and defaults, so that the two rows of a table differ in the objective only. An example is (anchor, neighbour).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from stele.pairs.mining.segments import Tokens, pieces
from stele.recipes.mining import CropRecipe


def examples(
    tokens: Tokens, recipe: CropRecipe, rng: Callable[[], np.random.Generator], counts: Counter[str]
) -> Iterator[list[np.ndarray]]:
    """(anchor, neighbour) for each unit of each piece of one document, in the anchors' order."""
    draw = None
    for piece in pieces(tokens, recipe, counts):
        draw = draw or rng()
        for anchor, other in enumerate(neighbours(len(piece), recipe.window, draw).tolist()):
            yield [piece[anchor], piece[other]]


def neighbours(size: int, window: int, draw: np.random.Generator) -> np.ndarray:
    """int64 [size]: for each of `size` >= 2 places another one at most `window` away, all with equal chance."""
    place = np.arange(size)
    low, high = np.maximum(place - window, 0), np.minimum(place + window, size - 1)
    chosen = draw.integers(low, high)  # one place fewer than there are: the anchor's own is stepped over
    return chosen + (chosen >= place)
