r"""Write the generated internet: every dataset at its upstream address and in its upstream format, and the manifest.

    python -m stele_world mirror --world '{"entities": 300}' --languages en sw --seed 0 \
        --user-data user_data --output mirror/manifest.json

The folder of the manifest becomes the mirror: {folder}/{host}/{path of the address}. Files that upstream releases only
behind a licence or a web page go to {user data}/{dataset}/. The manifest is written last: without it the mirror is
unfinished. Generated checkpoints that other jobs have published on the mirror's hub stay.
"""

import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath

from stele.artifacts.records import GENERATED, write_record
from stele.command.arguments import Job, Json, Seed, Some
from stele.errors import SteleError
from stele.files.atomic import (
    MARK,
    atomic_write_json,
    check_record,
    check_replaceable,
    entries,
    is_made,
    mark_of,
    swap_in,
)
from stele.files.digests import digest
from stele.files.reading import parse_object
from stele.progress import track
from stele_world.site import HUB, NAME, Site, path_of
from stele_world.writers import writers
from stele_world.writers.library import Library

log = logging.getLogger(__name__)

JOB, PUBLISHED = "world mirror", "world standin"
PART = ".stele-generating."  # prefix of the folders of an unfinished run


class Mirror(Job):
    world: Json
    """Sizes of the generated internet: the scale's block `world`."""
    languages: Some[str]
    """Languages of the generated text."""
    seed: Seed
    output: Path
    """Manifest to write, manifest.json in the folder of the mirror."""
    user_data: Path
    """Folder for files that upstream does not distribute freely."""


def run(args: Mirror) -> None:
    if args.output.name != NAME:
        raise SteleError(f"--output {args.output}: want the file name {NAME}, the name of a mirror's manifest")
    from stele.recipes.world import world_sizes
    from stele_world.content.generate import generate
    from stele_world.schema import check_files

    check_files()
    # the world, and the folders that may be replaced
    block, languages = parse_object(args.world, "--world"), args.languages
    sizes = world_sizes(block)
    mirror = args.output.parent
    check_record(args.output, JOB)
    check_replaceable(mirror, JOB, NAME, stays(mirror))

    # all files, in new folders first; they move into place when all are written
    with unfinished(mirror) as part, unfinished(args.user_data) as licensed:
        site = Site(part, licensed)
        library = Library(generate(sizes, languages, args.seed))
        functions = writers()
        for write in track(functions, len(functions), "mirror", unit="family"):
            write(site, library)
        for dataset in site.licensed:
            check_replaceable(args.user_data / dataset, JOB)
        move_in(part, mirror, stays(mirror))
        for dataset in site.licensed:
            swap_in(licensed / dataset, args.user_data / dataset, JOB)

    # the record, which is the manifest
    written = {path_of(mirror, url): entry for url, entry in site.files.items()}
    for name, files in site.licensed.items():
        written |= {args.user_data / name / file: entry for file, entry in files.items()}
    raw = {url: entry["raw_sha256"] for url, entry in site.files.items()}
    write_record(
        args.output,
        job=JOB,
        inputs={},
        seed=args.seed,
        labels=[GENERATED],
        outputs={os.path.relpath(path, mirror): facts for path, facts in written.items()},
        content=digest([raw, site.licensed]),
        world=block,
        languages=languages,
        files=site.files,
        counts=site.counts,
        licensed=site.licensed,
    )
    log.info("%d files, %.1f MB", len(site.files), sum(e["bytes"] for e in site.files.values()) / 1e6)


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """Makes a new folder inside `folder` for writing; removes it at the end, and those of killed runs before."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{PART}*"):
        shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=PART, dir=folder, ignore_cleanup_errors=True) as part:
        yield Path(part)


def stays(mirror: Path) -> Callable[[str], bool]:
    """Makes a test of names in a mirror: files of an unfinished run or of a published checkpoint stay."""
    marks = (path.parent for path in (mirror / HUB).rglob(MARK))
    published = {folder.relative_to(mirror) for folder in marks if is_made(folder, PUBLISHED)}
    return lambda name: name.startswith(PART) or not published.isdisjoint(PurePath(name).parents)


def move_in(part: Path, mirror: Path, stays_there: Callable[[str], bool]) -> None:
    """Replaces the generated hosts of `mirror` by those in `part`; published checkpoints stay.

    The mirror's mark lists both generations until the second is in place, so that a killed run can be repeated.
    """
    (mirror / NAME).unlink(missing_ok=True)
    before = [name for name in entries(mirror) if not stays_there(name)]
    mark = mark_of(part, JOB)
    atomic_write_json(mirror / MARK, mark | {"files": [*before, *mark["files"]]})
    for name in before:
        old = mirror / name
        old.rmdir() if old.is_dir() and not old.is_symlink() else old.unlink()
        _remove_empty(old.parent, mirror)
    for file in sorted(p for p in part.rglob("*") if p.is_file()):
        target = mirror / file.relative_to(part)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, target)
    atomic_write_json(mirror / MARK, mark | {"files": [*mark["files"], NAME]})


def _remove_empty(folder: Path, root: Path) -> None:
    with suppress(OSError):
        while folder != root:
            folder.rmdir()
            folder = folder.parent
