"""Where a configuration comes from: config.yaml, files of `--configfile`, `--config`; the later wins, key by key."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from stele.catalogue import read_yaml
from stele.files.strict import Values


class Sources:
    """Who says what, so that an error names the file to mend.

    >>> where = Sources([("config.yaml", {"offline": False}), ("mine.yaml", {"models": {"a": {}}})])
    >>> where("models", "a", "base"), where("offline"), where("seeds")
    ('mine.yaml: models.a.base', 'config.yaml: offline', 'config.yaml: seeds')
    """

    def __init__(self, given: Iterable[tuple[str, Values]]) -> None:
        self.given = list(given)

    def __call__(self, *key: str | int) -> str:
        return f"{self.name(*key)}: {'.'.join(map(str, key))}"

    def name(self, *key: str | int) -> str:
        """The last source among those that say most of a key's path."""
        said = [(_depth(values, key), n) for n, (_, values) in enumerate(self.given)]
        deepest, last = max(said)
        return self.given[last if deepest else 0][0]


def _depth(values: Any, key: tuple[str | int, ...]) -> int:
    """How many parts of a key's path are there."""
    for depth, part in enumerate(key):
        try:
            values = values[part]
        except (KeyError, IndexError, TypeError):
            return depth
    return len(key)


def read_sources(workflow) -> Sources:
    """All that Snakemake has put together, read again: a key given twice in a file is an error here and not there."""
    more = list(workflow.overwrite_configfiles)  # those of --configfile
    own = [path for path in workflow.configfiles if path not in more]
    files = [(os.path.relpath(path), read_yaml(path)) for path in [*own, *more]]
    return Sources([*files, ("--config", workflow.config_settings.config)])
