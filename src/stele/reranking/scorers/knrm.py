"""K-NRM: a linear layer over kernels that count cosines softly (Xiong et al. 2017).

    K_k(t) = sum over the document's words of  exp(-(cosine - mu_k)^2 / (2 sigma_k^2))
    score  = tanh(w . phi + b),   phi_k = .01 * sum over the query's words of  ln(max(K_k(t), 1e-10))

The means of the kernels are the middles of equal parts of [-1, 1]; one more kernel of mean 1 is for exact matches. The
factor .01 and the floor are those of the authors' code (AdeDZY/K-NRM), which keep tanh from saturating. Vectors are not
trained, so a document's phi is computed once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from stele.reranking.folds.candidates import Candidates
from stele.reranking.scorers import TrainedScorer
from stele.reranking.scorers._words import interactions, read_words

if TYPE_CHECKING:
    from stele.recipes.reranking import Knrm

FLOOR, FACTOR = 1e-10, 0.01


class Scorer(TrainedScorer):
    recipe: Knrm

    def read_inputs(self, candidates: Candidates) -> np.ndarray:
        """Computes phi of each candidate, float32 [n, kernels + 1]; the kernel of exact matches is the last."""
        recipe = self.recipe
        words = read_words(candidates, self.sources, recipe.document_terms)
        centres = np.append(-1 + (np.arange(recipe.kernels) + 0.5) * 2 / recipe.kernels, 1.0)
        widths = np.append(np.full(recipe.kernels, recipe.sigma), recipe.exact_sigma)
        phi = np.zeros((len(candidates), len(centres)), np.float32)
        for cosines, documents in interactions(candidates, words):
            for kernel, (centre, width) in enumerate(zip(centres, widths, strict=True)):
                soft = np.exp(-((cosines.astype(np.float64) - centre) ** 2) / (2 * width**2))  # [q, w]
                for candidate, columns, counts in documents:
                    phi[candidate, kernel] = FACTOR * np.log(np.maximum(soft[:, columns] @ counts, FLOOR)).sum()
        return phi

    def new_module(self, seed: int) -> Network:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return Network(self.inputs, self.recipe)


class Network(nn.Module):
    """K-NRM's network: candidate numbers int64 [m] -> outputs float32 [m, outputs]."""

    def __init__(self, phi: np.ndarray, recipe: Knrm) -> None:
        super().__init__()
        self.phi, self.lengths = torch.from_numpy(phi), np.ones(len(phi), np.int64)
        self.dense = nn.Linear(phi.shape[1], recipe.outputs)

    def forward(self, rows: np.ndarray) -> Tensor:
        return torch.tanh(self.dense(self.phi[torch.from_numpy(rows)].to(self.dense.weight.device)))
