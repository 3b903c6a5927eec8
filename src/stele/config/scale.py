"""Scales, which are sets of sizes: choosing and loading a run's scale, and the scale stamp of a folder of results."""

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
from stele.files.strict import Values, validate
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
    """A path in canonical form: relative if it is below the current folder, else absolute."""
    path = os.path.relpath(name)
    return os.path.abspath(name) if path.startswith("..") else path


def is_file(name: str) -> bool:
    """Whether a scale is a file of the user's own."""
    return Path(name).suffix in (".yaml", ".yml")


def check_stamp(folder: Path, scale: str, way_out: str) -> None:
    """Stamps a new folder with a scale. Raises SteleError, with `way_out` as advice, if it has another's stamp."""
    stamp = read_stamp(folder)
    if stamp and stamp != scale:
        raise SteleError(
            f"{folder}/ holds files of scale {stamp!r}, but this run has scale {scale!r}: {way_out} or remove {folder}/"
        )
    if not stamp:
        with atomic_file(folder / STAMP) as handle:
            handle.write(f"{scale}\n")


def load_scale(name: str) -> Scale:
    """The sizes of a scale of the catalogue or of a user's YAML file. Raises SteleError if it is unknown or invalid."""
    values = whole_scale(scale_values(name), name)
    if name in catalogue.scale_names():
        return validate(Scale, values, name)
    _check_stem(name)
    limits = values.get("corpora")
    limited = limits.keys() if isinstance(limits, Mapping) else set()
    for dataset in limited & catalogue.entries(Dataset).keys() - Corpora.model_fields.keys():
        wanted = "want cc100: {documents: N} or wikipedia: {pages: N}"
        raise SteleError(f"{name}: corpora: {dataset} is used whole; {wanted}")
    return validate(Scale, values, name)


def scale_values(name: str) -> Values:
    """The keys in a scale's own file, without those that `like` inherits. Raises SteleError if it is unknown."""
    if name in catalogue.scale_names():
        return catalogue.load(f"scales/{name}")
    if not is_file(name):
        raise unknown("scale", name, catalogue.scale_names(), "scale (or give a .yaml file of your own)")
    return catalogue.read_yaml(name)


def _check_stem(name: str) -> None:
    """Refuses a scale file whose name cannot be a folder's name, or is the name of a scale in the catalogue."""
    stem = Path(name).stem
    if stem in catalogue.scale_names():
        raise SteleError(
            f"scale {name!r}: its folders take the file's name, and Stele has a scale {stem!r} already; rename the file"
        )
    if not re.fullmatch(PLAIN_NAME, stem) or stem.startswith((".", "-")):
        raise SteleError(
            f"scale {name!r}: its folders take the file's name, which may hold only letters, digits and "
            "_ @ % + = : , . -, and may not begin with . or -; rename the file"
        )
