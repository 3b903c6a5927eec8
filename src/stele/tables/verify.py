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
from stele.artifacts.integrity import MANIFEST, RECORD, Damage, damages, rebuild
from stele.artifacts.record_shape import seal_problem
from stele.artifacts.results import manifest_files, result_files
from stele.artifacts.run_files import runs_of
from stele.command.arguments import Job, ResultsFolder
from stele.errors import SteleError
from stele.files.digests import digest, sha256
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
    """Finds results that differ from their records or from the files they were made from."""
    for each_seed in (False, True):
        for path in result_files(folder, each_seed):
            try:
                yield from _result(path)
            except SteleError as error:
                yield str(error)
    for path in sorted(folder.glob("*/*/*/pt*-ft*/*.csv")):
        try:
            record = records.read_record(path.with_suffix(".json"))
            if record.get("content") != sha256(path):
                job = str(record.get("job"))
                yield Damage(path, "not the file that its record describes", path.with_suffix(".json"), job)
        except SteleError as error:
            yield str(error)


def _result(path: Path) -> Iterator[Damage | str]:
    record = records.read_unsealed(path)
    changed = record.get("content") != digest(record.get("metrics"))
    if problem := "its values are not those that were scored" if changed else seal_problem(record, path):
        yield Damage(path, problem, path, str(record.get("job")))
    ancestry = record.get(records.ANCESTRY, {})
    inherited = {label for facts in ancestry.values() for label in facts.get("labels", ())}
    if lost := sorted(inherited - set(record.get("labels", ()))):
        yield f"{path}: its inputs bear the labels {', '.join(lost)}, which it lacks"
    queries = record.get("queries")
    if queries:
        values = path.with_suffix("") / relative(queries["file"], str(path))
        if not values.is_file() or sha256(values) != queries["sha256"]:
            yield Damage(values, f"these values per query do not belong to {path.name}", path, "score")
    for name, source in _sources(path, record).items():
        if source.name in FILES and source.is_file():
            yield from _files(source)
        if source.is_file() and records.content_digest(source) != record["inputs"].get(name, ""):
            yield f"{path}: not made from the current {source.name}"


def _files(source: Path) -> Iterator[Damage]:
    """Checks the runs of a retrieval, or the answers of a reader, against their record."""
    record, (kind, files_of) = records.read_record(source), FILES[source.name]
    digests = {name: sha256(path) for name, path in files_of(record, source.parent).items() if path.is_file()}
    if record.get("content") != digest(digests):
        problem = f"not the {kind} files that {source.name} was written for"
        yield Damage(source.parent / f"{kind}s", problem, source, str(record.get("job")))


def _answers_of(record: records.Record, folder: Path) -> dict[str, Path]:
    return {name: folder / "answers" / f"{relative(name, str(folder))}.json" for name in record.get("answered", {})}


FILES = {"retrieval.json": ("run", runs_of), "answers.json": ("answer", _answers_of)}


def _sources(path: Path, record: dict) -> dict[str, Path]:
    """Inputs that lie beside a result: its retrieval, or its seeds."""
    if isinstance(record.get("seeds"), list):
        folder = path.parent / relative(record["setting"], str(path))
        names = [f"pt{seeds['pretraining']}-ft{seeds['finetuning']}.json" for seeds in record["seeds"]]
        return {f"seeds {i}": folder / name for i, name in enumerate(names)}
    folder = path.with_suffix("")
    existing = [folder / name for name in FILES if (folder / name).is_file()]
    return {"retrieval": existing[0] if existing else folder / "retrieval.json"}
