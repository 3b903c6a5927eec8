"""Floating-point operations of encoders: the arithmetic behind "equal compute" and behind what a run will cost.

Multiplications and additions of the matrix products are counted (one multiply-add = 2), as this code computes them;
softmax, normalisation and dropout are not. A backward pass costs two forward passes, recomputed activations
(`encode_chunk`) one more. With width C, inner width F, V words:

    layer, per token                  8 C^2 (query, key, value, output) + 4 C F (feed-forward)
    attention, per query token        4 T C (scores and weighted sum over T tokens)
    vocabulary head, per masked token 2 C^2 + 2 C V

Of windows of W tokens with G global ones, as transformers' Longformer computes them: per token 4 C^2 more (key and
value of global attention) and 7 W C + 8 G C for attention (scores of chunks of 2 W tokens, sums over 1.5 W, both ways
between a token and the global ones), per global token 2 C^2 (its query). Inputs are padded to a multiple of W.

What a group of an objective takes is the recipe's `flops` (objectives/), of the sizes of a batch or of expected ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Shape(NamedTuple):
    """The sizes of an encoder that its cost depends on."""

    layers: int
    width: int
    inner: int
    vocabulary: int
    window: int | None = None  # of attention, on both sides together; None: full attention

    @classmethod
    def of(cls, config: Any) -> Shape:
        """From a `transformers` configuration (DistilBERT spells some sizes differently)."""
        layers = getattr(config, "num_hidden_layers", None) or config.n_layers
        width = getattr(config, "hidden_size", None) or config.dim
        inner = getattr(config, "intermediate_size", None) or config.hidden_dim
        window = max(config.attention_window) if config.model_type == "longformer" else None
        return cls(layers, width, inner, config.vocab_size, window)


def layer_forward(tokens: float, length: float, shape: Shape, queries: float | None = None) -> float:
    """One layer over `tokens` tokens in sequences of `length`; `queries` of them have an output (None: all)."""
    queries = tokens if queries is None else queries
    keys = 4 * shape.width**2 * tokens  # key and value of every token
    rest = (4 * shape.width**2 + 4 * shape.width * shape.inner + 4 * length * shape.width) * queries
    return keys + rest


def windowed_layer_forward(sequences: int, length: float, shape: Shape, global_tokens: int) -> float:
    """One layer with sliding windows over sequences of `length`, each with as many global tokens."""
    padded = -(-length // shape.window) * shape.window
    attention = (7 * shape.window + 8 * global_tokens) * shape.width
    token = 12 * shape.width**2 + 4 * shape.width * shape.inner + attention
    return sequences * (padded * token + global_tokens * 2 * shape.width**2)


def encode(sequences: int, length: float, shape: Shape, first_only: bool, global_tokens: int = 2) -> float:
    """An encoder's forward pass; `first_only`: the last layer computes the first token of each sequence alone.

    `global_tokens`: of a sequence, where there are windows; of a text alone, [CLS] and [SEP].
    """
    if shape.window is not None:
        return shape.layers * windowed_layer_forward(sequences, length, shape, global_tokens)
    tokens = sequences * length
    full = layer_forward(tokens, length, shape)
    last = layer_forward(tokens, length, shape, sequences) if first_only else full
    return (shape.layers - 1) * full + last


def passes(sequences: int, chunk: int | None) -> int:
    """A forward and a backward pass in units of the forward one; with chunks the forward one is done twice."""
    return 3 if chunk is None or sequences <= chunk else 4
