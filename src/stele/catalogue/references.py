"""Reads and checks the published numbers of references.tsv; maps their names to the catalogue's."""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from stele.catalogue import FOLDER, entries
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.catalogue.schema.published import PublishedBenchmark, PublishedScore
from stele.errors import SteleError
from stele.files.reading import reading
from stele.files.strict import validate

FILE = FOLDER / "references.tsv"
COLUMNS = tuple(PublishedScore.model_fields)
AVERAGE = "average"
NUMBERS = ("value", "tolerance")


def read_references(path: Path) -> list[PublishedScore]:
    """Reads the rows of a table of references.

    Raises SteleError, with the line, for an invalid row, such as one without a source or with text for a number; also
    for wrong columns, and a number that is listed twice for the same source.
    """
    with reading(path, "table of references", "renew it"), path.open(encoding="utf-8", newline="") as handle:
        rows = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise SteleError(f"{path}: want the columns {', '.join(COLUMNS)}; found {', '.join(rows.fieldnames or ())}")
        scores = []
        for number, row in enumerate(rows, start=2):
            stated = {key: text for key, text in row.items() if text or key not in NUMBERS}
            scores.append(validate(PublishedScore, stated, f"{path}, line {number}"))
    for score, count in Counter(score.model_copy(update={"note": ""}) for score in scores).items():
        if count > 1:
            raise SteleError(f"{path}: {score.model} on {score.benchmark} ({score.subset}): found twice for one source")
    return scores


@cache
def published() -> Mapping[str, Sequence[PublishedScore]]:
    """Published numbers by benchmark of the catalogue, for the benchmarks that published.yaml names."""
    scores = read_references(FILE)
    known = {
        key: [score for score in scores if score.benchmark in (about.benchmarks or [key])]
        for key, about in entries(PublishedBenchmark).items()
    }
    return MappingProxyType(known)


def language_of(benchmark: str, subset: str) -> str | None:
    """Language code for a source's name of a subset; `average` for the mean over all languages, None for others.

    The mean over several, but not all, languages also gives None; `languages_of` lists its languages.

    >>> language_of("mrtydi", "korean"), language_of("tatoeba", "cmn-eng"), language_of("mrtydi", "avg")
    ('ko', 'zh', 'average')
    """
    about = entries(PublishedBenchmark)[benchmark]
    if subset in about.average:
        return AVERAGE
    languages = entries(Language)
    if about.names:
        named = {f"{getattr(language, about.names)}{about.suffix}": code for code, language in languages.items()}
        if subset in named:
            return named[subset]
    if subset in languages and not about.suffix:
        return subset
    named = languages_of(benchmark, subset)
    return named[0] if len(named) == 1 else None


@cache
def languages_of(benchmark: str, subset: str) -> tuple[str, ...]:
    """Language codes over which a subset of published.yaml is a mean, in the benchmark's order; () if not listed.

    >>> languages_of("neuclir_mono", "mono fas"), len(languages_of("belebele", "same language (122)"))
    (('fa',), 122)
    """
    pattern = entries(PublishedBenchmark)[benchmark].subsets.get(subset)
    codes = entries(Benchmark)[benchmark].languages
    return tuple(code for code in codes if pattern and re.fullmatch(pattern, code))
