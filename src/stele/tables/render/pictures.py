"""Drawn figures for pages: read back from their SVG files, title and description included, as addresses of their own.

A picture stands in a page as a data address, so that the page needs nothing beside it; as an image an SVG runs no
script and loads nothing, whatever is in it.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stele.errors import SteleError
from stele.files.reading import reading

_NAME = re.compile(r"figure_(\d\d)")
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


@dataclass(frozen=True)
class Picture:
    """One drawn figure. `file` is its path from the pages, `data` its data address; `problem` says why it has none."""

    file: str
    title: str
    description: str = ""
    data: str = ""
    problem: str = ""

    @property
    def id(self) -> str:
        """`f01` for figure 1 of a paper, the file's name for others (`cell_map`)."""
        stem = Path(self.file).stem
        return f"f{match[1]}" if (match := _NAME.fullmatch(stem)) else stem

    @property
    def paper(self) -> str:
        """The paper that it belongs to, "" for all."""
        return self.file.partition("/")[0] if "/" in self.file else ""

    @property
    def files(self) -> list[str]:
        """The picture's files: as SVG, and as PDF beside it."""
        return [self.file, f"{self.file.removesuffix('svg')}pdf"]


def drawn(folder: Path) -> list[Path]:
    """The figures that stand in a folder of tables, by paper, and the map of all cells."""
    return [*sorted(folder.glob("*/figure_*.svg")), *sorted(folder.glob("cell_map.svg"))]


def pictures(paths: Iterable[Path], folder: Path) -> Iterator[Picture]:
    """The figures of some SVG files, for pages in `folder`; a damaged one says so in its place."""
    for path in paths:
        name = Path(os.path.relpath(path, folder)).as_posix()
        try:
            yield _read(path, name)
        except SteleError as error:
            yield Picture(name, name, problem=str(error))


def _read(path: Path, name: str) -> Picture:
    from lxml import etree

    with reading(path, "SVG", "remove it and draw it again"):
        content = path.read_bytes()
        tree = etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    title, description = (tree.findtext(f".//{_DUBLIN_CORE}{key}") or "" for key in ("title", "description"))
    data = base64.b64encode(content).decode("ascii")
    return Picture(name, title or name, description, f"data:image/svg+xml;base64,{data}")
