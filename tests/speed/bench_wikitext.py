"""Wikitext to text and links: agreement with mwparserfromhell, residue and speed beside other extractors, in one run.

    python tests/speed/bench_wikitext.py --data FOLDER --disagreements FILE

FOLDER holds real dumps (`enwiki-...-pages-articles....xml.bz2`, `ltgwiki-pages-articles.xml`); only their pages that
are set aside by a hash of the title are read (`wikitext_reference.set_aside`). Generated wikis, one a script, are
measured beside them. How the other extractors are installed: wikitext_peers.py; those that are absent are named.
With STELE_REAL_DATA, sentences are also scored against XQuAD-R's breaks.

Prints one JSON object. For each wiki: `links` = precision and recall of links to articles against mwparserfromhell's
top-level links, and the recall without links that stand in tables which that parser takes for text (bar: .99);
`residue` = characters of markup per million characters of text, ours and each peer's (bar: below all), and their
`marks`; `rate` = millions of characters of wikitext a second of CPU time, ours for text and links, the peers' for text
alone, each page at its best of the repetitions, and `ratio` = ours / wikiextractor's (bar: 2). FILE gets a line for
each link that only one side has.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), *(str(TESTS / room) for room in ("corpora", "text", "benchmarks"))]

from sentence_breaks import LANGUAGES, boundary_quality  # noqa: E402
from wikitext_pages import made_wikis  # noqa: E402
from wikitext_peers import Peer, peers  # noqa: E402
from wikitext_reference import Wiki, dump_wiki, half, in_tables, real_wikis, residue, top_level_links  # noqa: E402

from stele.corpora.wikitext.paragraphs import extract  # noqa: E402
from stele.corpora.wikitext.titles import Site  # noqa: E402

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


def rates(runs: dict[str, Callable[[], Iterator[str]]], characters: int, repetitions: int) -> dict[str, float]:
    """Millions of characters a second of CPU time: each page at its best of repetitions in turns, since what else the
    machine does slows a run here and there.
    """
    best: dict[str, list[float]] = {}
    for _ in range(repetitions):
        for name, run in runs.items():
            seconds = page_seconds(run())
            best[name] = list(map(min, best.get(name, seconds), seconds))
    return {name: round(characters / 1e6 / sum(seconds), 2) for name, seconds in best.items()}


def page_seconds(texts: Iterator[str]) -> list[float]:
    """CPU seconds that each text takes to come."""
    clock = [time.process_time()]
    for _ in texts:
        clock.append(time.process_time())
    return [end - start for start, end in pairwise(clock)]


def ours_on(wiki: Wiki) -> Iterator[str]:
    """Our text of each page, links found too; with a site that has seen no link yet, as a job begins."""
    site = Site(wiki.site.language, wiki.site.first_letter, wiki.site.local_names)
    for _, wikitext in wiki.articles:
        yield "\n".join(extract(wikitext, site).paragraphs)


def theirs_on(wiki: Wiki, peer: Peer) -> Iterator[str]:
    """A peer's text of each page."""
    for _, wikitext in wiki.articles:
        yield peer.text(wikitext)


def measure(wiki: Wiki, repetitions: int) -> tuple[dict[str, Any], list[Disagreement], dict[str, str]]:
    """All figures of a wiki, its disagreements, and the peers that are missing."""
    links, disagreements = link_agreement(wiki)
    others, missing = peers(wiki.site)
    runs = {"ours": partial(ours_on, wiki)} | {name: partial(theirs_on, wiki, peer) for name, peer in others.items()}
    left = {name: marks_left(list(run())) for name, run in runs.items()}
    characters = sum(len(wikitext) for _, wikitext in wiki.articles)
    rate = rates(runs, characters, repetitions)
    figures = {
        "pages": len(wiki.articles),
        "characters": characters,
        "links": links,
        "residue": {name: share for name, (share, _) in left.items()},
        "marks": {name: marks for name, (_, marks) in left.items()},
        "rate": rate,
        "versions": {name: peer.version for name, peer in others.items()},
    }
    if "wikiextractor" in rate:
        figures["ratio"] = round(rate["ours"] / rate["wikiextractor"], 2)
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
    parser.add_argument("--repetitions", type=int, default=5, help="of each timed run (default: %(default)s)")
    args = parser.parse_args()
    wikis = [half(wiki, aside=True) for wiki in real_wikis(args.data)] if args.data else []
    wikis += [*made_wikis(), *generated_wikis(args.entities)]
    report: dict[str, Any] = {}
    lines: list[Disagreement] = []
    for wiki in wikis:
        report[wiki.name], disagreements, missing = measure(wiki, args.repetitions)
        lines += disagreements
    report["missing"] = missing
    if os.environ.get("STELE_REAL_DATA"):
        report["sentences"] = sentence_quality(Path(os.environ["STELE_REAL_DATA"]))
    if args.disagreements:
        args.disagreements.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
    print(json.dumps(report, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
