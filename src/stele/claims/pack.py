"""Pack a folder of results for keeping: values per query, their provenance, and verdicts on the papers' claims.

    stele claims pack results evidence/study
    stele claims pack results_adapt/NAME kept/NAME       # an adaptation, with its verdict and card

Results of further seeds join the packed ones; the claims must be the same as the first time. The packed folder has the
layout of a folder of results, so `stele claims judge`, `stele tables verify --results-dir` and all commands that draw
tables read it: each seed's result with its values per query, and the means over the seeds. Runs and indexes are left
out, and the ancestors of all results are recorded once, in ancestry.json.
"""

import json
import logging
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stele.artifacts import records, results
from stele.artifacts.record_shape import seal
from stele.artifacts.results import RunKey, read_result, result_files
from stele.claims.judge import judge, write_verdicts
from stele.claims.judging import trainings
from stele.claims.judging.pairs import references_of
from stele.claims.judging.verdicts import CONTEXT, LOOKS_FILE
from stele.command.arguments import Job, Positional, SpecsFolder
from stele.errors import SteleError
from stele.evaluation import paired
from stele.evaluation.aggregate import over_seeds
from stele.evaluation.scores import KEYS, QUERIES
from stele.files.atomic import atomic_file, atomic_write_json
from stele.files.digests import digest, sha256
from stele.files.paths import STAMP, STUDY, read_stamp, refuse_within_results
from stele.files.reading import read_object, reading
from stele.papers.addresses import load_paper
from stele.papers.claims import FILE, load_claims, papers_with_claims
from stele.papers.paper import PAPER_TABLES

log = logging.getLogger(__name__)
LARGEST_MB = 20
NAMED = ("job", "model", "seed", "repository", "revision", "origin", "labels", "diverged")
ENCODED = (*NAMED, "encoding", "encoding_decided_by", "encoding_notes")
# jobs that a packed result keeps among its ancestors, trainings, checkpoints and encodings: their kept facts
KEPT = {
    **dict.fromkeys(("sources checkpoint", "pretrain", "snapshot", "finetune", "calibrate", "rerank", "answer"), NAMED),
    **dict.fromkeys(("retrieve", "encode_pairs"), ENCODED),
}
LEFT_OUT = ("intervals", "outputs")  # left out of a seed's result: they follow from the values per query
OF_AN_ADAPTATION = ("verdict.json", "card.md", "card.html")
OF_A_MEAN = ("benchmark", "model", "setting", "averaged")


class Pack(Job):
    results: Positional[Path]
    """Folder of results."""
    folder: Positional[Path]
    """Folder to pack the results into."""
    specs: SpecsFolder = PAPER_TABLES


def run(args: Pack) -> None:
    if (args.results / STUDY).is_file():  # queries and ancestry are already reduced
        raise SteleError(
            f"{args.results}: is packed already ({STUDY} is in it); copy it, or pack the results from which it was made"
        )
    refuse_within_results(args.folder)
    work = Path("work", Path(read_stamp(args.results) or "").stem)
    seeds = pack(args.results, args.folder, args.specs, work)
    if read_object(args.folder / STUDY, "record of a study")["claims_sha256"]:  # an adaptation has no claims
        write_verdicts(judge(args.folder, args.specs, None), read_stamp(args.folder) or "", args.folder / "claims")
    results.write_manifest(args.folder)
    size = sum(path.stat().st_size for path in args.folder.rglob("*") if path.is_file())
    log.info("%s: %d results of single seeds, %.1f MB", args.folder, seeds, size / 1e6)
    if size > LARGEST_MB * 1_000_000:
        log.warning("%s: more than %d MB, large for a repository", args.folder, LARGEST_MB)


def pack(results: Path, folder: Path, specs: Path, work: Path | None = None) -> int:
    """Adds a folder of results to a packed folder, created if missing; returns its number of results of single seeds.

    From the folder `work` it keeps the loss curves of the pretrainings behind the results, and the costs of trainings.
    Raises SteleError if the packed folder is of another scale, or was begun with other claims: claims are fixed before
    the first result is looked at.
    """
    scale = read_stamp(results)
    if scale is None:
        raise SteleError(f"{results}: no results of a scale ({STAMP} is missing); build some results first")
    begin(folder, scale, specs, results)
    # each seed's result, and the ancestors of all results
    ancestry = records.read_ancestry(folder)
    for path in result_files(results, each_seed=True):
        with reading(path, "result", "score it again"):
            ancestry |= _pack_seed(path, folder / path.relative_to(results))
    _write_json(folder / records.WHOLE_ANCESTRY, ancestry)
    if work is not None:
        for name in trainings.KEPT:
            packed = trainings.kept(folder, name) | dict(trainings.trainings(work, ancestry, name))
            _write_json(folder / name, packed)
    # counts, which have no seeds; skips copies under a short name
    for path in result_files(results):
        if not path.with_suffix("").is_dir() and (record := records.read_record(path))["setting"] == path.stem:
            _write_json(folder / path.relative_to(results), seal(_slim(record)))
    # means over the seeds that are packed now
    for row in sorted({path.parent for path in result_files(folder, each_seed=True)}):
        with reading(row, "results of seeds", "score them again"):
            _average(row, ancestry)
    if (results / CONTEXT).is_file():
        # tables show the means over all packed seeds, in the languages of all runs
        context = read_object(results / CONTEXT, "context of tables")
        packed = read_object(folder / CONTEXT, "context of tables") if (folder / CONTEXT).is_file() else {}
        tables: dict[str, Any] = {table: {} for table in context.get("table_seeds", {})}
        languages = context.get("languages_in_scale", {})
        for name, codes in packed.get("languages_in_scale", {}).items():
            languages[name] = [*dict.fromkeys([*codes, *languages.get(name, codes)])]
        _write_json(folder / CONTEXT, {**context, "table_seeds": tables, "languages_in_scale": languages})
    for name in (LOOKS_FILE, *OF_AN_ADAPTATION):
        if (results / name).is_file():
            shutil.copyfile(results / name, folder / name)
    return sum(1 for _ in result_files(folder, each_seed=True))


def begin(folder: Path, scale: str, specs: Path, results: Path) -> None:
    """Records when and with which claims and seeds of the first look a study begins, or checks that they are the same.

    A paper's claims are recorded with its first result, looks.yaml as soon as it exists. Raises SteleError as `pack`.
    """
    digests = {path.name: sha256(path / FILE) for path in papers_with_claims(specs)}
    study = {"begun": _now(), "claims_sha256": {}, "scale": scale}
    if (folder / STUDY).is_file():
        study = read_object(folder / STUDY, "record of a study")
        _check_begun(folder, scale, study, digests)
        _check_seeds(folder, results)
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SteleError(f"{folder}: holds other files and no {STUDY}; give a new, an empty or a packed folder")
    rows = {RunKey(*path.parent.parts[-3:]) for path in result_files(results, each_seed=True)}
    for path in papers_with_claims(specs):
        if path.name not in study["claims_sha256"] and rows & _rows_of_claims(path):
            study["claims_sha256"][path.name] = digests[path.name]
    study |= _digest_of_looks(folder, study, results)
    # written only now, so that the command can be repeated after an error above
    with atomic_file(folder / STAMP) as handle:
        handle.write(f"{scale}\n")
    atomic_write_json(folder / STUDY, study)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())  # as in the records of results


def _check_begun(folder: Path, scale: str, study: dict[str, Any], digests: dict[str, str]) -> None:
    before = read_stamp(folder)
    if before != scale:
        raise SteleError(f"{folder}: holds results of the scale {before}, these are of {scale}; give another folder")
    with reading(folder / STUDY, "record of a study"):
        begun = study["claims_sha256"]
        changed = sorted(paper for paper in begun.keys() & digests.keys() if begun[paper] != digests[paper])
    if changed:
        raise SteleError(
            f"{folder}: was begun under other claims of {', '.join(changed)}; a study is judged by those that were "
            "fixed before it: restore their claims.yaml, or pack into another folder"
        )


def _check_seeds(folder: Path, results: Path) -> None:
    """Raises SteleError if a packed seed has other values in `results`; metrics not packed yet are allowed."""
    for path in result_files(results, each_seed=True):
        packed = folder / path.relative_to(results)
        if packed.is_file():
            values, packed_values = read_result(path).metrics, read_result(packed).metrics
            if changed := sorted(name for name in packed_values if values.get(name) != packed_values[name]):
                raise SteleError(
                    f"{path}: other values of {', '.join(changed)} than in {packed}; a packed seed is not replaced: "
                    "remove the packed file to pack this one, or begin another folder"
                )


def _rows_of_claims(folder: Path) -> set[RunKey]:
    paper = load_paper(folder)
    return {source.result for claim in load_claims(folder / FILE).claims for source in references_of(claim, paper)}


def _digest_of_looks(folder: Path, study: dict[str, Any], results: Path) -> dict[str, str]:
    """Digest of looks.yaml (the seeds of the first look) as `looks_sha256`; empty if there is no such file."""
    files = [place / LOOKS_FILE for place in (folder, results)]
    digests = {sha256(file) for file in files if file.is_file()}
    if "looks_sha256" in study:
        digests.add(study["looks_sha256"])
    if len(digests) > 1:
        raise SteleError(
            f"{folder}: was begun with another {LOOKS_FILE}; the seeds of the first look must not change: restore it"
        )
    return {"looks_sha256": digests.pop()} if digests else {}


def _pack_seed(source: Path, target: Path) -> records.Record:
    """Packs one seed's result and its values per query; returns the records of its ancestors."""
    read_result(source)  # raises if damaged
    whole = records.read_record(source)
    record = _slim(whole)
    queries = source.with_suffix("") / QUERIES
    if queries.is_file():
        packed = target.with_suffix("") / QUERIES
        # one list of queries per setting: queries may differ between settings
        numbers = target.parents[2] / f"{target.parent.name}.parquet"
        _write_queries(queries, packed, numbers, paired.same_questions(record["benchmark"]))
        record["queries"] = {"file": QUERIES, "sha256": sha256(packed)}
    _write_json(target, seal(record))
    return whole.get(records.ANCESTRY, {})


def _write_queries(source: Path, target: Path, numbers: Path, same_questions: bool) -> None:
    """Writes the values per query as float32; queries are replaced by their numbers in the list at `numbers`.

    Ids stay where searches ask different parts of the `same_questions`: a number would mean another one in each.
    """
    import pyarrow
    import pyarrow.parquet

    with reading(source, "file of scores per query"):
        table = pyarrow.parquet.read_table(source)
        table.validate(full=True)
    searches, languages, queries = (table[name].to_pylist() for name in KEYS)
    asked = Counter(map(paired.question, queries, languages))
    keeps_ids = same_questions and {*asked.values()} != {len(set(searches))}
    values = [name for name in table.column_names if name not in KEYS]
    columns = {name: table[name].cast(pyarrow.float32()) for name in values}
    columns |= {name: table[name].cast(pyarrow.string()) for name in KEYS}
    columns["query"] = pyarrow.array(queries if keeps_ids else numbered(numbers, searches, queries))
    _write_parquet(
        target,
        pyarrow.table({name: columns[name] for name in table.column_names}),
        use_dictionary=["search", "language"],
        # consecutive numbers take a byte or two
        column_encoding={"query": "DELTA_BYTE_ARRAY", **dict.fromkeys(values, "PLAIN")},
    )


def numbered(path: Path, searches: Sequence[str], queries: Sequence[str]) -> list[str]:
    """Number of each query within its search, as text, by the list at `path`; adds new searches to the list.

    Numbers follow the order of the ids, so that they do not depend on which result came first. Raises SteleError if a
    listed search has other queries.
    """
    import pyarrow
    import pyarrow.parquet

    listed: dict[str, list[str]] = defaultdict(list)
    ids: dict[str, set[str]] = defaultdict(set)
    if path.is_file():
        with reading(path, "list of queries", "pack again into a new folder"):
            table = pyarrow.parquet.read_table(path)
            for search, query in zip(table["search"].to_pylist(), table["query"].to_pylist(), strict=True):
                listed[search].append(query)
    for search, query in zip(searches, queries, strict=True):
        ids[search].add(query)
    ordered = {search: sorted(of_search) for search, of_search in ids.items()}
    for search, of_search in ordered.items():
        if listed.get(search, of_search) != of_search:
            raise SteleError(f"{path}: the search {search} had other queries; pack these results elsewhere")
    if ordered.keys() - listed.keys():
        listed |= ordered
        rows = [(search, query) for search in sorted(listed) for query in listed[search]]
        table = pyarrow.table({"search": [search for search, _ in rows], "query": [query for _, query in rows]})
        _write_parquet(path, table)
    number = {(search, query): str(n) for search, of_search in ordered.items() for n, query in enumerate(of_search)}
    return [number[key] for key in zip(searches, queries, strict=True)]


def _write_parquet(path: Path, table: Any, **options: Any) -> None:
    import pyarrow.parquet

    with atomic_file(path, mode="wb") as handle:
        pyarrow.parquet.write_table(table, handle, compression="zstd", compression_level=19, **options)


def _slim(record: records.Record) -> records.Record:
    """Copies a seed's record without facts that are kept elsewhere; of ancestors, those in KEPT."""
    slim = {key: value for key, value in record.items() if key not in LEFT_OUT}
    if records.ANCESTRY in record:
        slim[records.ANCESTRY] = {
            name: {key: facts[key] for key in KEPT[facts["job"]] if key in facts}
            for name, facts in record[records.ANCESTRY].items()
            if facts.get("job") in KEPT
        }
    return slim


def _average(row: Path, ancestors: dict[str, records.Record]) -> None:
    """Writes the mean over all packed seeds of a row, as `scoring average` does; none for seeds of different recipes.

    `ancestors`: facts of the ancestors of all packed results, by digest.
    """
    paths = sorted(row.glob("pt*-ft*.json"))
    seeds = [records.read_record(path) for path in paths]
    if len({trainings.recipes_digest(record, ancestors) for record in seeds}) > 1:
        row.with_suffix(".json").unlink(missing_ok=True)
        log.warning("%s: no mean, as its seeds are of different recipes: build all anew, or remove the old ones", row)
        return
    names = [name for name in seeds[0]["metrics"] if all(name in record["metrics"] for record in seeds)]
    metrics = {name: over_seeds([record["metrics"][name] for record in seeds], paths) for name in names}
    ancestry: records.Record = {}
    diverged: dict[str, str] = {}
    for record in seeds:
        ancestry |= record.get(records.ANCESTRY, {})
        diverged |= record.get("diverged", {})
    mean = {
        "job": "average",
        **{key: seeds[0][key] for key in OF_A_MEAN if key in seeds[0]},
        "seeds": [record["seeds"] for record in seeds],
        "inputs": {f"seeds {n}": records.content_digest(path) for n, path in enumerate(paths)},
        "labels": sorted({label for record in seeds for label in record.get("labels", ())}),
        "diverged": diverged,
        "metrics": metrics,
        "content": digest(metrics),
        records.ANCESTRY: ancestry,
    }
    _write_json(row.with_suffix(".json"), seal(mean))
    read_result(row.with_suffix(".json"))


def _write_json(path: Path, record: dict[str, Any]) -> None:
    with atomic_file(path, encoding="utf-8") as handle:
        handle.write(json.dumps(record, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n")
