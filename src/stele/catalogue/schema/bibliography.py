"""tables/render/bibliography.yaml: what a reader cites."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from stele.catalogue.schema.names import Facts, choice
from stele.files.strict import Strict, validate


class Entry(Strict):
    """A BibTeX entry; its fields are BibTeX's own, but `authors` and `editors` are lists of "Family, Given"."""

    type: Literal["article", "book", "inproceedings", "misc"]
    authors: list[str] | None = Field(None, min_length=1)
    editors: list[str] | None = Field(None, min_length=1)
    title: str
    year: int = Field(ge=1900, le=2100)
    booktitle: str | None = None
    journal: str | None = None
    publisher: str | None = None
    howpublished: str | None = None
    volume: int | None = None
    pages: str | None = None
    url: str | None = Field(None, pattern="^https?://")

    @model_validator(mode="after")
    def _someone_wrote_it(self) -> Entry:
        if self.authors is None and self.editors is None:
            raise ValueError("want `authors` or `editors`")
        return self


class Bibliography(Strict):
    """Entries by key, and which of them benchmarks are."""

    benchmarks: dict[str, str]
    entries: dict[str, Entry]


def check_bibliography(values: Facts, where: str) -> None:
    """The file, and that what it cites is in it."""
    validate(Bibliography, values, where)
    for name in values["benchmarks"]:
        choice(values["benchmarks"], name, values["entries"], where, ["benchmarks"])
