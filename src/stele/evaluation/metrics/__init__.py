"""Metrics by name: those that ranx computes are lines of `ranx.yaml`, those that are computed here are classes.

A class of any module of this package that is a `Metric` with a name is a metric: docs/adding/metric.md.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import cache

from stele.catalogue.schema.benchmarks import metric_parts
from stele.errors import SteleError, unknown
from stele.evaluation.metric import Metric
from stele.evaluation.ranx_metrics import RanxMetric, ranx_table
from stele.registry import module_names


@cache
def computed_here() -> dict[str, type[Metric]]:
    """Name (as `metric_parts` gives it) -> class, of the metrics that the modules of this package hold.

    Raises SteleError for a name that two metrics have.
    """
    classes: dict[str, type[Metric]] = {}
    for module in module_names(__name__):
        for value in vars(importlib.import_module(f"{__name__}.{module}")).values():
            if isinstance(value, type) and issubclass(value, Metric) and value.example:
                name = metric_parts(value.example)[0]
                first = "ranx.yaml" if name in ranx_table() else classes.setdefault(name, value)
                if first is not value:
                    raise SteleError(f"metric {name!r} is defined twice: by {first} and by {value}")
    return classes


def load_metric(name: str) -> Metric:
    """The metric called `name` or `name@cut`. Raises SteleError for an unknown name, with the nearest one."""
    base, cut = metric_parts(name)
    if base in ranx_table():
        return RanxMetric(base, cut)
    if base in computed_here():
        return computed_here()[base](cut)
    raise unknown("metric", base.removesuffix("_kt"), sorted([*ranx_table(), *computed_here()]))


def metric_modules(names: Iterable[str]) -> list[str]:
    """The modules below `stele` that compute some metrics, as the fingerprints of code name them."""
    return sorted({type(load_metric(name)).__module__.partition(".")[2] for name in names})


def ranx_lines(names: Iterable[str]) -> dict[str, dict]:
    """The lines of ranx.yaml of those metrics that have one: what a job that computes them depends on."""
    lines = {}
    for name in names:
        metric = load_metric(name)
        if isinstance(metric, RanxMetric):
            lines[name] = metric.line.given()
    return lines
