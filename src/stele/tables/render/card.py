"""A result card as a Markdown and an HTML page."""

from __future__ import annotations

from stele.tables.cards.content import Card, Sheet
from stele.tables.render import markdown, pages
from stele.tables.render.formats import markdown_page
from stele.tables.render.jinja import Ready


def to_markdown(card: Card) -> str:
    """The card as Markdown; what is long is folded."""
    return markdown_page("card", card=card, sheet=_sheet)


def to_html(card: Card) -> str:
    """The card as a page that needs nothing beside it."""
    return pages.page("card", title=card.title, card=card)


def _sheet(sheet: Sheet) -> Ready:
    rows = [[markdown.escape(text) for text in row] for row in sheet.rows]
    right = [column >= sheet.numbers for column in range(len(sheet.headers))]
    table = markdown.pipes([markdown.escape(header) for header in sheet.headers], rows, right)
    folded = f"<details>\n<summary>{len(rows)} lines</summary>\n\n{table}\n\n</details>"
    return Ready(folded if sheet.long else table)
