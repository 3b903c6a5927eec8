"""A folder of results made small enough to be kept: what verdicts, tables and pages read, and what made it.

The layout is that of a folder of results, so whatever reads one reads this: each seed's result with its values per
query, and the means over the seeds that are there. Left out are runs and indexes; what results come from stands once,
in ancestry.json, but for what tells a trained model from another. Seeds of a later run join those that are there.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stele.artifacts import records
from stele.artifacts.record_shape import seal
from stele.artifacts.results import RunKey, read_result, result_files
from stele.errors import SteleError
from stele.evaluation.aggregate import over_seeds
from stele.evaluation.scores import KEYS, QUERIES
from stele.evidence import numbering, trainings
from stele.evidence.looks import FILE as LOOKS
from stele.evidence.needed import references_of
from stele.files.atomic import atomic_file, atomic_write_json
from stele.files.digests import digest, sha256
from stele.files.paths import STAMP, STUDY, read_stamp
from stele.files.reading import read_object, reading
from stele.papers.addresses import load_paper
from stele.papers.claims import FILE, load_claims, papers_with_claims

CONTEXT = Path("tables/context.json")
# jobs that stay among a result's own ancestors: what was trained, and from what
KEPT = ("sources checkpoint", "pretrain", "snapshot", "finetune", "calibrate", "rerank", "answer")
NAMED = ("job", "model", "seed", "repository", "revision", "origin", "labels", "diverged")  # of those jobs, beside it
LEFT_OUT = ("intervals", "outputs")  # of a seed's result: the values per query have what they tell
OF_A_MEAN = ("benchmark", "model", "setting", "averaged")


def pack(results: Path, folder: Path, specs: Path, work: Path | None = None) -> int:
    """Adds the results of a folder to a packed one, made where it is not there, and returns how many seeds it holds.

    Of a folder of `work`, too, it keeps the loss curves of pretrainings behind the results, and what trainings cost.

    Raises SteleError where the packed folder is of another scale, or was begun under other claims: they are fixed
    before the first result is looked at.
    """
    scale = read_stamp(results)
    if scale is None:
        raise SteleError(f"{results}: no results of a scale ({STAMP} is missing); build some first")
    begin(folder, scale, specs, results)
    everything = records.read_ancestry(path) if (path := folder / records.WHOLE_ANCESTRY).is_file() else {}
    for path in result_files(results, each_seed=True):
        with reading(path, "result", "score it again"):
            everything |= _pack_seed(path, folder / path.relative_to(results))
    _write(folder / records.WHOLE_ANCESTRY, everything)
    if work is not None:
        of_kinds = ((trainings.FILE, trainings.trainings), (trainings.FINETUNING, trainings.finetunings))
        for name, found in of_kinds:
            _write(folder / name, trainings.kept(folder, name) | dict(found(work, everything)))
    for path in result_files(results):  # what has no seeds: counts
        if not path.with_suffix("").is_dir():
            _write(folder / path.relative_to(results), seal(_slim(records.read_record(path))))
    for row in sorted({path.parent for path in result_files(folder, each_seed=True)}):
        with reading(row, "results of seeds", "score them again"):
            _average(row)
    if (results / CONTEXT).is_file():
        _write(folder / CONTEXT, of_all_seeds(read_object(results / CONTEXT, "context of tables")))
    if (results / LOOKS).is_file():
        shutil.copyfile(results / LOOKS, folder / LOOKS)
    return sum(1 for _ in result_files(folder, each_seed=True))


def of_all_seeds(context: Mapping[str, Any]) -> dict[str, Any]:
    """A context by which tables with seeds of their own, too, show the means over all seeds that a folder holds.

    A run's context names the seeds that this run was to build, of those that joined one packed folder the last.
    """
    return {**context, "table_seeds": {table: {} for table in context.get("table_seeds", {})}}


def begin(folder: Path, scale: str, specs: Path, results: Path | None = None) -> None:
    """Writes down when, under which claims and with which looks a packed folder is begun, or checks that they stay.

    A paper's claims are written down with its first result, looks when there are some.
    """
    now = {path.name: sha256(path / FILE) for path in papers_with_claims(specs)}
    there = {RunKey(*path.parent.parts[-3:]) for path in result_files(results, each_seed=True)} if results else set()
    study = {"begun": _now(), "claims_sha256": {}, "scale": scale}
    if (folder / STUDY).is_file():
        study = read_object(folder / STUDY, "record of a study")
        _check_begun(folder, scale, study, now)
    else:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise SteleError(f"{folder}: holds other files and no {STUDY}; give a new or an empty folder")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / STAMP).write_text(f"{scale}\n", encoding="utf-8")
    first = {path.name for path in papers_with_claims(specs) if path.name not in study["claims_sha256"]}
    added = {name: now[name] for name in sorted(first) if there & _judging(specs / name)}
    looks = _digest_of_looks(folder, study, results)
    atomic_write_json(folder / STUDY, study | {"claims_sha256": study["claims_sha256"] | added} | looks)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())  # as in the records of results


def _check_begun(folder: Path, scale: str, study: dict[str, Any], now: dict[str, str]) -> None:
    if (there := read_stamp(folder)) != scale:
        raise SteleError(f"{folder}: holds results of the scale {there}, these are of {scale}; give another folder")
    with reading(folder / STUDY, "record of a study"):
        begun = study["claims_sha256"]
        changed = sorted(paper for paper in begun.keys() & now.keys() if begun[paper] != now[paper])
    if changed:
        raise SteleError(
            f"{folder}: was begun under other claims of {', '.join(changed)}; a study is judged by those that were "
            "fixed before it: restore them, or begin another folder"
        )


def _judging(folder: Path) -> set[RunKey]:
    """The rows that a paper's claims are judged by."""
    paper = load_paper(folder)
    return {one.result for claim in load_claims(folder / FILE).claims for one in references_of(claim, paper)}


def _digest_of_looks(folder: Path, study: dict[str, Any], results: Path | None) -> dict[str, str]:
    """`looks_sha256` of the seeds of the first look, nothing where there was one look."""
    found = {sha256(path) for place in (folder, results) if place and (path := place / LOOKS).is_file()}
    if begun := study.get("looks_sha256"):
        found.add(begun)
    if len(found) > 1:
        raise SteleError(f"{folder}: was begun with another {LOOKS}; the seeds of the first look stay: restore them")
    return {"looks_sha256": found.pop()} if found else {}


def _pack_seed(source: Path, target: Path) -> records.Record:
    """One seed's result and its values per query, these as float32; returns all that it comes from."""
    read_result(source)  # a damaged one is refused
    whole = records.read_record(source)
    record = _slim(whole)
    queries = source.with_suffix("") / QUERIES
    if queries.is_file():
        small = target.with_suffix("") / QUERIES
        # settings of a benchmark may have other queries: those of vectors that belong together are pairs
        _write_queries(queries, small, target.parents[2] / f"{target.parent.name}.parquet")
        record["queries"] = {"file": QUERIES, "sha256": sha256(small)}
    _write(target, seal(record))
    return whole.get(records.ANCESTRY, {})


def _write_queries(source: Path, target: Path, numbers: Path) -> None:
    """The values of a file in single precision; a query is its number within its search (`numbers` has all)."""
    import pyarrow
    import pyarrow.parquet

    with reading(source, "file of scores per query"):
        table = pyarrow.parquet.read_table(source)
        table.validate(full=True)
    numbered = numbering.numbered(numbers, *(table[name].to_pylist() for name in ("search", "query")))
    single = {name: pyarrow.float32() for name in table.column_names if name not in KEYS}
    text = dict.fromkeys(KEYS, pyarrow.string())
    columns = {name: table[name].cast((single | text)[name]) for name in table.column_names}
    table = pyarrow.table(columns | {"query": pyarrow.array(numbered)})
    # numbers that follow each other take a byte or two
    encodings = {"query": "DELTA_BYTE_ARRAY", **dict.fromkeys(single, "PLAIN")}
    with atomic_file(target, mode="wb") as handle:
        pyarrow.parquet.write_table(
            table,
            handle,
            compression="zstd",
            compression_level=19,
            use_dictionary=["search", "language"],
            column_encoding=encodings,
        )


def _slim(record: records.Record) -> records.Record:
    """A seed's record without what stands elsewhere: of what it comes from, what tells a trained model from another."""
    ancestry = {
        name: {key: facts[key] for key in NAMED if key in facts}
        for name, facts in record.get(records.ANCESTRY, {}).items()
        if facts.get("job") in KEPT
    }
    slim = {key: value for key, value in record.items() if key not in LEFT_OUT}
    return {**slim, records.ANCESTRY: ancestry} if records.ANCESTRY in record else slim


def _average(row: Path) -> None:
    """The mean over all seeds of a row that are there, as `scoring average` has it."""
    paths = sorted(row.glob("pt*-ft*.json"))
    found = [records.read_record(path) for path in paths]
    names = [name for name in found[0]["metrics"] if all(name in record["metrics"] for record in found)]
    metrics = {name: over_seeds([record["metrics"][name] for record in found]) for name in names}
    _write(
        row.with_suffix(".json"),
        seal(
            {
                "job": "average",
                **{key: found[0][key] for key in OF_A_MEAN if key in found[0]},
                "seeds": [record["seeds"] for record in found],
                "inputs": {f"seeds {n}": records.content_digest(path) for n, path in enumerate(paths)},
                "labels": sorted({label for record in found for label in record.get("labels", ())}),
                "diverged": {seed: why for record in found for seed, why in record.get("diverged", {}).items()},
                "metrics": metrics,
                "content": digest(metrics),
                records.ANCESTRY: _ancestry(found),
            }
        ),
    )
    read_result(row.with_suffix(".json"))


def _ancestry(found: Iterable[records.Record]) -> records.Record:
    return {name: facts for record in found for name, facts in record.get(records.ANCESTRY, {}).items()}


def _write(path: Path, record: dict[str, Any]) -> None:
    with atomic_file(path, encoding="utf-8") as handle:
        handle.write(json.dumps(record, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n")
