"""The sizes of an adaptation, from the encoder and the budget: by the rules of catalogue/adaptation.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stele.catalogue import load, whole
from stele.catalogue.schema.models import AdaptationRules, EncoderSizes
from stele.errors import SteleError
from stele.files.formats import duration
from stele.recipes.flops import Shape

MILLION = 1e6


def layer_weights(shape: Shape) -> float:
    """The weights of an encoder's layers, words apart.

    >>> layer_weights(Shape(layers=6, width=384, inner=1536, vocabulary=30522)) / MILLION
    10.616832
    """
    return shape.layers * (4 * shape.width**2 + 2 * shape.width * shape.inner)


def sizes_of(shape: Shape, rules: AdaptationRules) -> EncoderSizes:
    """How an encoder of this shape is trained."""
    millions = layer_weights(shape) / MILLION
    return next(line for line in rules.encoders if line.weights is None or millions <= line.weights)


def steps_within(hours: float, step_seconds: float, trainings: int, rules: AdaptationRules) -> int:
    """The steps that each of `trainings` may take, which together last some hours. Raises SteleError for too few.

    >>> from stele.catalogue import whole
    >>> steps_within(1.0, 3.0, 6, whole(AdaptationRules))
    200
    """
    steps = int(3600 * hours / (trainings * step_seconds))
    if steps < rules.fewest_steps:
        needed = rules.fewest_steps * trainings * step_seconds
        raise SteleError(
            f"--hours {hours:g} allows {steps} steps of {duration(step_seconds)} in each of {trainings} trainings; "
            f"give {duration(needed)} at least, fewer --methods or --seeds"
        )
    return steps


def trained_models(
    base: str, methods: Sequence[str], languages: Sequence[str], sizes: EncoderSizes, steps: int, gpus: int
) -> dict[str, dict[str, Any]]:
    """Key -> the model of each method and of the control, as config.yaml has it.

    The first method has `steps`; the others and the control take as many operations.
    """
    rules, recipes = whole(AdaptationRules), load("recipes")["pretraining"]

    def override(recipe: str, **of_recipe: Any) -> dict[str, Any]:
        settled = (
            {"groups"} if "step_pairs" in recipes[recipe] else set()
        )  # CCP's groups follow from the pairs of a step
        rates = sizes.model_dump(include={"learning_rate", "groups", "encode_chunk"}, exclude=settled)
        precision = "bfloat16" if gpus else "float32"
        beside = {} if recipe == rules.control else {"mlm_share": rules.mlm_share}
        kept = {"snapshots": [steps // 2]} if steps > 1 else {}  # half-way, of all in the first method's steps
        return {"languages": list(languages), **rates, **beside, **kept, "precision": precision, **of_recipe}

    first, warmup = model_key(base, methods[0], rules), round(rules.warmup * steps)
    overrides = {methods[0]: override(methods[0], steps=steps, warmup_steps=warmup)}
    for recipe in (*methods[1:], rules.control):
        stores = {**recipes[methods[0]]["mining"], **recipes[recipe]["mining"]}
        overrides[recipe] = override(recipe, steps=None, warmup_steps=0, mining=stores, equal_compute_to=first)
    return {
        model_key(base, recipe, rules): {"base": base, "recipe": recipe, "override": values}
        for recipe, values in overrides.items()
    }


def model_key(base: str, recipe: str, rules: AdaptationRules) -> str:
    """What a trained model is called: the control as its objective."""
    return f"{base}-{'mlm' if recipe == rules.control else recipe}"


def evaluated_keys(base: str, methods: Sequence[str], rules: AdaptationRules) -> Mapping[str, Any]:
    """The models of the key `adapt`."""
    return {
        "base": base,
        "methods": [model_key(base, method, rules) for method in methods],
        "control": model_key(base, rules.control, rules),
    }
