"""Floating-point operations of encoders, for recipes of equal compute and for the predicted cost of runs.

Only the matrix products that this code computes are counted (one multiply-add = 2 FLOPs), not softmax,
normalisation and dropout. A backward pass costs two forward passes; recomputed activations (`encode_chunk`) cost one
more. With width C, inner width F, vocabulary size V:

    layer, per token                  8 C^2 (query, key, value, output) + 4 C F (feed-forward)
    attention, per query token        4 T C (scores and weighted sum over T tokens)
    vocabulary head, per masked token 2 C^2 + 2 C V

Windows of W tokens with G global ones, as transformers' Longformer computes them, cost per token 4 C^2 more (key and
value of global attention) and 7 W C + 8 G C for attention (scores of chunks of 2 W tokens, sums over 1.5 W, both ways
between a token and the global ones), per global token 2 C^2 (its query). Inputs are padded to a multiple of W.
"""

from pathlib import Path
from typing import Any, NamedTuple, Self

from stele.files.reading import read_object


class Shape(NamedTuple):
    """Sizes of an encoder that determine its cost."""

    layers: int
    width: int
    inner: int
    vocabulary: int
    window: int | None = None  # attention window, both sides together; None: full attention

    @classmethod
    def of(cls, config: Any) -> Self:
        """Reads the sizes from a `transformers` configuration (DistilBERT names some differently)."""
        layers = getattr(config, "num_hidden_layers", None) or config.n_layers
        width = getattr(config, "hidden_size", None) or config.dim
        inner = getattr(config, "intermediate_size", None) or config.hidden_dim
        window = max(config.attention_window) if config.model_type == "longformer" else None
        return cls(layers, width, inner, config.vocab_size, window)

    @classmethod
    def in_folder(cls, folder: Path) -> Self | None:
        """Sizes in a folder's first config.json that states all four; None if there is none."""
        for file in sorted(folder.rglob("config.json")):
            config = read_object(file)
            sizes = [config.get(key) for key in ("num_hidden_layers", "hidden_size", "intermediate_size", "vocab_size")]
            if all(isinstance(size, int) for size in sizes):
                return cls(*sizes)
        return None


def layer_forward(tokens: float, length: float, shape: Shape, queries: float | None = None) -> float:
    """FLOPs of a layer over `tokens` tokens, in sequences of `length`; `queries` have an output (None: all)."""
    queries = tokens if queries is None else queries
    keys = 4 * shape.width**2 * tokens  # for keys and values of all tokens
    rest = (4 * shape.width**2 + 4 * shape.width * shape.inner + 4 * length * shape.width) * queries
    return keys + rest


def windowed_layer_forward(sequences: int, length: float, shape: Shape, global_tokens: int) -> float:
    """FLOPs of one layer with sliding windows over sequences of `length`; `global_tokens` per sequence."""
    padded = -(-length // shape.window) * shape.window
    attention = (7 * shape.window + 8 * global_tokens) * shape.width
    token = 12 * shape.width**2 + 4 * shape.width * shape.inner + attention
    return sequences * (padded * token + global_tokens * 2 * shape.width**2)


def encode(sequences: int, length: float, shape: Shape, first_only: bool, global_tokens: int = 2) -> float:
    """FLOPs of an encoder's forward pass; `first_only`: the last layer computes only each sequence's first token.

    `global_tokens` is the number per sequence, used with windows only; by default 2, a single text's [CLS] and [SEP].
    """
    if shape.window is not None:
        return shape.layers * windowed_layer_forward(sequences, length, shape, global_tokens)
    tokens = sequences * length
    full = layer_forward(tokens, length, shape)
    last = layer_forward(tokens, length, shape, sequences) if first_only else full
    return (shape.layers - 1) * full + last


def passes(sequences: int, chunk: int | None) -> int:
    """Cost of a training step in forward passes: 3, or 4 if `chunk` splits the batch and repeats the forward pass."""
    return 3 if chunk is None or sequences <= chunk else 4
