"""Writes matplotlib figures so that equal data give equal bytes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.files.atomic import CREATOR, atomic_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: Figure, path: Path, title: str, description: str = "", **options: Any) -> None:
    """Writes a figure as SVG, PDF or PNG, by the ending of `path`; `options` are those of `Figure.savefig`.

    Title and description are stored in the file, for readers who cannot see the figure and for pages that embed it.
    """
    import matplotlib

    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it logs every glyph
    kind, words = path.suffix[1:], {"Description": description} if description else {}
    subject = {"Subject": description} if description else {}
    metadata: dict[str, dict[str, str | None]] = {
        "svg": {"Creator": CREATOR, "Date": None, "Title": title, **words},
        "pdf": {"Creator": CREATOR, "CreationDate": None, "Title": title, **subject},
        "png": {"Software": CREATOR, "Title": title, **words},
    }
    settings = {"svg.hashsalt": "stele", "svg.fonttype": "none", "pdf.fonttype": 42}
    with matplotlib.rc_context(settings), atomic_file(path, "wb") as handle:
        figure.savefig(handle, format=kind, metadata=metadata[kind], **options)
