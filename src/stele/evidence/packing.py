"""A folder of results made small enough to be kept: what verdicts, tables and pages read, and what made it.

The layout is that of a folder of results, so whatever reads one reads this: each seed's result with its values per
query, and the means over the seeds that are there. Left out are runs and indexes; what results come from stands once,
in ancestry.json, but for what tells a trained model from another. Seeds of a later run join those that are there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stele.artifacts import records
from stele.artifacts.results import read_result, result_files
from stele.errors import SteleError
from stele.evaluation.aggregate import over_seeds
from stele.evidence import numbering, trainings
from stele.files.atomic import atomic_file, atomic_write_json, digest, sha256
from stele.files.paths import STAMP, STUDY, read_stamp
from stele.files.reading import read_object
from stele.papers.claims import FILE, papers_with_claims
from stele.significance.scores import KEYS, QUERIES

CONTEXT = Path("tables/context.json")
LOOKS = "looks.yaml"
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
    begin(folder, scale, specs)
    everything = read_object(path, "ancestry") if (path := folder / records.WHOLE_ANCESTRY).is_file() else {}
    for path in result_files(results, each_seed=True):
        everything |= _pack_seed(path, folder / path.relative_to(results))
    _write(folder / records.WHOLE_ANCESTRY, everything)
    if work is not None:
        of_kinds = ((trainings.FILE, trainings.trainings), (trainings.FINETUNING, trainings.finetunings))
        for name, found in of_kinds:
            there = read_object(path, "record of trainings") if (path := folder / name).is_file() else {}
            _write(path, there | dict(found(work, everything)))
    for path in result_files(results):  # what has no seeds: counts
        if not path.with_suffix("").is_dir():
            _write(folder / path.relative_to(results), _slim(records.read_record(path)))
    for row in sorted({path.parent for path in result_files(folder, each_seed=True)}):
        _average(row)
    for name in (CONTEXT, Path(LOOKS)):
        if (results / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(results / name, folder / name)
    return sum(1 for _ in result_files(folder, each_seed=True))


def begin(folder: Path, scale: str, specs: Path) -> None:
    """Writes down under which claims a packed folder is begun, or checks that they are still those."""
    claims = {path.name: sha256(path / FILE) for path in papers_with_claims(specs)}
    if not (folder / STUDY).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / STAMP).write_text(f"{scale}\n", encoding="utf-8")
        atomic_write_json(folder / STUDY, {"scale": scale, "claims_sha256": claims})
        return
    if (there := read_stamp(folder)) != scale:
        raise SteleError(f"{folder}: holds results of the scale {there}, these are of {scale}; give another folder")
    begun = read_object(folder / STUDY, "record of a study")["claims_sha256"]
    if changed := sorted(paper for paper in begun.keys() & claims.keys() if begun[paper] != claims[paper]):
        raise SteleError(
            f"{folder}: was begun under other claims of {', '.join(changed)}; a study is judged by those that were "
            "fixed before it: restore them, or begin another folder"
        )


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
    _write(target, record)
    return whole.get(records.ANCESTRY, {})


def _write_queries(source: Path, target: Path, numbers: Path) -> None:
    """The values of a file in single precision; a query is its number within its search (`numbers` has all)."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(source)
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
        },
    )
    read_result(row.with_suffix(".json"))


def _ancestry(found: Iterable[records.Record]) -> records.Record:
    return {name: facts for record in found for name, facts in record.get(records.ANCESTRY, {}).items()}


def _write(path: Path, record: dict[str, Any]) -> None:
    with atomic_file(path, encoding="utf-8") as handle:
        handle.write(json.dumps(record, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n")
