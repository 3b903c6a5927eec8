"""Scales: sets of sizes. Which scale a run has, and which scale's results a folder holds."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from stele import catalogue
from stele.catalogue.scales import whole_scale
from stele.catalogue.schema.datasets import Dataset
from stele.config.model import PLAIN_NAME, Config
from stele.errors import SteleError, unknown
from stele.files.atomic import atomic_file
from stele.files.paths import STAMP, read_stamp
from stele.files.strict import validate
from stele.recipes.scale import Corpora, Scale


def resolve_scale(config: Config, environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """The scale of a run and the reason, by the first of these that is given:

    1. `scale` of the configuration; a file has one path, however it is written
    2. the profile's, STELE_DEFAULT_SCALE
    3. the stamp in the folder of results
    4. miniature
    """
    stamp = read_stamp(Path(config.results_dir))
    for name, why in (
        (config.scale, "set in the configuration"),
        (environment.get("STELE_DEFAULT_SCALE"), "the profile's"),
        (stamp, f"the one {config.results_dir}/ holds"),
    ):
        if name:
            return _path(name) if is_file(name) else name, why
    return "miniature", "the default"


def _path(name: str) -> str:
    """One way of writing a path: from here where it is below, else from the root."""
    path = os.path.relpath(name)
    return os.path.abspath(name) if path.startswith("..") else path


def is_file(name: str) -> bool:
    """Whether a scale is a file of the user's own."""
    return Path(name).suffix in (".yaml", ".yml")


def check_stamp(folder: Path, scale: str, way_out: str) -> None:
    """Refuses to put a second scale into a folder; stamps a new one."""
    stamp = read_stamp(folder)
    if stamp and stamp != scale:
        raise SteleError(
            f"{folder}/ holds what belongs to scale {stamp!r} and this run is of scale {scale!r}: "
            f"{way_out} or remove {folder}/"
        )
    if not stamp:
        with atomic_file(folder / STAMP) as handle:
            handle.write(f"{scale}\n")


def load_scale(name: str) -> Scale:
    """The sizes of a scale: one of the catalogue's or a YAML file of the user's own."""
    if name in catalogue.scale_names():
        return validate(Scale, whole_scale(catalogue.load(f"scales/{name}"), name), name)
    if not is_file(name):
        raise unknown("scale", name, catalogue.scale_names(), "scale (or give a .yaml file of your own)")
    _check_stem(name)
    values = whole_scale(catalogue.read_yaml(name), name)
    _check_corpora(values.get("corpora"), name)
    return validate(Scale, values, name)


def _check_corpora(limits: object, name: str) -> None:
    """Refuses to cut a dataset that is no corpus, saying so."""
    named = limits.keys() if isinstance(limits, Mapping) else set()
    for dataset in named & catalogue.entries(Dataset).keys() - Corpora.model_fields.keys():
        raise SteleError(
            f"{name}: corpora: {dataset} is used whole; want cc100: {{documents: N}} or wikipedia: {{pages: N}}"
        )


def shards_of(sizes: Scale, wiki: str, size: int | None = None) -> int:
    """Parts that the dump of a wiki ("enwiki") is cut into, each a job: as many as a scale says, or by its size.

    `size` in bytes; None: what the catalogue reckons with.

    >>> shards_of(Scale(title="A", generated=False, shard_bytes={"wikipedia": 1 << 29}), "dewiki")
    13
    """
    if "wikipedia" in sizes.shards:
        return sizes.shards["wikipedia"]
    size = size or catalogue.load("dump_sizes").get(wiki)
    if size is None or "wikipedia" not in sizes.shard_bytes:
        return 1
    return max(1, round(size / sizes.shard_bytes["wikipedia"]))


def _check_stem(name: str) -> None:
    """Refuses a file whose name cannot be that of the scale's folders, or is that of another scale's."""
    stem = Path(name).stem
    if stem in catalogue.scale_names():
        raise SteleError(
            f"scale {name!r}: its folders are called by the file's name, and {stem!r} is a scale that Stele has; "
            "give the file another name"
        )
    if not re.fullmatch(PLAIN_NAME, stem) or stem.startswith((".", "-")):
        raise SteleError(
            f"scale {name!r}: its folders are called by the file's name, which may hold letters, digits and "
            "_ @ % + = : , . - only, and begins with none of . and -; give the file another name"
        )
