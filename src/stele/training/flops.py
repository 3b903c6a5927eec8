"""Floating-point operations of a pretraining run: the arithmetic behind "equal compute".

Multiplications and additions of the matrix products are counted (one multiply-add = 2), as this code computes them;
softmax, normalisation and dropout are not. Lengths are the recipe's, as if no sequence were shorter. A backward pass
costs two forward passes, recomputed activations (`encode_chunk`) one more. With width C, inner width F, V words:

    layer, per token                  8 C^2 (query, key, value, output) + 4 C F (feed-forward)
    attention, per asking token       4 T C (scores and weighted sum over T tokens)
    vocabulary head, per masked token 2 C^2 + 2 C V
"""

from __future__ import annotations

from typing import Any, NamedTuple

from stele.registry import load_named
from stele.training.recipe import OBJECTIVES, PretrainingRecipe, parse_recipe


class Shape(NamedTuple):
    """The sizes of an encoder that its cost depends on."""

    layers: int
    width: int
    inner: int
    vocabulary: int

    @classmethod
    def of(cls, config: Any) -> Shape:
        """From a `transformers` configuration (DistilBERT spells some sizes differently)."""
        layers = getattr(config, "num_hidden_layers", None) or config.n_layers
        width = getattr(config, "hidden_size", None) or config.dim
        inner = getattr(config, "intermediate_size", None) or config.hidden_dim
        return cls(layers, width, inner, config.vocab_size)


def layer_forward(tokens: float, length: int, shape: Shape, asking: float | None = None) -> float:
    """One layer over `tokens` tokens in sequences of `length`; `asking` of them want an output (None: all)."""
    asking = tokens if asking is None else asking
    keys = 4 * shape.width**2 * tokens  # key and value of every token
    rest = (4 * shape.width**2 + 4 * shape.width * shape.inner + 4 * length * shape.width) * asking
    return keys + rest


def encode(sequences: int, length: int, shape: Shape, first_only: bool) -> float:
    """An encoder's forward pass; `first_only`: the last layer computes the first token of each sequence alone."""
    tokens = sequences * length
    full = layer_forward(tokens, length, shape)
    last = layer_forward(tokens, length, shape, sequences) if first_only else full
    return (shape.layers - 1) * full + last


def per_step(recipe: PretrainingRecipe, shape: Shape) -> float:
    """Forward and backward passes of an average optimiser step."""
    own = load_named(OBJECTIVES, recipe.objective, "objective")
    if recipe.objective == "mlm":
        return recipe.groups * own.flops(recipe, shape)
    mlm = load_named(OBJECTIVES, "mlm", "objective").flops(recipe, shape) if recipe.mlm_share else 0.0
    return recipe.groups * ((1 - recipe.mlm_share) * own.flops(recipe, shape) + recipe.mlm_share * mlm)


def with_steps(recipe: PretrainingRecipe, shape: Shape) -> tuple[PretrainingRecipe, dict[str, float]]:
    """Settles the steps of a recipe that is to cost as much as another one; returns it with the arithmetic.

    Its warm-up is the same share of its steps as the other's.
    """
    own = per_step(recipe, shape)
    if recipe.equal_compute_to is None:
        return recipe, {"flops_per_step": own, "flops": own * recipe.steps}
    other, _ = with_steps(parse_recipe(recipe.equal_compute_to, "--recipe: equal_compute_to"), shape)
    target = per_step(other, shape) * other.steps
    steps = max(1, round(target / own))
    warmup = round(steps * other.warmup_steps / other.steps)
    settled = recipe.model_copy(update={"steps": steps, "warmup_steps": warmup})
    return settled, {"flops_per_step": own, "flops": own * steps, "flops_to_equal": target}
