"""Fetch one part of a dataset from your own folder, a mirror or the network; check, count and record its files.

A killed run's downloads remain in --state and are continued. Your own files are linked to and never changed.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from stele.artifacts.records import BEGINNING, GENERATED, output_folder
from stele.catalogue.datasets import availability, resolve
from stele.catalogue.schema.datasets import OWN, Part
from stele.command.arguments import Count, Json, NewRecord, record_of
from stele.errors import SteleError, exhausted
from stele.files.atomic import drop_claimed
from stele.files.digests import block_digests, facts_digest
from stele.files.reading import AGAIN, parse_object
from stele.files.strict import validate
from stele.sources.download.counts import KINDS
from stele.sources.download.cut import CUTS, Fetched
from stele.sources.download.places import DOWNLOADS, FetchedFile, Places, PlacesJob, places_of
from stele.sources.download.unpack import place_file, unpack
from stele.sources.download.user_files import Facts, collect
from stele.sources.download.verify import Manifest, digests, pin

log = logging.getLogger(__name__)

JOB = "sources dataset"


class FetchDataset(PlacesJob):
    dataset: str
    """Name of the dataset in datasets.yaml or config.yaml."""
    part: str
    """Part to fetch: a language, or `all`."""
    languages: tuple[str, ...] | None = None
    """Languages of the part `all`; default: all languages of the dataset."""
    date: str | None = None
    """Date of the Wikimedia dump, YYYYMMDD; default: the catalogue's."""
    first: Count | None = None
    """Fetch only the first N documents or pages of a corpus."""
    source: Json | None = None
    """Entry of the dataset, resolved for the part; default: the catalogue's."""
    user_data: Annotated[Path, AfterValidator(Path.expanduser)] | None = None
    """Folder with your own copy, to use instead of a download."""
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: FetchDataset) -> None:
    source = _source(args)
    places = places_of(args, f"give your own copy (user_data: {{{args.dataset}: FOLDER}})")
    if reason := availability(args.dataset, source, args.user_data):
        raise SteleError(f"{args.dataset}: {reason}")
    # the files come into the state folder
    fetched: Fetched = []
    if not args.user_data:
        fetched = _fetch(source, places) if args.first is None else _begin(source, args.first, places)
    unpublished = [got for _, got in fetched if got.verified == "nothing"]
    # all in one folder, counted and recorded; files without a published digest must be as they were the first time
    with output_folder(args.output, JOB, inputs={}) as (folder, record):
        if args.user_data:
            files, origins = collect(source, args.user_data, folder, places.manifest)
            came = ["user data"]
        else:
            with _remove_if_damaged(unpublished):
                files, origins = _assemble(fetched, folder), {"generated" if places.manifest else "real"}
            came = sorted({got.origin for _, got in fetched})
        if len(origins) > 1:
            raise SteleError(f"{args.dataset}: {args.user_data} mixes generated and real files; keep one kind")
        origin = origins.pop() if origins else "real"
        try:
            with _remove_if_damaged(unpublished):
                counts = _count(source, folder, list(files), places.manifest if origin == "generated" else None)
        except SteleError as error:
            message = _renamed(str(error), folder, files, args.user_data)
            if source.version == OWN:  # nobody can get it again
                advice = "convert it (`iconv -f ENCODING -t UTF-8`)" if "not UTF-8" in message else "mend it"
                message = message.replace(AGAIN, advice)
            raise SteleError(f"{args.dataset} {args.part}: {message}") from None
        pin(args.output.parent.with_name(f"{args.part}.pins.json"), dict(map(_to_pin, unpublished)))
        is_cut = any("beginning" in facts and not facts["beginning"]["whole"] for facts in files.values())
        layout = source.collection.given() if source.collection else None
        matched = origin == "generated" or any(facts["verified"] == "catalogue" for facts in files.values())
        record.update(
            outputs=None,  # but `files`, with more facts
            labels=[*([GENERATED] if origin == "generated" else []), *([BEGINNING] if is_cut else [])],
            content=facts_digest(files, layout),
            collection=layout,
            origin=origin,
            came_from=came,
            files={path: {**facts, **block_digests(folder / path)} for path, facts in files.items()},
            counts=counts,
            # a user's copy may be of any version, unless a digest says which
            version=source.version if matched or not args.user_data else None,
            **{key: getattr(source, key) for key in ("dataset", "part", "languages", "title", "licence")},
        )
    drop_claimed(args.state, DOWNLOADS)
    size = sum(facts["bytes"] for facts in files.values())
    log.info("%s %s: %d files, %.1f MB, %s data", args.dataset, args.part, len(files), size / 1e6, origin)


def _source(args: FetchDataset) -> Part:
    if args.source is None:
        generated = args.manifest is not None
        return resolve(args.dataset, args.part, args.languages, generated=generated, date=args.date or None)
    return validate(Part, parse_object(args.source, "--source"), "--source")


def _fetch(source: Part, places: Places) -> Fetched:
    """Fetches all files of a part into the state folder, one after another; skips optional files that do not exist."""
    what = f"{source.dataset} {source.part}"
    fetched: Fetched = []
    for file in source.files:
        got = places.get(file, f"{what} {file.path}", optional=file.optional)
        if got is None:
            log.info("%s: no %s; it is optional", what, file.path)
            continue
        log.info("%s: %s, %.1f MB, %s, checked by %s", what, file.path, got.bytes / 1e6, got.origin, got.verified)
        fetched.append((file, got))
    return fetched


def _begin(source: Part, first: int, places: Places) -> Fetched:
    """Fetches the first documents or pages of a corpus. Raises SteleError if the dataset is always used in full."""
    if source.cut is None:
        raise SteleError(f"{source.dataset}: --first: this dataset is always used in full; leave --first out")
    return CUTS.get(source.cut)(source, first, places)


@contextmanager
def _remove_if_damaged(unpublished: Sequence[FetchedFile]) -> Iterator[None]:
    """Removes downloads without a published digest if an error shows them to be damaged; the next run fetches them."""
    try:
        yield
    except SteleError as error:
        for got in unpublished if not exhausted(error) else ():
            got.path.unlink(missing_ok=True)
        raise


def _to_pin(got: FetchedFile) -> tuple[str, str]:
    """Name and sha256 with which a later download must agree, of the file or of the beginning that was read."""
    read = got.beginning
    return (got.url, got.sha256) if read is None else (f"{got.url} bytes 0-{read['bytes'] - 1}", read["sha256"])


def _assemble(fetched: Fetched, folder: Path) -> Facts:
    """Places the fetched files in the dataset's folder and unpacks archives; returns the facts of each file by path."""
    facts: Facts = {}
    for file, got in fetched:
        about = {"verified": got.verified, "url": got.url} | ({"beginning": got.beginning} if got.beginning else {})
        if file.unpack:
            for path in unpack(got.path, folder, file.unpack):
                size = (folder / path).stat().st_size
                facts[path] = {**digests(folder / path), "bytes": size, **about, "archive": got.sha256}
        else:
            place_file(got.path, folder, file.path, got.url)
            facts[file.path] = {"sha256": got.sha256, "bytes": got.bytes, **about}
    return facts


def _count(source: Part, folder: Path, files: Sequence[str], manifest: Manifest | None) -> dict[str, Any]:
    """Counts a part's contents and compares them with the catalogue, or with the `manifest` of generated data.

    If a user has exported the part as tables, all `files` are counted instead of the part's own files.
    Raises SteleError if a count differs.
    """
    counts: dict[str, Any] = {}
    for what, items in source.counts.items():
        for item in items:
            are_tables = source.exports and not {*item.files} & {*files}
            paths = [folder / path for path in (files if are_tables else item.files)]
            counted = KINDS.get(item.count)(*paths)
            if manifest is None:
                expected, by = item.expect, "the catalogue"
            else:
                expected, by = manifest.count(source.dataset, what, item.of), "the manifest"
            if expected is not None and counted != expected:
                name = " and ".join(map(str, paths))
                raise SteleError(
                    f"{name} holds {_show(counted)} {what}, but {by} says {_show(expected)}; the data are incomplete "
                    f"or not version {source.version}"
                )
            if item.of is None or source.part != "all":
                counts[what] = counted
            else:
                counts.setdefault(what, {})[item.of] = counted
        if isinstance(counts.get(what), dict):
            counts[what]["all"] = sum(counts[what].values())
    return counts


def _renamed(text: str, folder: Path, files: Facts, users_folder: Path | None) -> str:
    """Replaces paths in the temporary `folder` by the user's own paths, or by names in the dataset, in a message."""
    for path, facts in sorted(files.items(), reverse=True):  # a longer name before one that it begins with
        place = users_folder / facts["name"] if users_folder else Path(path)
        text = text.replace(
            str(folder / path), f"{place} ({path})" if users_folder and "archive" in facts else str(place)
        )
    return text


def _show(number: Any) -> str:
    return f"{number:,}" if isinstance(number, int) else json.dumps(number)
