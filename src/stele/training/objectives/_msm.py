"""MSM's document encoder, which predicts each sentence from the others, and its hierarchical contrastive loss."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.errors import SteleError
from stele.recipes.flops import Shape
from stele.training.heads import initialise
from stele.training.store import ranges

EPS = 1e-12  # of DistilBERT, whose configuration does not say it


class Layer(nn.Module):
    """Post-norm Transformer layer (BERT's) that can compute its output for one position alone."""

    def __init__(self, width: int, heads: int, inner: int, dropout: float, eps: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=eps)
        self.inner, self.outer = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm = nn.LayerNorm(width, eps=eps)

    def forward(self, states: Tensor, seen: Tensor | None, queries: Tensor | None = None) -> Tensor:
        """Maps states [m, n, c] to [m, n, c]; with `queries` [m, 1, c], the states of one position each, to [m, 1, c].

        seen bool [m, 1, 1, n]: the positions open to attention; None: all.
        """
        queries = states if queries is None else queries
        key, value = self.key_value(states).unflatten(-1, (2, self.heads, -1)).permute(2, 0, 3, 1, 4)
        query = self.query(queries).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        dropout = self.dropout if self.training else 0.0
        hidden = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen, dropout_p=dropout)
        hidden = self.out(hidden.transpose(1, 2).flatten(2))
        queries = self.attention_norm(queries + functional.dropout(hidden, self.dropout, self.training))
        hidden = self.outer(functional.gelu(self.inner(queries)))
        return self.norm(queries + functional.dropout(hidden, self.dropout, self.training))


class DocumentEncoder(nn.Module):
    """Predicts every sentence vector of every document from the document's other sentences (MSM, section 3.1).

    Each of a document's N positions is masked in turn, so a document makes N sequences of N vectors; sequence t yields
    its output at position t: the diagonal of (B, N, N, C). The embedding of an unmasked sentence is the same in all N
    sequences and computed once, and the last layer computes position t only. Positions and mask vector are learned, as
    in the released code (transformer_document_encoder.py).
    """

    def __init__(self, config: Any, layers: int, positions: int, dropout: float) -> None:
        """Makes one as wide as the sentence encoder of a `transformers` config, for up to `positions` sentences."""
        super().__init__()
        width, heads, inner = config.hidden_size, config.num_attention_heads, Shape.of(config).inner
        eps, std = getattr(config, "layer_norm_eps", EPS), config.initializer_range
        self.positions = nn.Embedding(positions, width)
        self.mask = nn.Parameter(torch.empty(width))
        self.norm = nn.LayerNorm(width, eps=eps)
        self.dropout = dropout
        self.layers = nn.ModuleList(Layer(width, heads, inner, dropout, eps) for _ in range(layers))
        initialise(self, std)
        nn.init.normal_(self.mask, std=std)

    def forward(self, vectors: Tensor, counts: Sequence[int]) -> Tensor:
        """Predicts each sentence vector from the others of its document: vectors [m, c] -> predictions [m, c].

        `counts` are the documents' numbers of sentences, m in sum; raises SteleError if one exceeds the positions.
        """
        counts = np.asarray(counts)
        longest = int(counts.max())
        if longest > self.positions.num_embeddings:
            raise SteleError(
                f"document encoder: a document has {longest} sentences, but the recipe's `sentences` allows only "
                f"{self.positions.num_embeddings}; mine the documents with that number"
            )
        states, seen = self._sequences(vectors, counts, longest)
        states = functional.dropout(states, self.dropout, self.training)
        places = torch.from_numpy(ranges(np.zeros_like(counts), counts)).to(vectors.device)
        for layer in self.layers[:-1]:
            states = layer(states, seen)
        rows = torch.arange(len(states), device=states.device)
        return self.layers[-1](states, seen, states[rows, places].unsqueeze(1)).squeeze(1)

    def _sequences(self, vectors: Tensor, counts: np.ndarray, longest: int) -> tuple[Tensor, Tensor | None]:
        """Builds per sentence a sequence with it masked, [m, n, c], and the attention mask [m, 1, 1, n] or None."""
        positions = self.positions.weight[:longest]
        whole = bool((counts == longest).all())
        if whole:
            documents = vectors.view(len(counts), longest, -1)
        else:
            begins = np.cumsum(counts) - counts
            columns = np.minimum(np.arange(longest), counts[:, None] - 1)  # past the end: the last one again, masked
            index = torch.from_numpy(begins[:, None] + columns).to(vectors.device)
            documents = functional.embedding(index, vectors)
        unmasked = self.norm(documents + positions)[:, None]  # [b, 1, n, c]
        masked = self.norm(self.mask + positions)  # [n, c]
        diagonal = torch.eye(longest, dtype=torch.bool, device=vectors.device)[:, :, None]
        if whole:
            return torch.where(diagonal, masked.to(unmasked.dtype), unmasked).flatten(0, 1), None
        exists = torch.from_numpy(np.arange(longest) < counts[:, None]).to(vectors.device)
        sequences = torch.where(diagonal, masked.to(unmasked.dtype), unmasked)[exists]
        document_of = torch.from_numpy(np.repeat(np.arange(len(counts)), counts)).to(vectors.device)
        return sequences, exists[document_of][:, None, None, :]


# --- the hierarchical contrastive loss (section 3.2, equations 1 and 2) -----------------------------------------------
def hierarchical_scores(
    predictions: Tensor,
    vectors: Tensor,
    counts: Sequence[int],
    *,
    mu: float,
    temperature: float,
    intra_negatives: bool = True,
    duplicates: Tensor | None = None,
) -> Tensor:
    """Scores, float32 [m, m], of every sentence vector h_j for every prediction p_t; their cross-entropy is the loss.

    predictions p and vectors h, float [m, d], both after the projection heads, document by document; counts: sentences
    of each document, m in sum. With s = cos(p_t, h_j) / temperature:

        loss_t = -log  exp(s_tt) / (exp(s_tt) + sum_intra exp(s_tj - mu * alpha_t) + sum_cross exp(s_tk))      (1)
        alpha_t = mean_intra(s_tj) - mean_cross(s_tk), without gradient                                       (2)

    alpha is computed after the division by the temperature, row by row, over the group only (released code,
    contrastive_utils.masked_loss). The paper writes 1 / (|I| - 1) for the mean over the |I| - 1 other sentences.

    intra_negatives False leaves out the other sentences of the document ("Cross-doc" of Table 5), `duplicates` bool
    [m, m] further pairs. A document of one sentence has alpha 0. Raises SteleError for a group of one document.
    """
    if len(counts) < 2:
        raise SteleError("MSM: a group of one document has no cross-document negatives; use at least 2 documents")
    p = functional.normalize(predictions.float(), dim=-1)
    h = functional.normalize(vectors.float(), dim=-1)
    scores = p @ h.T / temperature
    documents = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts)).to(scores.device)
    same = documents[:, None] == documents[None, :]
    diagonal = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    intra, cross = same & ~diagonal, ~same
    left_out = torch.zeros_like(diagonal) if duplicates is None else duplicates & ~diagonal
    if not intra_negatives:
        left_out = left_out | intra
    elif mu:
        scores = scores - mu * dynamic_bias(scores.detach(), intra, cross)[:, None] * intra
    if duplicates is not None or not intra_negatives:
        scores = scores.masked_fill(left_out, float("-inf"))
    return scores


def dynamic_bias(scores: Tensor, intra: Tensor, cross: Tensor) -> Tensor:
    """Dynamic bias alpha (equation 2), float32 [m], of rows of scores [m, m]; 0 without intra or cross negatives."""
    some = intra.any(1) & cross.any(1)
    return torch.where(some, _mean(scores, intra) - _mean(scores, cross), 0.0)


def _mean(scores: Tensor, chosen: Tensor) -> Tensor:
    return (scores * chosen).sum(1) / chosen.sum(1).clamp(min=1)
