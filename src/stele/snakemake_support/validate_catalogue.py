"""Checks all files of the catalogue when the workflow is read, so that no job has to.

The check is not repeated for unchanged files and code: a note records the state in which no error was found.
"""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pydantic

from stele import catalogue
from stele.catalogue import models as named_models
from stele.catalogue import recipes, scales
from stele.catalogue.schema import Facts, adaptation, benchmarks, costs, datasets, languages, models, published
from stele.evaluation import ranx_metrics
from stele.files.atomic import atomic_file
from stele.files.digests import digest
from stele.files.strict import validate
from stele.plan.rows import check_settings

Check = Callable[[Facts, str], Any]  # (a file's values, its name for errors)


def _typed(kind: Any) -> Check:
    return partial(validate, kind)


NOTE = Path(".snakemake/stele-catalogue")
# files of one typed value, and of entries by name
WHOLE = (adaptation.AdaptationRules, costs.Costs, published.ReferenceSources)
ENTRIES = (
    *(languages.Language, datasets.Dataset, benchmarks.Benchmark, benchmarks.TrainingSet, benchmarks.Analyzer),
    *(costs.RuleFacts, costs.Device, costs.Checkpoint, published.PublishedBenchmark),
)
FILES: dict[str, Check] = {  # by path below stele/
    **{f"catalogue/{kind.FILE}.yaml": _typed(kind) for kind in WHOLE},
    **{f"catalogue/{kind.FILE}.yaml": _typed(dict[str, kind]) for kind in ENTRIES},
    "catalogue/recipes.yaml": recipes.check_recipes,
    "catalogue/models.yaml": named_models.check_models,
    "catalogue/standins.yaml": models.check_standins,
    "catalogue/settings.yaml": check_settings,
    "catalogue/cc100_sizes.yaml": _typed(dict[str, costs.Bytes]),
    "catalogue/dump_sizes.yaml": _typed(dict[str, costs.Bytes]),
    **{f"catalogue/scales/{name}.yaml": scales.check_scale for name in catalogue.scale_names()},
    "cluster/tiny.yaml": scales.check_scale,
    "evaluation/metrics/ranx.yaml": _typed(dict[str, ranx_metrics.Line]),
    "tables/render/bibliography.yaml": published.check_bibliography,
}


def validate_catalogue(note: Path = NOTE) -> None:
    """Raises SteleError for the first invalid file, with the key and the nearest valid key."""
    state = _state()
    with suppress(OSError):
        if note.read_bytes() == state.encode():
            return
    for name, check in FILES.items():
        check(catalogue.shipped(name), name)
    with suppress(OSError), atomic_file(note) as handle:  # the folder may be read-only
        handle.write(state)


def _state() -> str:
    """Digest of everything the check depends on: Stele's files and code (size and time), Python and pydantic."""
    folder, file_states = catalogue.FOLDER.parent, []
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".py", ".yaml")):
                status = os.stat(os.path.join(place, name))
                file_states.append([place, name, status.st_size, status.st_mtime_ns])
    return digest([sys.version, pydantic.VERSION, sorted(file_states)])
