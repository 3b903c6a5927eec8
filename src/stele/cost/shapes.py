"""How large a model is: from the catalogue's sizes of public checkpoints, or a stand-in's own recipe."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from stele import catalogue
from stele.catalogue.schema.costs import Checkpoint
from stele.files.reading import read_object
from stele.plan.plan import Plan
from stele.recipes.flops import Shape
from stele.recipes.standins import Causal, Contrastive, Retokenised, Trained

UNKNOWN = "xlmr"  # assumed for a user's checkpoint
NUMBER = 4  # bytes of a saved weight, float32


class Known(NamedTuple):
    shape: Shape
    known: bool  # False: a guess


def shape_of(plan: Plan, model: str) -> Known:
    """The shape of a model's encoder: that of the checkpoint its pretrainings started from, but for its attention."""
    root, window = plan.models.root(model), plan.pretraining.attention_window(model)
    if key := plan.world.standin(root):
        return Known(standin_shape(plan, key)._replace(window=window), True)
    known = catalogue.entries(Checkpoint)
    sizes = known.get(root, known[UNKNOWN])
    given = plan.models.checkpoint_source(root).get("path")
    if (given or root not in known) and (shape := _stated_shape(plan, root, given)):
        return Known(shape._replace(window=window), True)
    return Known(Shape(sizes.layers, sizes.width, sizes.inner, sizes.vocabulary, window), root in known)


def _stated_shape(plan: Plan, model: str, given: str | None) -> Shape | None:
    """The shape that a checkpoint's settings state, in the user's folder or in what was fetched."""
    folders = [Path(given).expanduser()] if given else []
    folders += [Path(plan.paths.state(f"checkpoint/{model}")), Path(plan.paths.checkpoint(model)).parent]
    return next((shape for folder in folders if (shape := folder_shape(folder))), None)


def folder_shape(folder: Path) -> Shape | None:
    """The shape that the first config.json of a folder with all four sizes states; None where there is none."""
    for file in sorted(folder.rglob("config.json")):
        config = read_object(file)
        sizes = [config.get(key) for key in ("num_hidden_layers", "hidden_size", "intermediate_size", "vocab_size")]
        if all(isinstance(size, int) for size in sizes):
            return Shape(*sizes)
    return None


def standin_shape(plan: Plan, key: str) -> Shape:
    """A stand-in's shape: its own keys, the rest from the one that it continues from."""
    recipe = plan.world.recipe(key)
    if isinstance(recipe, Trained | Causal):
        sizes = recipe.architecture
        return Shape(sizes.layers, sizes.width, sizes.inner, recipe.tokenizer.size)
    shape = standin_shape(plan, recipe.bases[0])
    if isinstance(recipe, Contrastive) and (sizes := recipe.architecture):
        return Shape(sizes.layers, sizes.width, sizes.inner, shape.vocabulary)
    if isinstance(recipe, Retokenised):
        shape = shape._replace(vocabulary=recipe.tokenizer.size)
    return shape._replace(layers=recipe.own_layers or shape.layers)


def saved_bytes(shape: Shape) -> float:
    """Bytes of an encoder's weights: words, layers; positions, biases and norms are a hundredth of that."""
    layer = 4 * shape.width**2 + 2 * shape.width * shape.inner
    return NUMBER * (shape.vocabulary * shape.width + shape.layers * layer)
