"""References as BibTeX and as lines of text: papers from their paper.yaml, benchmarks from bibliography.yaml."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

from stele.catalogue import shipped
from stele.papers.paper import Paper, papers_in
from stele.tables.render import latex

NOT_FIELDS = ("key", "type", "authors", "editors")
BRACES = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}  # BibTeX counts the braces of \{ and \}


@cache
def load() -> dict[str, Any]:
    """Reads bibliography.yaml: `benchmarks` (name -> key of an entry) and `entries`."""
    return shipped("tables/render/bibliography.yaml")


def keys(paper: Paper, benchmarks: Iterable[str]) -> list[str]:
    """Keys of the entries that a table cites: its paper's, if it has one, then those of its benchmarks."""
    known = load()["benchmarks"]
    paper_key = [paper.citation.key] if paper.citation else []
    return list(dict.fromkeys([*paper_key, *(known[name] for name in sorted(benchmarks) if name in known)]))


def of_paper(paper: Paper) -> str:
    """Formats a paper's reference as a line of text; without a citation it is the paper's description, or its name."""
    if paper.citation is None:
        return paper.description or paper.name
    entry = paper.citation.given()
    people = [name.partition(",")[0].strip("{}") for name in entry.get("authors") or entry["editors"]]
    authors = " and ".join(people) if len(people) < 3 else f"{people[0]} et al."
    return f"{authors}, {entry['title']}, {entry['year']}"


def bibtex(papers: Iterable[Paper]) -> str:
    """Formats the entries of the benchmarks, of `papers` and of those in `paper_tables/` as BibTeX, sorted by key."""
    cited = [paper.citation.given() for paper in (*papers_in().values(), *papers) if paper.citation]
    entries = load()["entries"] | {entry["key"]: entry for entry in cited}
    return "\n".join(_entry(key, entry) for key, entry in sorted(entries.items()))


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
    r"""Escapes text for BibTeX: LaTeX with each accented letter in braces (`{\"o}`), so that BibTeX can shorten names.

    Words in scripts that need a font of their own are one such group each, set as in a table.
    """
    text = unicodedata.normalize("NFC", str(value))
    kinds = "".join("f" if latex.letter(char) is None else " " if char == " " else "." for char in text)
    parts = [text[match.start() : match.end()] for match in re.finditer("f(?:[f ]*f)?|.", kinds)]
    letters = (BRACES.get(part) or latex.letter(part[:1]) or latex.escape(part) for part in parts)
    return "".join(f"{{{letter}}}" if letter.startswith("\\") else letter for letter in letters)
