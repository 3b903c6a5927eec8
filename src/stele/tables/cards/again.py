"""The command that makes the results of a card again, from what their records say."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from stele import catalogue
from stele.artifacts.records import own_checkpoint
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.tables.cards.encoding import origins
from stele.tables.cards.evaluated import Evaluated

REAL, USUAL = "paper", "results_evaluate"  # the scale and folder of `stele evaluate` unless it is told others


def command(found: Sequence[Evaluated], scale: str, folder: str = "", user_data: Sequence[str] = ()) -> str:
    """`stele evaluate` with its options; FOLDER is a user's checkpoint, FILE a configuration with `user_data`."""
    words = ["stele", "evaluate", *_model(found[0]), "--benchmarks", *(one.result.benchmark for one in found)]
    if languages := _languages(found):
        words += ["--languages", *languages]
    if scale and scale != REAL:
        words += ["--scale", scale]
    if encoding := _encoding(found[0]):
        words += ["--encoding", *encoding]
    if user_data:
        words += ["--configfile", "FILE"]
    if folder not in ("", USUAL):
        words += ["--results-dir", folder]
    return shlex.join(words)


def _model(one: Evaluated) -> list[str]:
    """What was evaluated, and the name that its results have."""
    name = one.result.model
    repository = own_checkpoint(one.record, name).get("repository")
    known = catalogue.entries(Model).get(name)
    if known and repository == known.checkpoint:
        return [name]
    alike = repository and repository.rpartition("/")[2] == name
    return [repository] if alike else [repository or "FOLDER", "--name", name]


def _languages(found: Sequence[Evaluated]) -> list[str]:
    """The languages that were chosen; none where every benchmark has all of its own."""
    chosen = [{*one.job["languages"]} >= {*catalogue.entry(Benchmark, one.result.benchmark).languages} for one in found]
    if all(chosen):
        return []
    return sorted({code for one in found for pair in one.job["languages"] for code in pair.split("-")})


def _encoding(one: Evaluated) -> list[str]:
    values = one.job["encoding"]
    chosen = sorted(key for key, who in origins(one.job).items() if who == "config")
    return [f"{key}={_plain(values[key])}" for key in chosen]


def _plain(value: object) -> str:
    """A value as `stele evaluate --encoding` reads it: the end of a line as \\n."""
    return str(value).lower() if isinstance(value, bool) else str(value).replace("\n", "\\n")
