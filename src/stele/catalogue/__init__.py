"""The catalogue: facts as YAML (models, datasets, recipes, settings, benchmarks, languages, scales)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from stele.errors import SteleError, unknown
from stele.files.atomic import atomic_file
from stele.files.reading import reading
from stele.files.strict import Strict, Values, validate

FOLDER = Path(__file__).parent
ADDED = "STELE_ADDED"  # the environment variable with what config.yaml adds to the catalogue; jobs inherit it
# what the last plan in this folder adds, for its commands (`snakemake -p`) that are run by hand
LAST_PLAN = Path(".snakemake/stele-added.json")
Facts = TypeVar("Facts", bound=Strict)  # a model of schema/; its `FILE` names the YAML file


def read_yaml(path: Path | str) -> Values:
    """Reads the keys of one YAML file. Raises SteleError for a missing or damaged file and for a repeated key."""
    with reading(path, "YAML file", "correct the path or the file"):
        value = _parse(Path(path).read_text(encoding="utf-8"), path)
    if not isinstance(value, dict | None):
        raise SteleError(f"{path}: want keys and values, found {type(value).__name__}")
    return value or {}


def _parse(text: str, path: Path | str) -> Any:
    """Parses a YAML text. Raises SteleError, with the line, for repeated keys and integers not in base 10."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        """A safe loader that refuses a repeated key, and an integer that YAML would not read in base 10."""

    def mapping(loader: Loader, node: yaml.MappingNode) -> dict:
        keys = [key.value for key, _ in node.value]
        for (key, _), name in zip(node.value, keys, strict=True):
            if keys.count(name) > 1:
                raise SteleError(f"{path}, line {key.start_mark.line + 1}: key {name!r} is given twice")
        loader.flatten_mapping(node)  # `<<: *anchor`
        return loader.construct_mapping(node, deep=True)

    def integer(loader: Loader, node: yaml.ScalarNode) -> int:
        if re.match("[-+]?0[0-9_xb]|.*:", node.value):  # 010 is 8, 1:30 is 90, 0x1F is 31
            place = f"{path}, line {node.start_mark.line + 1}"
            raise SteleError(f"{place}: YAML reads {node.value} as {loader.construct_yaml_int(node)}; use base 10")
        return loader.construct_yaml_int(node)

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    Loader.add_constructor("tag:yaml.org,2002:int", integer)
    return yaml.load(text, Loader)


@cache
def shipped(name: str) -> Values:
    """Reads a file of facts by its path below stele/. All callers share the result and must not change it."""
    return read_yaml(FOLDER.parent / name)


def load(name: str) -> Values:
    """Reads one file of the catalogue, with the additions of config.yaml, without validating it.

    It serves recipes and stand-ins, which a scale changes first. For typed values, see `entries` and `whole`.
    """
    return _load(name, _added())


@cache
def _load(name: str, added: str) -> Values:
    values, added_values = shipped(f"catalogue/{name}.yaml"), _entries_in(added).get(name, {})
    if name == "settings":
        of_benchmarks = {key: {**values["settings"].get(key, {}), **entry} for key, entry in added_values.items()}
        return {**values, "settings": {**values["settings"], **of_benchmarks}}
    return {**values, **added_values}


def _added() -> str:
    text = os.environ.get(ADDED)
    return _last_plan() if text is None else text


@cache
def _last_plan() -> str:
    with reading(LAST_PLAN, "file of additions to the catalogue", "plan anew: snakemake -n"):
        text = LAST_PLAN.read_text(encoding="utf-8") if LAST_PLAN.is_file() else ""
        json.loads(text or "{}")
    return text


def note_plan() -> None:
    """Saves this process's additions to the catalogue, for commands of its plan that are run by hand in this folder."""
    text = _added()
    with suppress(OSError):  # the folder may be read-only
        if not text:
            LAST_PLAN.unlink(missing_ok=True)
        elif not LAST_PLAN.is_file() or LAST_PLAN.read_text(encoding="utf-8") != text:
            with atomic_file(LAST_PLAN) as handle:
                handle.write(text)


@cache
def _entries_in(added: str) -> Mapping[str, Values]:
    return json.loads(added or "{}")


def added(name: str) -> Values:
    """Entries that config.yaml adds to a file of the catalogue."""
    return _entries_in(_added()).get(name, {})


def add(additions: Mapping[str, Values]) -> None:
    """Adds entries to files of the catalogue (file name -> entries), for this process and the commands it starts.

    They replace all entries that were added before.
    """
    values = {name: entries for name, entries in additions.items() if entries}
    text = json.dumps(values, sort_keys=True) if values else ""
    if text != _added():
        entries.cache_clear()
    os.environ[ADDED] = text


@cache
def entries(kind: type[Facts]) -> Mapping[str, Facts]:
    """Returns all entries of a kind by name. Raises SteleError for an invalid file.

    >>> from stele.catalogue.schema.languages import Language
    >>> entries(Language)["sw"].name
    'Swahili'
    """
    return MappingProxyType(validate(dict[str, kind], load(kind.FILE), f"catalogue/{kind.FILE}.yaml"))


def entry(kind: type[Facts], key: str) -> Facts:
    """Returns one entry of a kind, e.g. `entry(TrainingSet, "nq")`. Raises SteleError for an unknown key."""
    if key not in (known := entries(kind)):
        raise unknown(kind.FILE.removesuffix("s"), key, known, f"catalogue/{kind.FILE}.yaml")
    return known[key]


@cache
def whole(kind: type[Facts]) -> Facts:
    """Returns a file that is one typed value rather than entries, e.g. `whole(Costs)`. Raises SteleError if invalid."""
    return validate(kind, load(kind.FILE), f"catalogue/{kind.FILE}.yaml")


def setting_names(benchmark: str) -> list[str]:
    """All names that a result file of a benchmark may have: its settings and their short names."""
    settings = load("settings")
    return [*settings["settings"][benchmark], *settings["aliases"].get(benchmark, ())]


def scale_names() -> list[str]:
    return sorted(path.stem for path in (FOLDER / "scales").glob("*.yaml"))
