"""The files that a configuration is merged from, so that an error names the one to mend."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from stele.catalogue import read_yaml
from stele.files.strict import Values


class Sources:
    """The files of a configuration (config.yaml, files of `--configfile`, `--config`), the later winning, key by key.

    >>> where = Sources([("config.yaml", {"offline": False}), ("mine.yaml", {"models": {"a": {}}})])
    >>> where("models", "a", "base"), where("offline"), where("seeds")
    ('mine.yaml: models.a.base', 'config.yaml: offline', 'config.yaml: seeds')
    """

    def __init__(self, files: Iterable[tuple[str, Values]]) -> None:
        self.files = list(files)

    def __call__(self, *key: str | int) -> str:
        return f"{self.name(*key)}: {'.'.join(map(str, key))}"

    def name(self, *key: str | int) -> str:
        """The last file among those that hold most of a key's path."""
        deepest, last = max((_depth(values, key), n) for n, (_, values) in enumerate(self.files))
        return self.files[last if deepest else 0][0]


def _depth(values: Any, key: tuple[str | int, ...]) -> int:
    """How many parts of a key's path some values have."""
    for depth, part in enumerate(key):
        try:
            values = values[part]
        except (KeyError, IndexError, TypeError):
            return depth
    return len(key)


def read_sources(workflow) -> Sources:
    """The files that Snakemake has merged, read again: a key given twice in a file is an error here and not there."""
    of_command_line = list(workflow.overwrite_configfiles)  # --configfile
    of_workflow = [path for path in workflow.configfiles if path not in of_command_line]
    files = [(os.path.relpath(path), read_yaml(path)) for path in [*of_workflow, *of_command_line]]
    return Sources([*files, ("--config", workflow.config_settings.config)])
