"""Layouts that are the same for every world: Jinja templates, in *.j2 beside this module and in collections.yaml."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from jinja2 import Template

FOLDER = Path(__file__).parent


def filled(template: str, **values: Any) -> str:
    """A template with its values; the filters `xml` and `attribute` escape them as XML wants."""
    return _compiled(template).render(values)


@cache
def template(name: str) -> str:
    """The template of a file beside this module."""
    return (FOLDER / f"{name}.j2").read_text(encoding="utf-8")


@cache
def _compiled(text: str) -> Template:
    import jinja2

    options = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, **options)
    environment.filters |= {"xml": escape, "attribute": quoteattr}
    return environment.from_string(text)
