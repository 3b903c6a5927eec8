"""How the texts of a card's results became vectors: each key of the encoding, its value and who decided it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stele.tables.cards.evaluated import Evaluated

WHO = {
    "config": "config.yaml",
    "models": "models.yaml",
    "folder": "the checkpoint's folder",
    "benchmark": "the benchmark",
    "scale": "the scale",
    "default": "default",
}


class Value(NamedTuple):
    """A key of the encoding with its value, who decided it, and the benchmarks where that is so."""

    key: str
    value: str
    who: str
    benchmarks: str


def origins(job: Mapping[str, Any]) -> dict[str, str]:
    """Key -> who decided it."""
    return {key: who for who, keys in job.get("encoding_decided_by", {}).items() for key in keys}


def values(found: Sequence[Evaluated]) -> Iterator[Value]:
    """The values in the order of the encoding's keys; one that all benchmarks share stands once."""
    keys = dict.fromkeys(key for one in found for key in one.job["encoding"])
    for key in keys:
        of_benchmark = {one.result.benchmark: _said(one.job, key) for one in found if key in one.job["encoding"]}
        for value, who in dict.fromkeys(of_benchmark.values()):
            where = [name for name, said in of_benchmark.items() if said == (value, who)]
            yield Value(key, value, WHO.get(who, who), "all" if len(where) == len(found) else ", ".join(where))


def _said(job: Mapping[str, Any], key: str) -> tuple[str, str]:
    return _text(job["encoding"][key]), origins(job).get(key, "default")


def _text(value: Any) -> str:
    """A value as YAML has it; a text in quotes where blanks or nothing would be lost.

    >>> _text("query: "), _text("mean"), _text(True), _text(None)
    ('"query: "', 'mean', 'true', 'none')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "none"
    if isinstance(value, str) and value.isidentifier():
        return value
    return '"' + value.replace("\n", "\\n") + '"' if isinstance(value, str) else str(value)
