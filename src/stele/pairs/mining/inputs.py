"""What jobs share that mine knowledge pairs: the recipe's method, the records of a part's languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stele.artifacts import knowledge_base, records
from stele.command.arguments import Job, Json, Seed, Some
from stele.errors import SteleError


class PartInputs(NamedTuple):
    """The languages of a part in order, with the record of the knowledge base and those of the documents of each."""

    languages: list[str]
    bases: dict[str, Path]
    documents: dict[str, list[Path]]

    def records(self) -> dict[str, Path]:
        """The inputs as a record names them."""
        inputs = {f"knowledge_base:{code}": self.bases[code] for code in self.languages}
        inputs |= {
            f"documents:{code}:{n}": path for code in self.languages for n, path in enumerate(self.documents[code], 1)
        }
        return inputs


class PartJob(Job):
    """A job that mines knowledge pairs of a part."""

    recipe: Json
    """`method` and its keys, e.g. {"method": "ilk"}."""
    part: str
    """A language, or two in order: "en", "en-fr"."""
    knowledge_base: Some[str]
    """LANGUAGE=RECORD of each of the part's languages."""
    documents: Some[str]
    """LANGUAGE=RECORD[,RECORD...] of each, shards in order."""
    seed: Seed


def parse(args: PartJob, method: str, count: int) -> PartInputs:
    """The inputs of a job for a method whose parts have `count` languages.

    Raises SteleError where part, knowledge bases and documents do not fit together.
    """
    bases = single(args.knowledge_base, "--knowledge-base")
    documents = by_language(args.documents, "--documents", many=True)
    codes = _languages(args.part, bases, documents, method, count)
    for code in codes:
        _check_documents(code, bases[code], documents[code])
    return PartInputs(codes, bases, documents)


def single(given: Sequence[str], name: str) -> dict[str, Path]:
    """The records by language, of LANGUAGE=RECORD."""
    return {code: path for code, (path,) in by_language(given, name, many=False).items()}


def by_language(given: Sequence[str], name: str, many: bool) -> dict[str, list[Path]]:
    """The records by language, of LANGUAGE=RECORD or, where they are many, LANGUAGE=RECORD,RECORD..."""
    records: dict[str, list[Path]] = {}
    for item in given:
        code, equals, paths = item.partition("=")
        if not (code and equals and paths):
            raise SteleError(f"{name} {item!r}: want LANGUAGE=RECORD{'[,RECORD...]' if many else ''}")
        if code in records:
            raise SteleError(f"{name}: {code} is given twice")
        records[code] = [Path(path) for path in (paths.split(",") if many else [paths])]
    return records


def _languages(
    part: str, bases: Mapping[str, Path], documents: Mapping[str, list[Path]], method: str, count: int
) -> list[str]:
    """The languages of a part, in order. Raises SteleError where knowledge bases or documents are of others."""
    codes = sorted(bases)
    if len(codes) != count or "-".join(codes) != part:
        want = "one language" if count == 1 else 'two languages in order, as in "en-fr"'
        raise SteleError(
            f"--part {part}: a part of {method} is {want}; knowledge bases are given of {', '.join(codes)}"
        )
    if sorted(documents) != codes:
        raise SteleError(f"--documents: want those of {', '.join(codes)}, found {', '.join(sorted(documents))}")
    return codes


def _check_documents(code: str, base: Path, documents: Sequence[Path]) -> None:
    """A knowledge base counts pages through its documents: others, or another order, would give wrong texts."""
    known = records.read_record(base)["inputs"]
    others = [
        str(path)
        for number, path in enumerate(documents, 1)
        if records.content_digest(path) != known.get(f"documents:{number}")
    ]
    pages = sum(records.read_record(path)["documents"] for path in documents)
    if others or pages != (built := knowledge_base.read_pages(base, ["page"]).num_rows):
        what = (
            f"of these documents of {code} in this order: {', '.join(others)}"
            if others
            else f"of {pages} documents but of {built}"
        )
        raise SteleError(f"{base}: not made {what}; build the knowledge base again")
