"""Whose training questions an evaluated model saw: those of its own training (`trained_on`) and of its fine-tuning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from stele.catalogue import entries, load
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model


@cache
def seen_questions(benchmark: str, model: str, setting: str) -> tuple[str, ...]:
    """The training questions of a benchmark that a model of the catalogue saw, by name; () for none that is known of.

    >>> seen_questions("miracl", "me5_base", "direct"), seen_questions("miracl", "msm", "multilingual")
    (('miracl', 'mrtydi'), ('miracl',))
    """
    known, entry = entries(Model).get(model), entries(Benchmark).get(benchmark)
    saw = {*((known and known.trained_on) or ()), *_fine_tuned_on(benchmark, setting)}
    return tuple(name for name in (entry.training_questions if entry else ()) if name in saw)


def _fine_tuned_on(benchmark: str, setting: str) -> Iterator[str]:
    """The training sets of a setting's fine-tuning, and of those that it goes on from."""
    recipes = load("recipes")["finetuning"]
    name = load("settings")["settings"].get(benchmark, {}).get(setting, {}).get("recipe")
    while name in recipes:
        yield recipes[name]["training_set"]
        name = recipes[name].get("start")
