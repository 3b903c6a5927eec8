"""DRMM: a small network over histograms of cosines, its outputs weighted by a gate (Guo et al. 2016).

The cosines of each query word with all words of the document are counted in bins; the network reads ln(1 + count) of
each bin ("log-count"). The bins divide [-1, 1) evenly, and one more is for cosine 1, an exact match. A layer of
`hidden` units and one output, both with tanh, scores a query word; a document's score is their sum, weighted by a
softmax over w . x of the query words' vectors x (the paper's gate of term vectors). A query without words scores 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from stele.reranking.folds.candidates import Candidates
from stele.reranking.scorers import TrainedScorer
from stele.reranking.scorers._words import interactions, read_words

if TYPE_CHECKING:
    from stele.recipes.reranking import Drmm

ONE = 1 - 1e-6  # the least cosine that counts as 1, for the rounding of unit vectors


class Histograms(NamedTuple):
    """Inputs of the network.

    features   for each candidate float32 [q, bins], log-counts
    gates      for each topic float32 [q, d], the vectors of its words; topic_of int64 [n], the candidates' topics
    """

    features: list[np.ndarray]
    gates: list[np.ndarray]
    topic_of: np.ndarray


def bins_of(cosines: np.ndarray, bins: int) -> np.ndarray:
    """Bin number of each cosine, int64.

    >>> bins_of(np.array([-1.0, -0.01, 0.0, 0.99, 1.0]), 5).tolist()
    [0, 1, 2, 3, 4]
    """
    below = np.floor((cosines.astype(np.float64) + 1) / 2 * (bins - 1)).astype(np.int64)
    return np.where(cosines >= ONE, bins - 1, np.clip(below, 0, bins - 2))


class Scorer(TrainedScorer):
    recipe: Drmm

    def read_inputs(self, candidates: Candidates) -> Histograms:
        """Computes the histograms of all candidates."""
        bins = self.recipe.bins
        words = read_words(candidates, self.sources, self.recipe.document_terms)
        features: list[np.ndarray] = [np.zeros((0, bins), np.float32)] * len(candidates)
        for cosines, documents in interactions(candidates, words):
            place = bins_of(cosines, bins) + bins * np.arange(len(cosines))[:, None]
            for candidate, columns, counts in documents:
                weights = np.broadcast_to(counts, (len(cosines), len(counts)))
                histogram = np.bincount(place[:, columns].ravel(), weights.ravel(), len(cosines) * bins)
                features[candidate] = np.log1p(histogram).astype(np.float32).reshape(-1, bins)
        gates = [words.query_vectors.vectors[rows] for rows in words.queries]
        return Histograms(features, gates, candidates.topic_of)

    def new_module(self, seed: int) -> Network:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return Network(self.inputs, self.recipe)


class Network(nn.Module):
    """DRMM's network: candidate numbers int64 [m] -> outputs float32 [m, outputs]."""

    def __init__(self, data: Histograms, recipe: Drmm) -> None:
        super().__init__()
        self.data = data
        self.lengths = np.array([max(1, len(rows)) for rows in data.features])
        width = next((gate.shape[1] for gate in data.gates), 1)
        self.matching = nn.Sequential(
            nn.Linear(recipe.bins, recipe.hidden), nn.Tanh(), nn.Linear(recipe.hidden, recipe.outputs), nn.Tanh()
        )
        self.gate = nn.Linear(width, 1, bias=False)

    def forward(self, rows: np.ndarray) -> Tensor:
        device = self.gate.weight.device
        words = [len(self.data.features[row]) for row in rows]
        histograms = _padded([self.data.features[row] for row in rows]).to(device)
        gates = self.gate(_padded([self.data.gates[self.data.topic_of[row]] for row in rows]).to(device))
        padding = torch.arange(histograms.shape[1], device=device) >= torch.tensor(words, device=device)[:, None]
        # a query without words is all padding: its weights, which are NaN, become 0
        weights = gates.squeeze(-1).masked_fill(padding, -torch.inf).softmax(dim=1).masked_fill(padding, 0.0)
        return (weights.unsqueeze(-1) * self.matching(histograms)).sum(dim=1)


def _padded(arrays: list[np.ndarray]) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.from_numpy(array) for array in arrays], batch_first=True)
