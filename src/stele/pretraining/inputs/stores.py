"""The mined examples that a pretraining is given: checked against the recipe and the model's tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stele.artifacts import records
from stele.encoders.tokenizer import tokenizer_probe
from stele.errors import SteleError, unknown
from stele.files.digests import digest
from stele.training.section_store import SectionStore
from stele.training.store import Store

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

CHECKED = 1 << 20  # tokens of a store that are compared with the vocabulary
FILES, OTHERS = 3, 256  # files of a store; room for all other files of a process
KINDS = {"section": SectionStore}  # by the method that mined it; of others a Store


def parse_pairs(arguments: Sequence[str]) -> dict[str, Path]:
    """`store:part=record` -> {"store:part": record}; names given twice and other shapes are refused."""
    records: dict[str, Path] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or name.count(":") != 1 or not path:
            raise SteleError(f"--pairs: want STORE:PART=RECORD, e.g. msm:en=.../record.json, found {argument!r}")
        if name in records:
            raise SteleError(f"--pairs: {name} is given twice")
        records[name] = Path(path)
    return records


def open_stores(
    given: Mapping[str, Path],
    needed: set[str],
    languages: Sequence[str] | None,
    tokenizer: PreTrainedTokenizerBase,
    words: int,
) -> dict[str, dict[str, Store | SectionStore]]:
    """method -> part -> store, for the methods that the recipe's tasks read; a part is a language or a pair of them.

    Refused: a method with no store at all, a language of the recipe without one, or without any pair that it belongs
    to, examples of another method or part than their name says, or of another tokenizer. A pair is read when both of
    its languages are the recipe's.
    """
    probe = digest(tokenizer_probe(tokenizer))
    stores: dict[str, dict[str, Store | SectionStore]] = {method: {} for method in sorted(needed)}
    allow_open_files(len(given) * FILES)
    for name, record in given.items():
        method, part = name.split(":")
        if method in stores and (languages is None or languages_of(part) <= set(languages)):
            stores[method][part] = _open(record, method, part, probe, words)
    for method, parts in stores.items():
        if not any(name.startswith(f"{method}:") for name in given):
            raise unknown("store", method, {n.partition(":")[0] for n in given}, "--pairs: this objective reads")
        missing = sorted(set(languages or ()).difference(*map(languages_of, parts)))
        if missing:
            raise SteleError(f"--pairs: no {method} examples for {', '.join(missing)}, a language of the recipe")
    return stores


def languages_of(part: str) -> set[str]:
    """The languages of a part.

    >>> sorted(languages_of("en-fr"))
    ['en', 'fr']
    """
    return set(part.split("-"))


def allow_open_files(number: int) -> None:
    """Raises this process's limit of open files by `number`: mapped files count, and 378 language pairs are many."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + OTHERS
    if hard != resource.RLIM_INFINITY and wanted > hard:
        raise SteleError(
            f"--pairs: want {number} files of examples open at a time, this machine allows {hard}; raise its limit "
            f"(ulimit -Hn), or train on fewer languages"
        )
    if soft != resource.RLIM_INFINITY and wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _open(record: Path, method: str, part: str, probe: str, words: int) -> Store | SectionStore:
    facts = records.read_record(record)
    for key, wanted in (("method", method), ("language", part)):
        if facts.get(key) not in (None, wanted):
            raise SteleError(f"{record}: {key} {facts[key]!r}, given as {method}:{part}; name the right record")
    store = KINDS.get(method, Store)(record.parent, facts.get("examples_in_all"))
    largest = int(store.tokens[:CHECKED].max(initial=0))
    if largest >= words or facts.get("tokenizer_probe") not in (None, probe):
        difference = f"token {largest} of {words}" if largest >= words else "other ids for the same text"
        raise SteleError(
            f"{record.parent}: mined with another tokenizer than the checkpoint's ({difference}); "
            f"mine it with the checkpoint's own, or with one whose tokenizer is the same"
        )
    return store
