"""Check built files: a folder of results against its manifest and records, and other folders against their records.

    stele tables verify
    stele tables verify --results-dir ../colleague/results
    stele tables verify --built work/miniature resources/miniature

Lists every file that was changed, added or removed since the manifest was written, every result whose values, labels,
values per query or run files have changed since it was made, and every file below the folders of --built that differs
from its record, each with the command that makes it again. The exit code is 1 if there is any. All files are read
completely; `snakemake verify` checks all files of a scale.
"""

from collections.abc import Iterator
from pathlib import Path

from stele.artifacts import records
from stele.artifacts.integrity import MANIFEST, RECORD, Damage, damages, outputs, rebuild
from stele.artifacts.record_shape import seal_problem
from stele.artifacts.results import manifest_files, result_files
from stele.command.arguments import Job, ResultsFolder
from stele.errors import SteleError
from stele.files.digests import sha256
from stele.files.formats import amount
from stele.files.paths import relative
from stele.progress import track


class Verify(Job):
    results_dir: ResultsFolder = Path("results")
    built: tuple[Path, ...] = ()
    """Further folders whose files have records, e.g. work/miniature."""


def run(args: Verify) -> None:
    folder = args.results_dir
    if not folder.is_dir() and not args.built:
        raise SteleError(f"{folder}: no such folder of results; build some first")
    damages = sorted({*against_manifest(folder), *against_records(folder)}, key=str) if folder.is_dir() else []
    damages += [damage for built in args.built for damage in against_own_records(built)]
    if damages:
        again = dict.fromkeys(damage.record for damage in damages if isinstance(damage, Damage))
        lines = [f"{amount(len(damages), 'finding')}:", *map(str, damages), *([rebuild(again)] if again else [])]
        if all(str(damage).endswith((": added", ": changed")) for damage in damages):
            lines.append(f"if a run wrote these files and was killed: stele tables manifest --results-dir {folder}")
        raise SteleError("\n".join(lines))
    print(f"{folder}: all files match the manifest, all results their records")
    for built in args.built:
        print(f"{built}: all files match their records")


def against_own_records(folder: Path) -> Iterator[Damage | str]:
    """Finds files below a folder that differ from the records beside them."""
    records_here = sorted(path for name in (RECORD, MANIFEST) for path in folder.rglob(name))
    for path in track(records_here, len(records_here), f"verify {folder}", "records"):
        try:
            record = records.read_unsealed(path)
            if path.name == RECORD and "job" not in record:  # a manifest may be from elsewhere
                yield f"{path}: {seal_problem(record, path)}"
        except SteleError as error:
            yield str(error)
        yield from damages(path)


def against_manifest(folder: Path) -> Iterator[str]:
    """Finds files of a folder of results that differ from its manifest."""
    if not (folder / MANIFEST).is_file():
        yield f"{folder / MANIFEST}: no manifest; `snakemake all_tables` (or `stele tables manifest`) writes it"
        return
    written, there = records.read_record(folder / MANIFEST).get("files", {}), manifest_files(folder)
    for name in sorted(written.keys() | there.keys()):
        if name not in there:
            yield f"{folder / name}: removed"
        elif name not in written:
            yield f"{folder / name}: added"
        elif written[name]["sha256"] != there[name]["sha256"]:
            yield f"{folder / name}: changed"


def against_records(folder: Path) -> Iterator[Damage | str]:
    """Finds results, and files beside them, that differ from their records or from the files they were made from."""
    beside = sorted(folder.glob("*/*/*/pt*-ft*/*.json"))
    undescribed = {*folder.glob("*/*/*/pt*-ft*/*.csv")}
    for path in (*result_files(folder), *result_files(folder, each_seed=True), *beside):
        try:
            record = records.read_unsealed(path)
            if "job" not in record:
                yield f"{path}: {seal_problem(record, path)}"
            for name in outputs(record):
                undescribed.discard(path.parent / relative(name, str(path)))
            yield from damages(path)
            yield from _result(path, record)
        except SteleError as error:
            yield str(error)
    yield from (f"{path}: no record beside it describes it" for path in undescribed)


def _result(path: Path, record: records.Record) -> Iterator[Damage | str]:
    """Finds labels that a record lacks, and files that it was not made with or from."""
    ancestry = record.get(records.ANCESTRY, {})
    inherited = {label for facts in ancestry.values() for label in facts.get("labels", ())}
    if lost := sorted(inherited - set(record.get("labels", ()))):
        yield f"{path}: its inputs bear the labels {', '.join(lost)}, which it lacks"
    queries = record.get("queries")
    if queries and not outputs(record):  # a packed result
        values = path.with_suffix("") / relative(queries["file"], str(path))
        if not values.is_file() or sha256(values) != queries["sha256"]:
            yield Damage(values, f"these values per query do not belong to {path.name}", path, "score")
    for name, source in _sources(path, record).items():
        if source.is_file() and records.content_digest(source) != record["inputs"].get(name, ""):
            yield f"{path}: not made from the current {source.name}"


def _sources(path: Path, record: records.Record) -> dict[str, Path]:
    """Inputs that lie beside a result: its retrieval or its answers, or its seeds."""
    if isinstance(record.get("seeds"), list):
        folder = path.parent / relative(record["setting"], str(path))
        names = [f"pt{seeds['pretraining']}-ft{seeds['finetuning']}.json" for seeds in record["seeds"]]
        return {f"seeds {i}": folder / name for i, name in enumerate(names)}
    sources = [path.with_suffix("") / name for name in ("retrieval.json", "answers.json")]
    return next(({"retrieval": source} for source in sources if source.is_file()), {})
