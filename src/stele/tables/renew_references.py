"""Renew the published numbers of references.tsv from clones of MTEB's results and of pyserini, with their commits.

    stele tables renew_references CLONES                    # CLONES/results, CLONES/pyserini, either or both
    stele tables renew_references CLONES --output new.tsv

The numbers of each cloned repository are replaced by those that its commit holds; the numbers of model cards and papers
stay. catalogue/reference_sources.yaml says which files are read, and which numbers are known to be broken.
"""

import csv
import logging
import math
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue.references import COLUMNS, FILE, read_references
from stele.catalogue.schema.models import Model
from stele.catalogue.schema.published import Mteb, Pyserini, ReferenceSources, Repository, ResultFile, Suspect, Task
from stele.command.arguments import Job, Positional
from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.reading import read_object, reading

log = logging.getLogger(__name__)
Row = dict[str, str]  # by COLUMNS
ORDER = ("benchmark", "model", "split", "system", "metric", "subset", "source", "locator", "value")
DIGITS = 12  # of a commit, in a locator


class RenewReferences(Job):
    clones: Positional[Path]
    """Folder that holds the clones of both repositories."""
    output: Path = FILE
    """File to write; default: references.tsv itself."""


def run(args: RenewReferences) -> None:
    for path in (FILE, args.output) if args.output.exists() else (FILE,):
        read_references(path)  # an error in it, or another kind of file, stops the command before anything is written
    with reading(FILE), FILE.open(encoding="utf-8", newline="") as handle:
        before = list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))
    sources = catalogue.whole(ReferenceSources)
    after = renewed(before, sources.mteb, sources.pyserini, args.clones)
    with atomic_file(args.output, newline="", encoding="utf-8") as handle:
        handle.write("\t".join(COLUMNS) + "\n")
        for row in after:
            handle.write("\t".join(row[key] for key in COLUMNS) + "\n")
        handle.flush()
        read_references(Path(handle.name))
    known, now = set(map(_number, before)), set(map(_number, after))
    log.info("%d numbers: %d new or changed, %d gone", len(after), len(now - known), len(known - now))


def _number(row: Row) -> tuple[str, ...]:
    """Identity of a number, whatever its place in the source."""
    return tuple(row[key] for key in COLUMNS if key not in ("locator", "note"))


def renewed(rows: Sequence[Row], mteb: Mteb, pyserini: Pyserini, clones: Path) -> list[Row]:
    """Replaces the rows of each cloned repository by those of its clone; keeps the `rows` of every other source.

    Returns all rows, sorted. Raises SteleError if no repository is cloned.
    """
    renewed_rows = list(rows)
    for about, read in ((mteb, mteb_rows), (pyserini, pyserini_rows)):
        if (clone := clones / about.clone).is_dir():
            models = {row["model"] for row in rows if row["source"] == about.source} | _catalogue_models()
            renewed_rows = [row for row in renewed_rows if row["source"] != about.source]
            renewed_rows += read(about, clone, commit_of(clone), models)
    if not any((clones / about.clone).is_dir() for about in (mteb, pyserini)):
        raise SteleError(f"{clones}: want a clone of {mteb.repository} as {mteb.clone}/, of {pyserini.repository} as "
                         f"{pyserini.clone}/, or both")  # fmt: skip
    return sorted(renewed_rows, key=lambda row: [row[key] for key in ORDER])


def commit_of(clone: Path) -> str:
    """Commit that a clone has checked out. Raises SteleError for a folder that is no clone.

    Its configuration can name programs, and git would run some of them in any command that looks at files.
    """
    command = ["git", f"--git-dir={clone / '.git'}", "rev-parse", "--verify", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise SteleError(f"{clone}: git cannot read this clone; clone it again: {done.stderr.strip()}")
    return done.stdout[:DIGITS]


def _catalogue_models() -> set[str]:
    """Repositories of today's encoders, including those that hold the same weights with code."""
    complete = [model for model in catalogue.entries(Model).values() if model.is_complete]
    return {name for model in complete for name in (model.checkpoint, model.same_weights_as) if name}


# --- MTEB -------------------------------------------------------------------------------------------------------------
def mteb_rows(about: Mteb, clone: Path, commit: str, models: Collection[str]) -> Iterator[Row]:
    """Yields the numbers of `models` in a clone of MTEB's results."""
    for model in sorted(models):
        for path in sorted((clone / "results" / model.replace("/", "__", 1)).glob("*/*.json")):
            if (task := about.tasks.get(path.stem)) is None:
                continue
            result = read_object(path, "result of MTEB")
            version = str(result.get("mteb_version"))
            broken = [suspect for suspect in about.suspect if _is(suspect, path.stem, model, version)]
            place = _locator(about, commit, path.relative_to(clone).as_posix())
            for split, subset, metric, value, remark in _values(task, result, path, broken):
                note = "; ".join(filter(None, (f"mteb {version}", remark, task.note)))
                key = {"model": model, "split": split, "subset": subset, "metric": metric, "locator": place}
                yield _row(about, task, **key, value=f"{value:.5f}", model_revision=path.parent.name, note=note)


def _is(suspect: Suspect, task: str, model: str, version: str) -> bool:
    """Whether `suspect`, a result known to be broken, names this result or a subset of it."""
    of_version = suspect.version is None or f"{version}.".startswith(f"{suspect.version}.")
    return suspect.task == task and suspect.model in (None, model) and of_version


def _values(
    task: Task, result: Mapping[str, Any], path: Path, broken: Sequence[Suspect]
) -> Iterator[tuple[str, str, str, float, str]]:
    """Yields (split, subset, our metric, value, remark) of each number of one result, read from `path`."""
    main = next(iter(task.metrics))
    left_out = {suspect.subset for suspect in broken}
    for split in task.splits if None not in left_out else ():
        try:
            by_subset = {score["hf_subset"]: score for score in result["scores"].get(split, ())}
            scores = {subset: score for subset, score in by_subset.items() if subset not in left_out}
            numbers = (score.get(name, 0) for score in scores.values() for name in task.metrics)
            math.floor(math.fsum(numbers))  # an error unless all are finite
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            advice = "a broken one is left out by `suspect` in catalogue/reference_sources.yaml"
            raise SteleError(f"{path}: want the scores of each split, finite, with their hf_subset; {advice}") from None
        for theirs, ours in task.metrics.items():
            for subset, score in scores.items():
                if theirs in score and (task.subsets is None or subset in task.subsets):
                    yield split, subset, ours, score[theirs], ""
        for name, mean in task.means.items():
            matching = [
                score[main] for subset, score in scores.items() if re.fullmatch(mean.pattern, subset) and main in score
            ]
            if len(matching) == mean.count:
                remark = f"mean of {mean.count} subsets, computed here"
                yield split, name, task.metrics[main], math.fsum(matching) / mean.count, remark


# --- pyserini ---------------------------------------------------------------------------------------------------------
def pyserini_rows(about: Pyserini, clone: Path, commit: str, models: Collection[str]) -> Iterator[Row]:
    """Yields pyserini's two-click reproductions for runs and encoders in `models`. Raises SteleError without them."""
    for name, file in about.files.items():
        path = clone / name
        if not path.is_file():
            raise SteleError(f"{path}: the clone lacks this file; clone it again")
        for condition in catalogue.read_yaml(path)["conditions"]:
            system, _, language = condition["name"].rpartition(".")
            model = about.models.get(system, system)
            if model not in models:
                continue
            engine = about.same_engine.get(system, about)
            key = {"model": model, "system": system, "subset": language, "note": engine.note}
            key["locator"] = _locator(about, commit, f"{name} {condition['name']}")
            for split in condition["splits"]:
                for theirs, ours in file.metrics.items():
                    for scores in split["scores"] if split["split"] in file.splits else ():
                        if theirs in scores:
                            value = {"value": f"{scores[theirs]:.4f}", "tolerance": f"{engine.tolerance:g}"}
                            yield _row(about, file, **key, **value, split=split["split"], metric=ours)


def _locator(about: Repository, commit: str, place: str) -> str:
    return f"{about.repository}@{commit} {place}"


def _row(about: Repository, file: ResultFile, **values: str) -> Row:
    """Completes a row of references.tsv with the values that all numbers of its repository or file share."""
    shared = {
        "benchmark": file.benchmark,
        "source": about.source,
        "tolerance": f"{about.tolerance:g}",
        "status": "read",
    }
    return {**dict.fromkeys(COLUMNS, ""), **shared, **values}
