"""Fetch a checkpoint: from the hub (through mirrors) or from a local folder, as safetensors, loaded once as a check.

The result is a plain transformers folder, or a sentence-transformers folder kept whole. Code that a checkpoint brings
is never run, and what its settings make impossible is refused before its weights are fetched. Local files are linked to
and never changed.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stele import catalogue
from stele.artifacts.record_shape import NO_DIGEST, SEAL
from stele.artifacts.records import DIVERGED, GENERATED, STAND_IN, divergence, read_record, start, write_record
from stele.catalogue.datasets import mirror_path
from stele.catalogue.hub import (
    ADAPTER,
    CONFIG,
    MODULES,
    SENTENCE_BERT,
    SENTENCE_TRANSFORMERS,
    STATIC,
    TOKENIZER,
    VOCABULARY,
    WEIGHTS,
    address,
    repository,
)
from stele.catalogue.schema.datasets import PartFile
from stele.catalogue.schema.models import Model
from stele.command import arguments
from stele.errors import SteleError, nearest
from stele.files.atomic import MARK, atomic_directory
from stele.files.digests import FileFacts, block_digests, digest
from stele.files.paths import relative
from stele.files.reading import parse_object, read_note
from stele.sources.download.locations import FetchedFile, Places, drop_downloads, places_of
from stele.sources.download.locations import add_arguments as add_place_arguments
from stele.sources.download.put import link, put
from stele.sources.download.verify import check, digests
from stele.sources.weights.convert import convert, convert_shards
from stele.sources.weights.load_check import (
    INSTEAD,
    check_loads,
    check_static,
    model_folders,
    read_json,
    read_module_list,
    read_weight_map,
    refuse_code,
    refuse_code_of,
    static_folders,
)
from stele.sources.weights.settings_check import check_settings

log = logging.getLogger(__name__)

JOB = "sources checkpoint"


Fetched = dict[str, FetchedFile]  # path in the repository -> where it lies now
KEPT = (".json", ".jinja", ".txt", ".model", ".safetensors")
WEIGHT_FILES = (".safetensors", ".bin", ".index.json")
MANIFEST = "manifest.json"
RECORD = "record.json"
LEFT_OUT = (RECORD, MANIFEST, "training_args.json", "trainer_state.json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="its name in catalogue/models.yaml or config.yaml")
    parser.add_argument("--source", required=True, help="{checkpoint: hub id, revision, files, released}, as JSON")
    parser.add_argument("--path", type=Path, help="local folder: transformers or sentence-transformers")
    use = parser.add_mutually_exclusive_group()
    use.add_argument("--encoding", help="of an encoder used as it is: what is said of its vectors, by origin, as JSON")
    use.add_argument("--generator", action="store_true", help="it is to write text, not to make vectors")
    add_place_arguments(parser)
    parser.add_argument("--settings-only", action="store_true", help="take and check what stands beside the weights")
    arguments.add_record(parser, JOB)


def run(args: argparse.Namespace) -> None:
    clock = start()
    source = parse_object(args.source, "--source")
    hub = None if args.path else repository(source)
    args.manifest = args.manifest or _stand_in(args.mirrors, hub)
    places = places_of(args, f"give your own folder (models: {{{args.model}: {{checkpoint: FOLDER}}}})")
    if args.path is None and hub is None:
        raise SteleError(how_to_give(args.model, source))
    encoding = parse_object(args.encoding, "--encoding") if args.encoding else None
    named = str(args.path or address(*hub, CONFIG).removesuffix(f"/{CONFIG}"))

    def check_fetched(settings: Fetched) -> None:
        with TemporaryDirectory() as place, _named(Path(place), named):
            _assemble(settings, Path(place))
            check_settings(Path(place), encoding, args.generator)

    if args.settings_only and args.path:
        with TemporaryDirectory() as place, _named(Path(place), named):
            for path, below in files_of(args.path):
                link(path, Path(place), below, named)
            refuse_code(Path(place), source.get("instead") or INSTEAD)
            check_settings(Path(place), encoding, args.generator)
        return
    got = {} if args.path else fetch_repository(args.model, source, *hub, places, check_fetched, args.settings_only)
    if args.settings_only:
        with atomic_directory(args.state / "settings", JOB) as folder:  # until the weights are fetched
            _assemble(got, folder)
        return
    with atomic_directory(args.output.parent, JOB) as folder, _named(folder, named):
        facts = link_folder(args.path, folder) if args.path else _assemble(got, folder)
        refuse_code(folder, source.get("instead") or INSTEAD)
        if args.path:
            check_settings(folder, encoding, args.generator)
        facts.update(to_safetensors(folder, facts))
        proofs = {
            path.relative_to(folder).as_posix(): check_loads(path, source.get("weights", "float32"))
            for path in model_folders(folder)
        }
        proofs |= {path.relative_to(folder).as_posix(): check_static(path) for path in static_folders(folder)}
        labels = [STAND_IN] if places.manifest else _labels(args.path)
        write_record(
            folder / args.output.name,
            job=JOB,
            inputs={},
            clock=clock,
            labels=labels,
            content=digest({path: about["sha256"] for path, about in facts.items()}),
            origin="generated" if {GENERATED, STAND_IN} & {*labels} else "real",
            **({"diverged": divergence([args.path / RECORD])} if DIVERGED in labels else {}),
            came_from=sorted({one.origin for one in got.values()}) or ["local folder"],
            model=args.model,
            repository=hub and hub[0],
            revision=hub and hub[1],
            licence=source.get("licence"),
            files={path: {**about, **block_digests(folder / path)} for path, about in facts.items()},
            models=proofs,
        )
    drop_downloads(args.state)
    log.info("%s: %s", args.model, json.dumps(proofs))


@contextmanager
def _named(folder: Path, source: str) -> Iterator[None]:
    """Errors about files of `folder`, which is gone when the user reads them, name those of the `source` instead."""
    try:
        yield
    except SteleError as error:
        raise SteleError(str(error).replace(str(folder), source)) from None


@contextmanager
def _spelt(repo: str) -> Iterator[None]:
    """An error about a repository that the catalogue does not have names the nearest one that it has."""
    try:
        yield
    except SteleError as error:
        known = {model.checkpoint for model in catalogue.entries(Model).values() if model.checkpoint}
        meant = nearest(repo, known) if repo not in known else None
        raise SteleError(f"{error}\n  did you mean {meant!r}?" if meant else str(error)) from None


def how_to_give(model: str, source: Mapping[str, Any]) -> str:
    """The error's text for a checkpoint that is neither on the hub nor given as a folder."""
    released = source.get("released") or {}
    where = f"The authors' weights: {released['where']}. " if released.get("where") else "It has no public weights. "
    key = f"user_data: {{{released['dataset']}: YOUR_FOLDER}}" if released.get("dataset") else None
    return (
        f"{model}: its checkpoint is not on the Hugging Face hub. {where}Download and unpack them into a folder with "
        "config.json, weights and tokenizer, and write in config.yaml: "
        f"{key or f'models: {{{model}: {{checkpoint: YOUR_FOLDER}}}}'}"
    )


def _stand_in(mirrors: Iterable[str], hub: tuple[str, str] | None) -> Path | None:
    """The manifest of a generated checkpoint, which lies beside its files in a folder mirror; None for a real one."""
    for mirror in mirrors if hub else ():
        folder = Path(mirror, mirror_path(address(*hub, CONFIG))).parents[2]
        if (folder / MANIFEST).is_file():
            return folder / MANIFEST
    return None


# --- from the hub ---------------------------------------------------------------------------------------------------
def fetch_repository(
    model: str,
    source: Mapping[str, Any],
    repo: str,
    revision: str,
    places: Places,
    check_fetched: Callable[[Fetched], None],
    settings_only: bool = False,
) -> Fetched:
    """Fetches what a repository has of the files that a checkpoint is made of: weights last, and after the check."""
    fetched: Fetched = {}
    where = f"{repo} ({revision})"

    def take(path: str, optional: bool = True) -> bool:
        path = relative(path, where)
        digest = source.get("sha256", {}).get(path)
        file = PartFile(path=path, url=address(repo, revision, path), sha256=digest)
        if path not in fetched and (got := places.get(file, f"{model} {path}", optional=optional)):
            log.info("%s: %s, %.1f MB, %s, checked by %s", model, path, got.bytes / 1e6, got.origin, got.verified)
            fetched[path] = got
            instead = source.get("instead") or INSTEAD
            refuse_code_of(got.path, Path(path).name, f"{where}: {path}", instead)
        return path in fetched

    if files := source.get("files"):
        for path in files:
            path.endswith(WEIGHT_FILES) or take(path, optional=False)
        check_fetched(fetched)
        for path in () if settings_only else files:
            take(path, optional=False)
        return fetched
    with _spelt(repo):
        folders = _take_settings(take, fetched, where)
    check_fetched(fetched)
    for below, needed in () if settings_only else folders.items():
        if not _take_weights(take, fetched, below) and needed:
            raise SteleError(f"{where}: no weights in {below or 'it'} (none of {', '.join(WEIGHTS)})")
    return fetched


def _take_settings(take: Any, fetched: Fetched, where: str) -> dict[str, bool]:
    """Takes all but weights; returns the folders that hold some, and whether they must."""
    if not take(MODULES):
        _take_transformer(take, fetched, "", where)
        return {"": True}
    folders = {}
    take(SENTENCE_TRANSFORMERS)
    for module in read_module_list(fetched[MODULES].path):
        below = f"{module['path']}/" if module.get("path") not in (None, "", ".") else ""
        kind = str(module.get("type", "")).rsplit(".", 1)[-1]
        if kind == "Transformer":
            _take_transformer(take, fetched, below, where)
            for path in (f"{below}{name}" for name in SENTENCE_BERT):
                if take(path) and read_json(fetched[path].path):  # an empty one counts for nothing
                    break
            folders[below] = True
        elif kind == STATIC:
            take(f"{below}{VOCABULARY[0]}", optional=False)
            folders[below] = True
        elif below:
            take(f"{below}{CONFIG}")
            folders[below] = False
    return folders


def _take_transformer(take: Any, fetched: Fetched, below: str, where: str) -> None:
    take(f"{below}{CONFIG}", optional=False)
    for path in (ADAPTER, *TOKENIZER):
        take(f"{below}{path}")
    if not any(f"{below}{path}" in fetched for path in VOCABULARY):
        raise SteleError(f"{where}: no tokenizer in {below or 'it'} (none of {', '.join(VOCABULARY)})")


def _take_weights(take: Any, fetched: Fetched, below: str) -> bool:
    """Takes the first kind of weights that is there, with all shards of an index."""
    for path in (f"{below}{name}" for name in WEIGHTS):
        if take(path):
            if path.endswith(".index.json"):
                for shard in sorted(set(read_weight_map(fetched[path].path).values())):
                    take(f"{below}{shard}", optional=False)
            return True
    return False


def _assemble(got: Fetched, folder: Path) -> dict[str, FileFacts]:
    for path, one in got.items():
        put(one.path, folder, path, one.url)
    return {p: {"sha256": o.sha256, "bytes": o.bytes, "verified": o.verified, "url": o.url} for p, o in got.items()}


# --- from a folder --------------------------------------------------------------------------------------------------
def link_folder(source: Path, folder: Path) -> dict[str, FileFacts]:
    """Links the files of a local checkpoint that matter (settings, tokenizer, weights in one format)."""
    facts = {}
    for path, below in files_of(source):
        facts[below] = {"sha256": check(path, {}), "bytes": path.stat().st_size, "verified": "nothing"}
        link(path, folder, below, str(source))
    return facts


def files_of(source: Path) -> Iterator[tuple[Path, str]]:
    """The files of a local checkpoint that matter, each with its path from there; an error where it is none."""
    if not source.is_dir():
        raise SteleError(f"{source}: no such folder (want a transformers or sentence-transformers folder)")
    if not any((source / name).is_file() for name in (CONFIG, MODULES)) and not model_folders(source):
        have = ", ".join(sorted(path.name for path in source.iterdir())[:8]) or "nothing"
        raise SteleError(f"{source}: no checkpoint (no {CONFIG}, no {MODULES}); it holds {have}")
    for path in sorted(source.rglob("*")):
        below = path.relative_to(source)
        if not path.is_file() or any(part.startswith((".", "checkpoint-", "onnx", "openvino")) for part in below.parts):
            continue
        weights = path.name.startswith("pytorch_model") and path.suffix == ".bin"
        other = any((path.parent / name).is_file() for name in WEIGHTS[:2])
        if path.name not in LEFT_OUT and (path.suffix in KEPT or (weights and not other)):
            yield path, below.as_posix()


def _labels(path: Path | None) -> list[str]:
    """The labels of a local checkpoint that Stele made itself, where they say what its numbers are worth."""
    if path is None:
        return []
    if (path / MANIFEST).is_file():
        return [STAND_IN]
    if not (path / RECORD).is_file():
        return []
    if not (path / MARK).is_file() and not {"job", "labels", SEAL} & read_note(path / RECORD).keys():
        return []  # another program's
    labels = read_record(path / RECORD)["labels"]
    return [label for label in labels if label in (GENERATED, STAND_IN, DIVERGED, NO_DIGEST)]


def to_safetensors(folder: Path, facts: dict[str, FileFacts]) -> dict[str, FileFacts]:
    """Converts PyTorch weights in place, takes the old ones out of `facts`, and returns the facts of the new ones."""
    new: dict[str, FileFacts] = {}
    for index in sorted(folder.rglob(WEIGHTS[3])):
        convert_shards(index, index.parent)
        index.unlink()
    for old in sorted(folder.rglob("pytorch_model*.bin")):
        target = old.parent / (old.name.replace("pytorch_model", "model").removesuffix(".bin") + ".safetensors")
        if not target.exists():
            convert(old, target)
        old.unlink()
    for path in list(facts):
        if not (folder / path).exists():
            del facts[path]
    for path in sorted(folder.rglob("*.safetensors*")):
        name = path.relative_to(folder).as_posix()
        if name not in facts:
            new[name] = {**digests(path), "bytes": path.stat().st_size, "verified": "converted"}
    return new
