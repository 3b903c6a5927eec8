r"""Write the generated internet: every dataset at its upstream address and in its upstream format, and the manifest.

    python -m stele world mirror --world '{"entities": 300}' --languages en sw --seed 0 \
        --user-data user_data --output mirror/manifest.json

The folder of the manifest becomes the mirror: {folder}/{host}/{path of the address}. What upstream guards behind a
licence or a web page goes to {user data}/{dataset}/. The manifest is written last: while it is missing, nothing in the
folder is to be trusted. Generated checkpoints that other jobs have put on the mirror's hub stay.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stele.artifacts.records import GENERATED, start, write_record
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import digest
from stele.files.reading import parse_object
from stele.progress import track
from stele.world.content.manifest import HUB, NAME, path_of
from stele.world.writers.library import Library
from stele.world.writers.site import Site

log = logging.getLogger(__name__)

FAMILIES = (
    "cc100",
    "wikipedia",
    "mrtydi",
    "xor",
    "dpr",
    "marco",
    "mmarco",
    "squad",
    "squad2",
    "mlqa",
    "lareqa",
    "miracl",
    "belebele",
    "ciral",
    "mewsli",
    "tatoeba",
    "tatoeba_exports",
    "punkt",
    "parallel",
    "collections",
    "fasttext",
    "smart_shuffling",
    "clef",
    "wikitext103",
    "xnli",
    "uncorpus",
    "neuclir",
    "own_code",
)
PART = ".generating."  # prefix of the folders of an unfinished run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--world", required=True, help="the scale's `world` block, as JSON")
    parser.add_argument("--languages", nargs="+", required=True, metavar="L")
    parser.add_argument("--seed", type=arguments.seed, required=True)
    parser.add_argument("--output", type=Path, required=True, help="manifest.json in the folder of the mirror")
    parser.add_argument(
        "--user-data", type=Path, required=True, help="folder for what upstream does not give out freely"
    )


def run(args: argparse.Namespace) -> None:
    if args.output.name != NAME:
        raise SteleError(f"--output {args.output}: the manifest of a mirror is called {NAME}")
    from stele.recipes.world import world_sizes
    from stele.world.content.generate import generate

    clock = start()
    block, languages = parse_object(args.world, "--world"), args.languages
    sizes = world_sizes(block)
    mirror = args.output.parent
    with unfinished(mirror) as part, unfinished(args.user_data) as licensed:
        site = Site(part, licensed)
        library = Library(generate(sizes, languages, args.seed))
        for family in track(FAMILIES, len(FAMILIES), "mirror", unit="family"):
            importlib.import_module(f"stele.world.writers.{family}").write(site, library)
        args.output.unlink(missing_ok=True)
        move_in(part, mirror)
        for dataset in site.licensed:
            shutil.rmtree(args.user_data / dataset, ignore_errors=True)
            os.rename(licensed / dataset, args.user_data / dataset)
    made = {path_of(mirror, url): entry for url, entry in site.files.items()}
    made |= {
        args.user_data / name / file: file_facts
        for name, files in site.licensed.items()
        for file, file_facts in files.items()
    }
    raw = {url: entry["raw_sha256"] for url, entry in site.files.items()}
    write_record(
        args.output,
        job="world mirror",
        inputs={},
        clock=clock,
        seed=args.seed,
        labels=[GENERATED],
        outputs={os.path.relpath(path, mirror): facts for path, facts in made.items()},
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
    """A new folder inside `folder` to write to, gone at the end; those of killed runs go first."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{PART}*"):
        shutil.rmtree(old, ignore_errors=True)
    part = Path(tempfile.mkdtemp(prefix=PART, dir=folder))
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def move_in(part: Path, mirror: Path) -> None:
    """Replaces the generated hosts of `mirror` by those in `part`; published checkpoints (own manifest) stay."""
    for host in sorted(mirror.iterdir()):
        if host.name.startswith("."):
            continue
        if host.is_dir():
            _clear(host, keep=host.name == HUB)
        else:
            host.unlink()
    for file in sorted(p for p in part.rglob("*") if p.is_file()):
        target = mirror / file.relative_to(part)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, target)


def _clear(folder: Path, keep: bool) -> None:
    """Removes a folder; with `keep`, all but its subfolders that have a manifest of their own."""
    if not keep:
        shutil.rmtree(folder)
        return
    for child in sorted(folder.iterdir()):
        if not child.is_dir():
            child.unlink()
        elif not (child / NAME).is_file():
            _clear(child, keep=True)
    if not any(folder.iterdir()):
        folder.rmdir()
