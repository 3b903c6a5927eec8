"""A small generated internet, written once for all tests of the stage."""

import json
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from stele import catalogue
from tests.jobs import job
from tests.world import standin_runs as runs

LANGUAGES = ["en", "ar", "de", "ja", "ru", "sw", "th"]  # every kind of script and both kinds of word separation
QUESTIONS = {"train": 30, "dev": 8, "test": 12}
WORLD = {
    "entities": 80,
    "web_documents": 12,
    "questions": {p: QUESTIONS for p in ("nq", "marco", "squad", "lareqa", "mrtydi", "xor")},
    "mentions": {"train": 40, "dev": 8, "test": 12},
    "parallel": {"tatoeba": 20, "training": 30},
}


@pytest.fixture(scope="session")
def write_mirror() -> Callable[..., dict]:
    """Runs the command in this process; returns the manifest."""

    def write(folder: Path, seed: int = 0, languages: list[str] = LANGUAGES, world: dict = WORLD) -> dict:
        from stele_world import mirror

        output = folder / "mirror" / "manifest.json"
        flags = ["--world", json.dumps(world), "--seed", str(seed), "--output", str(output)]
        mirror.run(job(mirror, [*flags, "--user-data", str(folder / "user_data"), "--languages", *languages]))
        return json.loads(output.read_text())

    return write


@pytest.fixture(scope="session")
def written(tmp_path_factory) -> Callable[..., SimpleNamespace]:
    """Makes a world of sizes and languages, and what some writers write of it: `library` and `site`."""

    def written(sizes: dict, languages: Sequence[str], *writers: Callable) -> SimpleNamespace:
        from stele.recipes.world import world_sizes
        from stele_world.content.generate import generate
        from stele_world.site import Site
        from stele_world.writers.library import Library

        folder, library = tmp_path_factory.mktemp("written"), Library(generate(world_sizes(sizes), languages, 0))
        site = Site(folder / "mirror", folder / "user_data")
        for write in writers:
            write(site, library)
        return SimpleNamespace(library=library, site=site)

    return written


@pytest.fixture(scope="module")
def library(written_world):
    """Of the world that a module has written."""
    return written_world.library


@pytest.fixture(scope="module")
def site(written_world):
    """Of the world that a module has written."""
    return written_world.site


@pytest.fixture(scope="session")
def generated(tmp_path_factory, write_mirror) -> SimpleNamespace:
    """The mirror: `folder`, `user_data`, `manifest`, `world`, and `open(url)` -> uncompressed bytes."""
    from stele.files.reading import unpacked_blocks
    from stele.recipes.world import world_sizes
    from stele_world.content.generate import generate
    from stele_world.site import path_of

    folder = tmp_path_factory.mktemp("generated")
    manifest = write_mirror(folder)
    mirror = folder / "mirror"
    return SimpleNamespace(
        folder=mirror,
        user_data=folder / "user_data",
        manifest=manifest,
        world=generate(world_sizes(WORLD), LANGUAGES, 0),
        path=lambda url: path_of(mirror, url),
        open=lambda url: b"".join(unpacked_blocks(path_of(mirror, url))),
    )


@pytest.fixture(scope="session")
def made(tmp_path_factory, generated) -> SimpleNamespace:
    """All stand-ins, small: mirror, records, facts by key; `folder(key)` as published, `fetched(key)` as in a job."""
    folder = tmp_path_factory.mktemp("standins")
    mirror, records = folder / "mirror", folder / "standins"
    shutil.copytree(generated.folder, mirror)
    facts = {key: runs.make(key, mirror, records, runs.LANGUAGES) for key in catalogue.load("standins")}

    def published(key: str) -> Path:
        repo = facts[key]["repository"]
        return mirror / "huggingface.co" / repo / "resolve" / "main" if repo else records / key / key

    @cache
    def fetched(key: str) -> Path:
        runs.fetch(key, mirror, records, folder / "fetched")
        return folder / "fetched" / key

    return SimpleNamespace(mirror=mirror, records=records, facts=facts, folder=published, fetched=fetched)
