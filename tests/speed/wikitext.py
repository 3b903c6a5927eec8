"""Wikitext to text and links: agreement with mwparserfromhell, and residue beside other extractors.

    python -m tests.speed.wikitext --data FOLDER --disagreements FILE

FOLDER holds real dumps (`enwiki-...-pages-articles....xml.bz2`, `ltgwiki-pages-articles.xml`); only their pages that
are set aside by a hash of the title are read (`wikitext_reference.set_aside`). Generated wikis, one a script, are
measured beside them. How the other extractors are installed: wikitext_peers.py; those that are absent are named.
With STELE_REAL_DATA, sentences are also scored against XQuAD-R's breaks. Speeds are in the table of `make speed`.

Prints one JSON object. For each wiki: `links` = precision and recall of links to articles against mwparserfromhell's
top-level links, and the recall without links that stand in tables which that parser takes for text (bar: .99);
`residue` = characters of markup per million characters of text, ours and each peer's (bar: below all), and their
`marks`. FILE gets a line for each link that only one side has.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), *(str(TESTS / room) for room in ("corpora", "text", "benchmarks"))]

from sentence_breaks import LANGUAGES, boundary_quality  # noqa: E402
from wikitext_reference import Wiki, dump_wiki, half, in_tables, real_wikis, residue, top_level_links  # noqa: E402

from stele.corpora.wikitext.paragraphs import extract  # noqa: E402
from stele.corpora.wikitext.titles import Site  # noqa: E402
from tests.speed.wikitext_pages import made_wikis  # noqa: E402
from tests.speed.wikitext_peers import Peer, peers  # noqa: E402

# one language for each script that the generator writes
GENERATED = ("en", "ar", "bn", "el", "hi", "ja", "ko", "ru", "ta", "te", "th", "zh")


class Disagreement(NamedTuple):
    """`links` more links to `target` on one side than on the other."""

    wiki: str
    page: str
    target: str
    links: int
    side: str


def generated_wikis(entities: int, seed: int = 0) -> list[Wiki]:
    """A wiki in every script, read from its dump as a real one."""
    from stele.recipes.world import world_sizes
    from stele_world.content.generate import generate
    from stele_world.writers.dump import multistream
    from stele_world.writers.library import Library
    from stele_world.writers.wikipedia import pages_of

    library = Library(generate(world_sizes({"entities": entities}), list(GENERATED), seed))
    wikis = []
    with tempfile.TemporaryDirectory() as folder:
        for language in GENERATED:
            path = Path(folder) / f"generated {language}-pages-articles.xml.bz2"
            path.write_bytes(multistream(language, f"{language}wiki", pages_of(library, language))[0])
            wikis.append(dump_wiki(path))
    return wikis


def link_agreement(wiki: Wiki) -> tuple[dict[str, Any], list[Disagreement]]:
    """Precision and recall of our links over a wiki, and each disagreement."""
    ours = theirs = both = tables = 0
    found: list[Disagreement] = []
    for title, wikitext in wiki.articles:
        mine = Counter(link.target for link in extract(wikitext, wiki.site).links)
        reference = top_level_links(wikitext, wiki.site)
        both += (mine & reference).total()
        ours, theirs = ours + mine.total(), theirs + reference.total()
        missed = reference - mine
        tabled = missed & in_tables(wikitext, wiki.site) if missed else missed
        tables += tabled.total()
        for side, links in (("only ours", mine - reference), ("in a table", tabled), ("only theirs", missed - tabled)):
            found += [Disagreement(wiki.name, title, target, count, side) for target, count in links.items()]
    measured = {
        "ours": ours,
        "reference": theirs,
        "precision": round(both / ours, 4),
        "recall": round(both / theirs, 4),
        "recall_outside_tables": round(both / (theirs - tables), 4),
    }
    return measured, found


def marks_left(texts: list[str]) -> tuple[float, dict[str, int]]:
    """(characters of markup per million characters of text, how often each mark)."""
    size = sum(map(len, texts))
    marks = [mark for text in texts for mark in residue(text)]
    characters = sum(len(found) for _, found in marks)
    return round(characters / size * 1e6, 2), dict(Counter(kind for kind, _ in marks))


def ours_on(wiki: Wiki) -> Iterator[str]:
    """Our text of each page, links found too; with a site that has seen no link yet, as a job begins."""
    site = Site(wiki.site.language, wiki.site.first_letter, wiki.site.local_names)
    for _, wikitext in wiki.articles:
        yield "\n".join(extract(wikitext, site).paragraphs)


def theirs_on(wiki: Wiki, peer: Peer) -> Iterator[str]:
    """A peer's text of each page."""
    for _, wikitext in wiki.articles:
        yield peer.text(wikitext)


def measure(wiki: Wiki) -> tuple[dict[str, Any], list[Disagreement], dict[str, str]]:
    """All figures of a wiki, its disagreements, and the peers that are missing."""
    links, disagreements = link_agreement(wiki)
    others, missing = peers(wiki.site)
    runs = {"ours": partial(ours_on, wiki)} | {name: partial(theirs_on, wiki, peer) for name, peer in others.items()}
    left = {name: marks_left(list(run())) for name, run in runs.items()}
    figures = {
        "pages": len(wiki.articles),
        "characters": sum(len(wikitext) for _, wikitext in wiki.articles),
        "links": links,
        "residue": {name: share for name, (share, _) in left.items()},
        "marks": {name: marks for name, (_, marks) in left.items()},
        "versions": {name: peer.version for name, peer in others.items()},
    }
    return figures, disagreements, missing


def sentence_quality(real_data: Path) -> dict[str, str]:
    """Precision / recall of sentence boundaries by language."""
    folder = real_data / "lareqa_xquad_r/xquad-r"
    quality = {code: boundary_quality(folder / f"{code}.json", code) for code in LANGUAGES if folder.is_dir()}
    return {code: f"{precision:.3f}/{recall:.3f}" for code, (precision, recall) in quality.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of real dumps (default: made and generated pages only)")
    parser.add_argument("--disagreements", type=Path, help="file for links that only one side has (tab-separated)")
    parser.add_argument("--entities", type=int, default=200, help="size of the generated world (default: %(default)s)")
    args = parser.parse_args()
    wikis = [half(wiki, aside=True) for wiki in real_wikis(args.data)] if args.data else []
    wikis += [*made_wikis(), *generated_wikis(args.entities)]
    report: dict[str, Any] = {}
    lines: list[Disagreement] = []
    for wiki in wikis:
        report[wiki.name], disagreements, missing = measure(wiki)
        lines += disagreements
    report["missing"] = missing
    if os.environ.get("STELE_REAL_DATA"):
        report["sentences"] = sentence_quality(Path(os.environ["STELE_REAL_DATA"]))
    if args.disagreements:
        args.disagreements.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
    print(json.dumps(report, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
