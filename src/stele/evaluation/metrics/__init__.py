"""Metrics by name: lines of `ranx.yaml` define those that ranx computes, classes define those that Stele computes.

Every subclass of `Metric` with a name, in any module of this package, is a metric: docs/adding/metric.md.
"""

import importlib
from collections.abc import Iterable
from functools import cache

from stele.catalogue.schema.benchmarks import metric_parts
from stele.errors import SteleError, check_known, unknown
from stele.evaluation.metric import KINDS, Metric
from stele.evaluation.ranx_metrics import RanxMetric, ranx_table
from stele.registry import module_names


@cache
def computed_here() -> dict[str, type[Metric]]:
    """Finds the metric classes in this package's modules, by the metric's name (as `metric_parts` gives it).

    Raises SteleError if two metrics have one name.
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
    """Returns the metric called `name` or `name@cut`. Raises SteleError for an unknown name or `needs`, a wrong cut."""
    base, cut = metric_parts(name)
    if base not in ranx_table() and base not in computed_here():
        known = sorted(one.replace("_kt", "@2kt") for one in [*ranx_table(), *computed_here()])
        raise unknown("metric", base.replace("_kt", f"@{cut}"), known)
    metric = RanxMetric(base, cut) if base in ranx_table() else computed_here()[base](cut)
    metric.check_cut()
    check_known("kind of data", metric.needs, KINDS, f"metric {base}: needs")
    return metric


def metric_modules(names: Iterable[str]) -> list[str]:
    """Names of the modules below `stele` that compute the metrics `names`, as code fingerprints write them."""
    return sorted({type(load_metric(name)).__module__.partition(".")[2] for name in names})


def ranx_lines(names: Iterable[str]) -> dict[str, dict]:
    """Lines of ranx.yaml for those of the metrics `names` that ranx computes; a job's fingerprint includes them."""
    lines = {}
    for name in names:
        metric = load_metric(name)
        if isinstance(metric, RanxMetric):
            lines[name] = metric.line.given()
    return lines
