"""Cards and their tables of texts, rendered from templates as Markdown and as HTML pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stele.files.atomic import atomic_file
from stele.tables.render import markdown, pages
from stele.tables.render.formats import markdown_page
from stele.tables.render.jinja import Ready

SHOWN = 24  # lines of a table that is not folded


@dataclass(frozen=True)
class Sheet:
    """A table of texts; the columns from `numbers` on are right-aligned."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int

    @property
    def long(self) -> bool:
        return len(self.rows) > SHOWN


def in_markdown(sheet: Sheet) -> Ready:
    """Formats a sheet as a Markdown pipe table; a long one is folded."""
    rows = [[markdown.escape(text) for text in row] for row in sheet.rows]
    right = [column >= sheet.numbers for column in range(len(sheet.headers))]
    table = markdown.pipes([markdown.escape(header) for header in sheet.headers], rows, right)
    folded = f"<details>\n<summary>{len(rows)} lines</summary>\n\n{table}\n\n</details>"
    return Ready(folded if sheet.long else table)


def card_text(template: str, card: Mapping[str, Any], suffix: str) -> str:
    """Renders a card, with its `title` and `labels`, as Markdown (.md) or as a self-contained page (.html)."""
    if suffix == ".md":
        return markdown_page(template, card=card, sheet=in_markdown)
    return pages.page(template, card["labels"], title=card["title"], card=card)


def write_card(template: str, card: Mapping[str, Any], files: Sequence[Path]) -> None:
    """Writes a card into files, each in the format of its suffix."""
    for path in files:
        with atomic_file(path) as handle:
            handle.write(card_text(template, card, path.suffix))
