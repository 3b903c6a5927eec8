"""CCP's contexts: a centre of each document and a sentence of its window, drawn anew whenever the document comes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.training.sampling import Group
from stele.training.store import Flat, ranges


class Contexts(NamedTuple):
    """centres, partners int64 [n]: places of two sentences in each of n documents"""

    centres: np.ndarray
    partners: np.ndarray


def draw(sizes: np.ndarray, reach: tuple[int, int], rng: np.random.Generator) -> Contexts:
    """A centre, uniform among the sentences that have others in their window, and one of those, uniform.

    sizes int64 [n]: sentences of each document; reach: sentences of a window before and behind its centre. Windows end
    where the document does.
    """
    if len(sizes) and sizes.min() < 2:
        raise SteleError(
            "CCP: want documents of two sentences at least; these examples were mined by another method, or by MSM's "
            "with `sentences_min` 1"
        )
    before, behind = reach
    centres = rng.integers(0, sizes if before else sizes - 1)  # a window that only goes forwards has no last sentence
    first, last = np.maximum(centres - before, 0), np.minimum(centres + behind, sizes - 1)
    partners = first + rng.integers(0, last - first)
    return Contexts(centres, partners + (partners >= centres))


def sentences(flat: Flat, contexts: Contexts) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and lengths int64 [2 n] of centre and partner of each document in turn."""
    documents = np.cumsum(flat.counts) - flat.counts
    chosen = np.stack([documents + contexts.centres, documents + contexts.partners], axis=1).ravel()
    begins = np.cumsum(flat.lengths) - flat.lengths
    return flat.tokens[ranges(begins[chosen], flat.lengths[chosen])], flat.lengths[chosen]


def same_window(group: Group, contexts: Contexts, reach: tuple[int, int]) -> np.ndarray:
    """bool [n, n]: whether partner j is a sentence of the window around centre i (m of Algorithm 1).

    Its own partner is; another one only where a document stands in the group twice. No sentence is in its own context.
    """
    documents = [(part, index) for part, indices in group.drawn for index in indices.tolist()]
    numbers = {document: number for number, document in enumerate(documents)}
    number = np.array([numbers[document] for document in documents])
    distance = contexts.partners[None, :] - contexts.centres[:, None]
    inside = (distance >= -reach[0]) & (distance <= reach[1]) & (distance != 0)
    return inside & (number[:, None] == number[None, :])
