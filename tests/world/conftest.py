"""A small generated internet, written once for all tests of the stage."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.jobs import job

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
