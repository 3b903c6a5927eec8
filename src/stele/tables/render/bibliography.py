"""Citations of papers and benchmarks, from bibliography.yaml, as BibTeX and as lines of text."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from stele.catalogue import shipped
from stele.tables.render import latex

TODAY = "Encoders of today beside the papers', on today's benchmarks and on theirs (docs/today.md)"
NOT_FIELDS = ("type", "authors", "editors")


@cache
def load() -> dict[str, Any]:
    """`papers` and `benchmarks` (name -> key of an entry) and `entries`."""
    return shipped("tables/render/bibliography.yaml")


def keys(paper: str, benchmarks: Iterable[str]) -> list[str]:
    """The keys that a table cites: its paper's, if it is of one, then those of its benchmarks that have an entry."""
    known, papers = load()["benchmarks"], load()["papers"]
    cited = [papers[paper]] if paper in papers else []
    cited += [known[name] for name in sorted(benchmarks) if name in known]
    return list(dict.fromkeys(cited))


def of_paper(paper: str) -> str:
    """The citation of a paper, or the line about tables of today's encoders."""
    key = load()["papers"].get(paper)
    return text(key) if key else TODAY


def text(key: str) -> str:
    """One entry as a line of text.

    >>> text("zhang2021mrtydi")
    'Zhang et al., Mr. TyDi: A Multi-lingual Benchmark for Dense Retrieval, 2021'
    """
    entry = load()["entries"][key]
    people = [name.partition(",")[0].strip("{}") for name in entry.get("authors") or entry["editors"]]
    who = " and ".join(people) if len(people) < 3 else f"{people[0]} et al."
    return f"{who}, {entry['title']}, {entry['year']}"


def link(key: str) -> str:
    """The address of an entry, "" without one."""
    return load()["entries"][key].get("url", "")


def bibtex() -> str:
    """All entries as BibTeX, by key."""
    return "\n".join(_entry(key, entry) for key, entry in sorted(load()["entries"].items()))


def _entry(key: str, entry: dict[str, Any]) -> str:
    people = {role[:-1]: " and ".join(map(_name, entry[role])) for role in ("authors", "editors") if role in entry}
    # an inner pair of braces keeps the capitals of a title
    plain = {"title": f"{{{_letters(entry['title'])}}}", "year": str(entry["year"])}
    others = {name: _letters(value) for name, value in entry.items() if name not in {*NOT_FIELDS, *plain, "url"}}
    fields = people | plain | others | ({"url": entry["url"]} if "url" in entry else {})
    lines = "".join(f",\n  {name} = {{{value}}}" for name, value in fields.items())
    return f"@{entry['type']}{{{key}{lines}\n}}\n"


def _name(name: str) -> str:
    return f"{{{_letters(name[1:-1])}}}" if name.startswith("{") else _letters(name)


def _letters(value: object) -> str:
    r"""Text as BibTeX wants it: LaTeX, accented letters each in braces (`{\"o}`), so that it can shorten names."""
    return "".join(f"{{{letter}}}" if letter.startswith("\\") else letter for letter in map(latex.letter, str(value)))
