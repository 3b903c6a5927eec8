"""The mined examples that a pretraining is given: checked against the recipe and the model's tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stele import records
from stele.encoders.probe import tokenizer_probe
from stele.errors import SteleError, unknown
from stele.outputs import digest
from stele.training.store import Store

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

CHECKED = 1 << 20  # tokens of a store that are compared with the vocabulary


def parse_pairs(arguments: Sequence[str]) -> dict[str, Path]:
    """`store:language=record` -> {"store:language": record}; names given twice and other shapes are refused."""
    found: dict[str, Path] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or name.count(":") != 1 or not path:
            raise SteleError(f"--pairs: want STORE:LANGUAGE=RECORD, e.g. msm:en=.../record.json, found {argument!r}")
        if name in found:
            raise SteleError(f"--pairs: {name} is given twice")
        found[name] = Path(path)
    return found


def open_stores(
    given: Mapping[str, Path],
    needed: set[str],
    languages: Sequence[str] | None,
    tokenizer: PreTrainedTokenizerBase,
    words: int,
) -> dict[str, dict[str, Store]]:
    """method -> language -> store, for the methods that the recipe's objectives read.

    Refused: a method with no store at all, a language asked for without one, examples of another method or language
    than their name says, or of another tokenizer.
    """
    probe = digest(tokenizer_probe(tokenizer))
    stores: dict[str, dict[str, Store]] = {method: {} for method in sorted(needed)}
    for name, record in given.items():
        method, language = name.split(":")
        if method in stores and (languages is None or language in languages):
            stores[method][language] = _open(record, method, language, probe, words)
    for method, found in stores.items():
        if not found:
            raise unknown("store", method, {n.partition(":")[0] for n in given}, "--pairs: this objective reads")
        missing = sorted(set(languages or ()) - set(found))
        if missing:
            raise SteleError(f"--pairs: no {method} examples for {', '.join(missing)}, a language of the recipe")
    return stores


def _open(record: Path, method: str, language: str, probe: str, words: int) -> Store:
    facts = records.read_record(record)
    for key, wanted in (("method", method), ("language", language)):
        if facts.get(key) not in (None, wanted):
            raise SteleError(f"{record}: {key} {facts[key]!r}, given as {method}:{language}; name the right record")
    store = Store(record.parent)
    largest = int(store.tokens[:CHECKED].max(initial=0))
    if largest >= words or facts.get("tokenizer_probe") not in (None, probe):
        found = f"token {largest} of {words}" if largest >= words else "other ids for the same text"
        raise SteleError(
            f"{record.parent}: mined with another tokenizer than the checkpoint's ({found}); "
            f"mine it with the checkpoint's own, or with one whose tokenizer is the same"
        )
    return store
