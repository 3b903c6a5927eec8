"""The catalogue: facts as YAML (models, datasets, recipes, settings, benchmarks, languages, scales)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from stele.errors import SteleError, unknown
from stele.files.reading import reading

FOLDER = Path(__file__).parent


def read_yaml(path: Path | str) -> dict[str, Any]:
    """The keys of one YAML file; a key given twice, a damaged file or a missing one is an error that names it."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        """A safe loader that refuses a key given twice instead of keeping the last."""

    def mapping(loader: Loader, node: yaml.MappingNode) -> dict:
        keys = [key.value for key, _ in node.value]
        for (key, _), name in zip(node.value, keys, strict=True):
            if keys.count(name) > 1:
                raise SteleError(f"{path}, line {key.start_mark.line + 1}: key {name!r} is given twice")
        loader.flatten_mapping(node)  # `<<: *anchor`
        return loader.construct_mapping(node, deep=True)

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    with reading(path, "YAML file", "mend it"):
        value = yaml.load(Path(path).read_text(encoding="utf-8"), Loader)
    if not isinstance(value, dict | None):
        raise SteleError(f"{path}: want keys and values, found {type(value).__name__}")
    return value or {}


@cache
def shipped(name: str) -> dict[str, Any]:
    """A file of facts by its path below stele/; shared by all callers: do not change what it returns."""
    return read_yaml(FOLDER.parent / name)


def load(name: str) -> dict[str, Any]:
    """One file of the catalogue, e.g. `load("models")`, as it stands there; `schema` says what may stand there."""
    return shipped(f"catalogue/{name}.yaml")


def get(name: str, key: str) -> dict[str, Any]:
    """One entry of one file, e.g. `get("training_sets", "nq")`; an unknown key names the nearest valid one."""
    entries = load(name)
    if key not in entries:
        raise unknown(name.removesuffix("s"), key, entries, f"catalogue/{name}.yaml")
    return entries[key]


def setting_names(benchmark: str) -> list[str]:
    """All names that a result of a benchmark may bear: its settings and their short names."""
    settings = load("settings")
    return [*settings["settings"][benchmark], *settings["aliases"].get(benchmark, ())]


def scale_names() -> list[str]:
    return sorted(path.stem for path in (FOLDER / "scales").glob("*.yaml"))
