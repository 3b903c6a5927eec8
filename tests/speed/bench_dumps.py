"""Speed of the path from a dump to Documents against the parts it is made of, in one run.

    python tests/speed/bench_dumps.py --data FOLDER              # with wikipedia_dumps/enwiki*.xml*.bz2 in it
    python tests/speed/bench_dumps.py --data FOLDER --times 40   # longer, where the machine is noisy

The excerpt's pages are shuffled `times` over into a multistream dump of blocks of 100 pages. Measured, medians of
interleaved repetitions, wall and CPU seconds of one core: bz2 alone (Python's bz2), lxml alone (iterparse over the XML
in memory, title, namespace, redirect and text taken), extraction alone (wikitext of every article to sentences with
their links), and the command `corpora wikipedia` on one shard. Then the command as processes: one of the whole against
two shards side by side. Prints a line of JSON:

    {wall,cpu}_whole_to_parts   seconds of the parts / seconds of the command (bar: 0.9)
    two_shards                  wall seconds of one process / of two with a shard each (bar: 1.8)
    {wall,cpu}_whole_to_bz2     seconds of bz2 alone / of the command: how far from the floor
"""

from __future__ import annotations

import argparse
import bz2
import io
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

SOURCE = str(Path(__file__).resolve().parents[2] / "src")
sys.path.insert(0, SOURCE)

BLOCK = 100  # pages
DUMP = "xwiki-1-pages-articles-multistream.xml.bz2"
INDEX = "xwiki-1-pages-articles-multistream-index.txt.bz2"


def replicate(excerpt: bytes, folder: Path, times: int, seed: int = 0) -> bytes:
    """Writes a multistream dump of an excerpt's pages (XML), `times` over, and its index; returns its XML."""
    head, _, rest = excerpt.partition(b"  <page>")
    page_parts = [b"  <page>" + page for page in rest.rpartition(b"</page>")[0].split(b"  <page>")]
    # a page is there once: each copy has ids of its own
    pages = [page.replace(b"<id>", b"<id>%d" % copy, 1) for copy in range(1, times + 1) for page in page_parts]
    pages = [page if page.rstrip().endswith(b"</page>") else page + b"</page>\n" for page in pages]
    random.Random(seed).shuffle(pages)
    streams, index, offset = [bz2.compress(head)], [], 0
    for first in range(0, len(pages), BLOCK):
        offset += len(streams[-1])
        index += [b"%d:%d:Page\n" % (offset, first + n) for n in range(len(pages[first : first + BLOCK]))]
        streams.append(bz2.compress(b"".join(pages[first : first + BLOCK])))
    streams.append(bz2.compress(b"</mediawiki>\n"))
    folder.mkdir(parents=True)
    (folder / DUMP).write_bytes(b"".join(streams))
    (folder / INDEX).write_bytes(bz2.compress(b"".join(index)))
    (folder / "record.json").write_text(json.dumps({"job": "sources dataset", "labels": []}))
    return head + b"".join(pages) + b"</mediawiki>\n"


def unpack(path: Path) -> int:
    """bz2 alone: bytes of XML."""
    size = 0
    with bz2.open(path) as handle:
        while block := handle.read(1 << 20):
            size += len(block)
    return size


def parse(xml: bytes) -> list[tuple[str, str]]:
    """lxml alone: (title, text) of the pages that are articles."""
    from lxml import etree

    articles = []
    for _, page in etree.iterparse(io.BytesIO(xml), events=("end",), tag="{*}page", huge_tree=True):
        title, space, redirect = page.findtext("{*}title"), page.findtext("{*}ns"), page.find("{*}redirect")
        text = page.findtext("{*}revision/{*}text")
        if title and space == "0" and redirect is None:
            articles.append((title, text))
        page.clear()
        while page.getprevious() is not None:
            del page.getparent()[0]
    return articles


def extraction(articles: list[tuple[str, str]], site: Any) -> dict[str, int]:
    """Extraction alone, wikitext to sentences with their links and sections: counts of links and sentences."""
    from stele.corpora.dumps.xml_dump import Page
    from stele.corpora.wikipedia import to_document
    from stele.corpora.wikitext.paragraphs import extract

    links = sentences = 0
    for title, text in articles:
        document = to_document(Page(title, 0, title, None, text, "wikitext"), extract(text, site), "en")
        if document is not None:
            links, sentences = links + len(document.links), sentences + len(document.sentences)
    return {"links": links, "sentences": sentences}


def arguments(folder: Path, name: str, shard: str) -> SimpleNamespace:
    output = folder / name / "record.json"
    return SimpleNamespace(language="en", dataset=folder / "dump/record.json", shard=shard, output=output, limit=None)


def processes(folder: Path, shards: int) -> float:
    """Wall seconds of `shards` processes side by side, each with its shard."""
    begun, running = time.perf_counter(), []
    for shard in range(1, shards + 1):
        given = vars(arguments(folder, f"{shard}-of-{shards}", f"{shard}/{shards}"))
        flags = [text for key, value in given.items() if value is not None for text in (f"--{key}", str(value))]
        command = [sys.executable, "-m", "stele", "corpora", "wikipedia", *flags]
        running.append(subprocess.Popen(command, env={**os.environ, "PYTHONPATH": SOURCE}, stderr=subprocess.DEVNULL))
    if any(process.wait() for process in running):
        raise SystemExit("a shard failed")
    return time.perf_counter() - begun


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """(wall, CPU) seconds and the result."""
    wall, cpu = time.perf_counter(), time.process_time()
    actual = work()
    return time.perf_counter() - wall, time.process_time() - cpu, actual


def measure(excerpt: bytes, times: int, repetitions: int, folder: Path) -> dict[str, Any]:
    """The figures of the module's docstring, and the counts that show that all did the same work."""
    from stele.corpora import wikipedia
    from stele.corpora.dumps.dump_files import find_dump
    from stele.corpora.dumps.xml_dump import read_dump

    xml = replicate(excerpt, folder / "dump", times)
    site = next(read_dump(find_dump(folder / "dump")))
    articles = parse(xml)
    work = {
        "bz2": lambda: unpack(folder / "dump" / DUMP),
        "lxml": lambda: len(parse(xml)),
        "extraction": lambda: extraction(articles, replace(site)),  # a new one: it remembers titles
        "whole": lambda: wikipedia.run(arguments(folder, "whole", "1/1")),
    }
    runs: dict[str, list[tuple[float, float, Any]]] = {name: [] for name in work}
    one, two = [], []
    for _ in range(repetitions):
        for name, call in work.items():
            runs[name].append(timed(call))
        one.append(processes(folder, 1))
        two.append(processes(folder, 2))
    collected: dict[str, Any] = {"xml_bytes": len(xml), "pages": xml.count(b"<page>")}
    for clock, at in (("wall", 0), ("cpu", 1)):
        seconds = {name: statistics.median(run[at] for run in runs[name]) for name in work}
        parts = sum(seconds[name] for name in ("bz2", "lxml", "extraction"))
        collected[f"{clock}_seconds"] = {name: round(value, 3) for name, value in seconds.items()}
        collected[f"{clock}_whole_to_parts"] = round(parts / seconds["whole"], 3)
        collected[f"{clock}_whole_to_bz2"] = round(seconds["bz2"] / seconds["whole"], 3)
        collected[f"{clock}_mb_per_second"] = {n: round(len(xml) / 1e6 / value, 1) for n, value in seconds.items()}
    collected["two_shards"] = round(statistics.median(a / b for a, b in zip(one, two, strict=True)), 3)
    records = {
        name: json.loads((folder / name / "record.json").read_text())
        for name in ("whole", "1-of-1", "1-of-2", "2-of-2")
    }
    counted = ("documents", "links", "sentences", "redirects")
    collected["counts"] = {name: {key: record[key] for key in counted} for name, record in records.items()}
    collected["alone"] = {"xml_bytes": runs["bz2"][0][2], "articles": runs["lxml"][0][2], **runs["extraction"][0][2]}
    return collected


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with wikipedia_dumps/enwiki*.xml*.bz2")
    parser.add_argument("--times", type=int, default=10, help="how often the excerpt's pages are repeated")
    parser.add_argument("--repetitions", type=int, default=3)
    args = parser.parse_args()
    excerpt = bz2.decompress(next((args.data / "wikipedia_dumps").glob("enwiki*.bz2")).read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(excerpt, args.times, args.repetitions, Path(folder))))


if __name__ == "__main__":
    main()
