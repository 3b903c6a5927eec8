"""Arguments and inputs of the jobs that mine knowledge bases: the recipe, and the records of a part's languages."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stele.artifacts import knowledge_base, records
from stele.command.arguments import Job, Json, Seed, Some, named_paths
from stele.errors import SteleError


class PartInputs(NamedTuple):
    """The languages of a part in order, and for each of them the records of its knowledge base and documents."""

    languages: list[str]
    bases: dict[str, Path]
    documents: dict[str, list[Path]]

    def records(self) -> dict[str, Path]:
        """Maps the names that the inputs have in a job's record to their paths."""
        inputs = {f"knowledge_base:{code}": self.bases[code] for code in self.languages}
        inputs |= {
            f"documents:{code}:{n}": path for code in self.languages for n, path in enumerate(self.documents[code], 1)
        }
        return inputs


class PartJob(Job):
    """Options of a job that mines the pairs of one part."""

    recipe: Json
    """Mining method and its keys, e.g. {"method": "ilk"}."""
    part: str
    """One language ("en") or an ordered pair of languages ("en-fr")."""
    knowledge_base: Some[str]
    """Record of the knowledge base of each language of the part, as LANGUAGE=RECORD."""
    documents: Some[str]
    """Records of each language's documents, all shards in order, as LANGUAGE=RECORD[,RECORD...]."""
    seed: Seed


def parse(args: PartJob, method: str, count: int) -> PartInputs:
    """Parses a job's inputs for a method whose parts have `count` languages.

    Raises SteleError if the part, the knowledge bases and the documents do not fit together.
    """
    bases = named_paths(args.knowledge_base, "--knowledge-base")
    shards = named_paths(args.documents, "--documents", "LANGUAGE=RECORD[,RECORD...]")
    documents = {code: [Path(path) for path in str(paths).split(",")] for code, paths in shards.items()}
    codes = _languages(args.part, bases, documents, method, count)
    for code in codes:
        _check_documents(code, bases[code], documents[code])
    return PartInputs(codes, bases, documents)


def _languages(
    part: str, bases: Mapping[str, Path], documents: Mapping[str, list[Path]], method: str, count: int
) -> list[str]:
    """Languages of a part, in order. Raises SteleError if knowledge bases or documents are of other languages."""
    codes = sorted(bases)
    if len(codes) != count or "-".join(codes) != part:
        want = "one language" if count == 1 else 'two languages in order, as in "en-fr"'
        raise SteleError(f"--part {part}: a part of {method} is {want}; found knowledge bases of {', '.join(codes)}")
    if sorted(documents) != codes:
        raise SteleError(f"--documents: want documents of {', '.join(codes)}, found {', '.join(sorted(documents))}")
    return codes


def _check_documents(code: str, base: Path, documents: Sequence[Path]) -> None:
    """Raises SteleError if a knowledge base, which numbers pages, was not built from these documents in this order."""
    known = records.read_record(base)["inputs"]
    others = [
        str(path)
        for number, path in enumerate(documents, 1)
        if records.content_digest(path) != known.get(f"documents:{number}")
    ]
    pages = sum(records.read_record(path).get("documents", 0) for path in documents)
    if others or pages != (built := knowledge_base.read_pages(base, ["page"]).num_rows):
        what = (
            f"of these documents of {code} in this order: {', '.join(others)}"
            if others
            else f"of {pages} documents but of {built}"
        )
        raise SteleError(f"{base}: the knowledge base was not made {what}; build it again")
