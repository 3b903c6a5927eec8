"""Fetch a checkpoint from the hub (through mirrors) or a local folder, convert it to safetensors, and test-load it.

The result is a plain transformers folder, or a complete sentence-transformers folder. Code that a checkpoint brings
is never run. A checkpoint whose settings do not fit its use is refused before its weights are fetched. Local files
are linked to and never changed.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Self

from pydantic import model_validator

from stele.artifacts.record_shape import MANIFEST, NO_DIGEST, SEAL
from stele.artifacts.records import (
    DIVERGED,
    GENERATED,
    RECODED,
    STAND_IN,
    UNLEARNT,
    divergence,
    output_folder,
    read_record,
)
from stele.catalogue.datasets import mirror_path
from stele.catalogue.hub import CONFIG, MODULES, WEIGHTS, address, read_files, repository
from stele.catalogue.user_data import listing
from stele.command.arguments import Json, NewRecord, record_of
from stele.errors import SteleError
from stele.files.atomic import MARK, RECORD, atomic_directory, drop_claimed
from stele.files.digests import FileFacts, block_digests, facts_digest
from stele.files.reading import parse_object, read_note
from stele.sources.download.places import DOWNLOADS, PlacesJob, places_of
from stele.sources.download.unpack import link_file
from stele.sources.download.verify import check
from stele.sources.weights.checkpoint_checks import (
    check_loads,
    check_settings,
    check_static,
    refuse_without_tokenizer,
    refuse_without_weights,
)
from stele.sources.weights.checkpoint_files import (
    INSTEAD,
    Download,
    convert,
    convert_shards,
    model_folders,
    place_fetched,
    refuse_code,
    static_folders,
)

log = logging.getLogger(__name__)

JOB = "sources checkpoint"


class Checkpoint(PlacesJob):
    model: str
    """Name of the model in models.yaml or config.yaml."""
    source: Json
    """The checkpoint's catalogue entry: {checkpoint: hub id, revision, released}."""
    path: Path | None = None
    """Local folder in transformers' or sentence-transformers' format, to use instead of the hub."""
    encoding: Json | None = None
    """For an encoder that is used without training: keys of its encoding, by origin, which are checked."""
    generator: bool = False
    """Says that the model generates text and makes no vectors."""
    trained: bool = False
    """Says that the model will be trained, also by MLM, for which its tokenizer needs a mask token."""
    settings_only: bool = False
    """Fetch and check all files except the weights."""
    output: Annotated[NewRecord, record_of(JOB)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.encoding and self.generator:
            raise ValueError("--encoding, --generator: a generator encodes nothing; leave one of them out")
        return self


def run(args: Checkpoint) -> None:
    """Writes the checkpoint's folder. Raises SteleError if it cannot be fetched or loaded, or does not fit its use."""
    source = parse_object(args.source, "--source")
    instead = source.get("instead") or INSTEAD
    hub = None if args.path else repository(source)
    args = args.model_copy(update={"manifest": args.manifest or _stand_in_manifest(args.mirrors, hub)})
    places = places_of(args, f"give your own folder (models: {{{args.model}: {{checkpoint: FOLDER}}}})")
    if args.path is None and hub is None:
        raise SteleError(how_to_give(args.model, source))
    encoding = parse_object(args.encoding, "--encoding") if args.encoding else None
    named = str(args.path or address(*hub, CONFIG).removesuffix(f"/{CONFIG}"))

    # settings first: a checkpoint that is unfit for its use is refused before its weights are fetched
    download = None
    if hub is not None:
        download = Download(args.model, source, *hub, places)
        download.take_settings()
    if download is not None or args.settings_only:
        with TemporaryDirectory() as place, _named(Path(place), named):
            if download is not None:
                place_fetched(download.files, Path(place))
            else:
                link_folder(args.path, Path(place), instead)
            check_settings(Path(place), encoding, args.generator, args.trained)
            if args.settings_only:  # otherwise loading says it
                for folder in model_folders(Path(place)):
                    refuse_without_tokenizer(folder)
                    if args.path:
                        refuse_without_weights(folder)
    if args.settings_only:
        if download is not None:
            with atomic_directory(args.state / "settings", JOB) as folder:  # until the weights are fetched
                place_fetched(download.files, folder)
        return

    # all files in one folder, weights as safetensors, loaded once
    if download is not None:
        download.take_weights()
    with output_folder(args.output, JOB, inputs={}) as (folder, record), _named(folder, named):
        if download is not None:
            facts = place_fetched(download.files, folder)
        else:
            facts = {name: file_facts(folder / name, "nothing") for name in link_folder(args.path, folder, instead)}
            check_settings(folder, encoding, args.generator)
        to_safetensors(folder, facts)
        proofs = {}
        for path in model_folders(folder):
            proofs[path.relative_to(folder).as_posix()] = check_loads(path, source.get("weights", "float32"))
        for path in static_folders(folder):
            proofs[path.relative_to(folder).as_posix()] = check_static(path)

        labels = [STAND_IN] if places.manifest else _labels(args.path)
        record.update(
            outputs=None,  # but `files`, with more facts
            labels=labels,
            content=facts_digest(facts),
            origin="generated" if {GENERATED, STAND_IN} & {*labels} else "real",
            **({"diverged": divergence([args.path / RECORD])} if DIVERGED in labels else {}),
            came_from=sorted({file.origin for file in download.files.values()}) if download else ["local folder"],
            model=args.model,
            repository=hub and hub[0],
            revision=hub and hub[1],
            licence=source.get("licence"),
            files={path: {**file, **block_digests(folder / path)} for path, file in facts.items()},
            models=proofs,
        )
    drop_claimed(args.state, DOWNLOADS)
    log.info("%s: %s", args.model, json.dumps(proofs))


@contextmanager
def _named(folder: Path, source: str) -> Iterator[None]:
    """Replaces the temporary `folder` by `source` in errors, since it no longer exists when the user reads them."""
    try:
        yield
    except SteleError as error:
        raise SteleError(str(error).replace(str(folder), source)) from None


def how_to_give(model: str, source: Mapping[str, Any]) -> str:
    """Text of the error for a checkpoint that is neither on the hub nor given as a local folder."""
    released = source.get("released") or {}
    where = f"The authors' weights: {released['where']}. " if released.get("where") else "It has no public weights. "
    key = f"user_data: {{{released['dataset']}: YOUR_FOLDER}}" if released.get("dataset") else None
    return (
        f"{model}: its checkpoint is not on the Hugging Face hub. {where}Download and unpack them into a folder with "
        "config.json, weights and tokenizer, and write in config.yaml: "
        f"{key or f'models: {{{model}: {{checkpoint: YOUR_FOLDER}}}}'}"
    )


def _stand_in_manifest(mirrors: Iterable[str], hub: tuple[str, str] | None) -> Path | None:
    """Path of a generated checkpoint's manifest, beside its files in a folder mirror; None for a real checkpoint."""
    for mirror in mirrors if hub else ():
        folder = Path(mirror, mirror_path(address(*hub, CONFIG))).parents[2]
        if (folder / MANIFEST).is_file():
            return folder / MANIFEST
    return None


# --- from a folder --------------------------------------------------------------------------------------------------
def link_folder(source: Path, folder: Path, instead: str) -> list[str]:
    """Links the needed files of a local checkpoint (settings, tokenizer, one kind of weights); returns their paths.

    Raises SteleError if `source` is not the folder of a checkpoint, or brings its own code; `instead` is the advice.
    """
    if not source.is_dir():
        raise SteleError(f"{source}: this folder does not exist; want a transformers or sentence-transformers folder")
    if not any((source / name).is_file() for name in (CONFIG, MODULES)) and not model_folders(source):
        have = ", ".join(sorted(path.name for path in source.iterdir())[:8]) or "nothing"
        raise SteleError(f"{source}: not a checkpoint (neither {CONFIG} nor {MODULES}); the folder holds {have}")
    names = [name for name in read_files(listing(source)) if Path(name).name not in (RECORD, MANIFEST)]
    for name in names:
        link_file(source / name, folder, name, str(source))
    refuse_code(folder, instead)
    return names


def file_facts(path: Path, verified: str) -> dict[str, Any]:
    """Facts of a checkpoint's file for the record. Raises SteleError for a pointer of Git LFS in its place."""
    return {"sha256": check(path, {}), "bytes": path.stat().st_size, "verified": verified}


def _labels(path: Path | None) -> list[str]:
    """Labels of a local checkpoint that Stele made, limited to those that results inherit."""
    if path is None:
        return []
    if (path / MANIFEST).is_file():
        return [STAND_IN]
    if not (path / RECORD).is_file():
        return []
    if not (path / MARK).is_file() and not {"job", "labels", SEAL} & read_note(path / RECORD).keys():
        return []  # written by another program
    labels = read_record(path / RECORD)["labels"]
    return [label for label in labels if label in (GENERATED, STAND_IN, DIVERGED, UNLEARNT, RECODED, NO_DIGEST)]


def to_safetensors(folder: Path, facts: dict[str, FileFacts]) -> None:
    """Converts PyTorch weights in place; `facts` then has the new files instead of the old."""
    for index in sorted(folder.rglob(WEIGHTS[3])):
        convert_shards(index)
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
            facts[name] = file_facts(path, "converted")
