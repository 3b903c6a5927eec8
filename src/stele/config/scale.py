"""Scales: sets of sizes, and what sizes force. Which one a run is of, and whose results a folder holds."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from stele import catalogue
from stele.config.model import PLAIN_NAME, Config, Label
from stele.errors import SteleError, unknown
from stele.files.atomic import atomic_file
from stele.files.paths import STAMP
from stele.files.strict import Seed, Strict


class Documents(Strict):
    """How much of CC-100 is read."""

    documents: int = Field(ge=1, description="the first so many documents of each language")


class Pages(Strict):
    """How much of a Wikipedia is read."""

    pages: int = Field(ge=1, description="the first so many pages of each dump, in the order of their ids")


class Corpora(Strict):
    """How much is read of what pretraining is mined from. Nothing else is cut: what is evaluated is always whole."""

    cc100: Documents | None = None
    wikipedia: Pages | None = None

    @model_validator(mode="before")
    @classmethod
    def _nothing_else(cls, values: Any) -> Any:
        wrong = [key for key in values if key in catalogue.load("datasets")] if isinstance(values, Mapping) else []
        wrong = sorted(set(wrong) - set(cls.model_fields))
        if wrong:
            raise ValueError(f"{wrong[0]} is used whole; want cc100: {{documents: N}} or wikipedia: {{pages: N}}")
        return values


class Scale(Strict):
    """A set of sizes, and what sizes force."""

    title: Label
    generated: bool = Field(description="whether the data come from the generated internet")
    seed: Seed = 0
    threads: int = Field(1, ge=1, description="CPU threads of a training or encoding job; part of every recipe")
    gpus: int | None = Field(
        None, ge=1, description="GPUs of a job where cluster.yaml names none; None: the rule's own"
    )
    languages: list[str] | None = Field(None, description="the generated languages; None: all that a dataset has")
    benchmarks: dict[str, list[str]] = Field(
        {},
        description="benchmark -> the languages that it is evaluated in, each with its whole collection; default: all",
    )
    world: dict[str, Any] = Field({}, description="sizes of the generated world")
    standins: dict[str, dict[str, Any]] = Field({}, description="stand-in -> keys forced by this scale")
    shards: dict[Literal["wikipedia"], Annotated[int, Field(ge=1)]] = Field(
        {}, description="corpus -> parts that a language's dump is cut into, each a job"
    )
    shard_bytes: dict[Literal["wikipedia"], Annotated[int, Field(ge=1 << 20)]] = Field(
        {}, description="corpus -> about how many bytes of a dump a part has, where `shards` does not say how many"
    )
    corpora: Corpora = Field(Corpora(), description="corpus -> how much of it is fetched and read; default: all")
    pretraining: dict[str, dict[str, Any]] = Field({}, description="recipe -> keys forced by this scale")
    models: dict[str, dict[str, Any]] = Field({}, description="model -> recipe keys forced by this scale")
    finetuning: dict[str, dict[str, Any]] = Field({}, description="recipe -> keys forced by this scale")
    encoding: dict[str, Any] = Field({}, description="lengths forced by this scale at encoding")
    pairs: dict[str, dict[str, Any]] = Field({}, description="mining method -> keys forced by this scale")


def resolve_scale(config: Config, environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Which scale, and why: what the user says; else the profile's; else the results' stamp; else miniature.

    A file of one's own goes by one path, however it is written.
    """
    stamp = read_stamp(Path(config.results_dir))
    for name, why in (
        (config.scale, "as you said"),
        (environment.get("STELE_DEFAULT_SCALE"), "the profile's"),
        (stamp, f"the one {config.results_dir}/ holds"),
    ):
        if name:
            return _path(name) if is_file(name) else name, why
    return "miniature", "the default"


def _path(name: str) -> str:
    """One way of writing a path: from here where it is below, else from the root."""
    path = os.path.relpath(name)
    return os.path.abspath(name) if path.startswith("..") else path


def is_file(name: str) -> bool:
    """Whether a scale is a file of the user's own."""
    return Path(name).suffix in (".yaml", ".yml")


def read_stamp(folder: Path) -> str | None:
    """The scale that a folder holds, None for a new one."""
    try:
        return (folder / STAMP).read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None


def check_stamp(folder: Path, scale: str, way_out: str) -> None:
    """Refuses to put a second scale into a folder; stamps a new one."""
    found = read_stamp(folder)
    if found and found != scale:
        raise SteleError(
            f"{folder}/ holds what belongs to scale {found!r} and this run is of scale {scale!r}: "
            f"{way_out} or remove {folder}/"
        )
    if not found:
        with atomic_file(folder / STAMP) as handle:
            handle.write(f"{scale}\n")


def load_scale(name: str) -> dict[str, Any]:
    """The sizes of a scale: one of the catalogue's or a YAML file of the user's own."""
    if name in catalogue.scale_names():
        scale = catalogue.load(f"scales/{name}")
    elif is_file(name):
        _check_stem(name)
        scale = catalogue.read_yaml(name)
        _check_own(scale, name)
    else:
        raise unknown("scale", name, catalogue.scale_names(), "scale (or give a .yaml file of your own)")
    return Scale.model_validate(scale).model_dump()


def first_of(sizes: Mapping[str, Any], corpus: str) -> int | None:
    """How many documents or pages a scale takes of a corpus; None: all.

    >>> first_of({"corpora": {"cc100": {"documents": 7}, "wikipedia": None}}, "cc100")
    7
    """
    return next(iter((sizes["corpora"].get(corpus) or {}).values()), None)


def shards_of(sizes: Mapping[str, Any], wiki: str, size: int | None = None) -> int:
    """Parts that the dump of a wiki ("enwiki") is cut into, each a job: as many as a scale says, or by its size.

    `size` in bytes; None: what the catalogue reckons with.

    >>> shards_of({"shards": {}, "shard_bytes": {"wikipedia": 1 << 29}}, "dewiki")
    13
    """
    if "wikipedia" in sizes["shards"]:
        return sizes["shards"]["wikipedia"]
    size = size or catalogue.load("dump_sizes").get(wiki)
    if size is None or "wikipedia" not in sizes["shard_bytes"]:
        return 1
    return max(1, round(size / sizes["shard_bytes"]["wikipedia"]))


def _check_own(scale: Mapping[str, Any], name: str) -> None:
    """What it forces, recipe by recipe."""
    from stele.catalogue.schema.scales import check_scale

    check_scale(scale, name)


def _check_stem(name: str) -> None:
    """Refuses a file whose name cannot be that of the scale's folders, or is that of another scale's."""
    stem = Path(name).stem
    if stem in catalogue.scale_names():
        raise SteleError(
            f"scale {name!r}: its folders are called by the file's name, and {stem!r} is a scale that Stele has; "
            "give the file another name"
        )
    if not re.fullmatch(PLAIN_NAME, stem) or stem.startswith((".", "-")):
        raise SteleError(
            f"scale {name!r}: its folders are called by the file's name, which may hold letters, digits and "
            "_ @ % + = : , . - only, and begins with none of . and -; give the file another name"
        )
