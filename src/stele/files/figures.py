"""Writes matplotlib figures so that equal data give equal bytes, and replaces only figures that it wrote."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.reading import reading

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAKER = "Stele: tables of papers on dense retrieval"  # in each file, as its creator


def check_figure(path: Path) -> Path:
    """Returns the path of a figure to write. Raises SteleError if a file is there that `save_figure` did not write."""
    if path.is_file():
        with reading(path):
            is_made = MAKER.encode() in path.read_bytes()
        if not is_made:
            raise SteleError(f"{path}: exists, and is not a figure of Stele's; give another name, or remove it first")
    return path


def save_figure(figure: Figure, path: Path, title: str, description: str = "", **options: Any) -> None:
    """Writes a figure as SVG, PDF or PNG, by the ending of `path`; `options` are those of `Figure.savefig`.

    Title and description are stored in the file, for readers who cannot see the figure and for pages that embed it.
    """
    import matplotlib

    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it logs every glyph
    kind, words = path.suffix[1:], {"Description": description} if description else {}
    metadata: dict[str, dict[str, str | None]] = {
        "svg": {"Creator": MAKER, "Date": None, "Title": title, **words},
        "pdf": {"Creator": MAKER, "CreationDate": None, "Title": title, **({"Subject": description} if words else {})},
        "png": {"Software": MAKER, "Title": title, **words},
    }
    settings = {"svg.hashsalt": "stele", "svg.fonttype": "none", "pdf.fonttype": 42}
    with matplotlib.rc_context(settings), atomic_file(path, "wb") as handle:
        figure.savefig(handle, format=kind, metadata=metadata[kind], **options)
