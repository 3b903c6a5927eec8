"""Wikipedia's dumps, wikitext, newswire and Tatoeba's exports."""

import bz2
import gzip
import io
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.speed.table import ROOT, Unavailable, same, speed

# --- dumps ------------------------------------------------------------------------------------------------------------
BLOCK = 100  # pages
DUMP = "xwiki-1-pages-articles-multistream.xml.bz2"
INDEX = "xwiki-1-pages-articles-multistream-index.txt.bz2"


def real_excerpt() -> bytes:
    """The XML of an excerpt of enwiki's dump (STELE_REAL_DATA)."""
    folder = Path(os.environ.get("STELE_REAL_DATA", "nowhere")) / "wikipedia_dumps"
    path = next(iter(sorted(folder.glob("enwiki*.bz2"))), None)
    if path is None:
        raise Unavailable("STELE_REAL_DATA names no folder with wikipedia_dumps/enwiki*.bz2")
    return bz2.decompress(path.read_bytes())


def made_excerpt() -> bytes:
    """The XML of 60 short articles, a redirect and a template."""
    from stele_world.writers.dump import Page, multistream

    texts = ["'''One''' is [[two]]. It has [[three|3]].\n\n* A [[list]].", "Two. Three."] * 30
    pages = [Page(n, 0, f"Page {n}", text) for n, text in enumerate(texts)]
    pages += [Page(100, 0, "Old", "#REDIRECT [[Page 1]]", redirect="Page 1"), Page(101, 10, "Template:A", "x")]
    return multistream("en", "enwiki", pages)[1]


def replicate(excerpt: bytes, folder: Path, times: int) -> bytes:
    """Writes a multistream dump of an excerpt's pages, `times` over, shuffled, and its index; returns its XML."""
    head, _, rest = excerpt.partition(b"  <page>")
    parts = [b"  <page>" + page for page in rest.rpartition(b"</page>")[0].split(b"  <page>")]
    # a page is there once: each copy has ids of its own
    pages = [page.replace(b"<id>", b"<id>%d" % copy, 1) for copy in range(1, times + 1) for page in parts]
    pages = [page if page.rstrip().endswith(b"</page>") else page + b"</page>\n" for page in pages]
    random.Random(0).shuffle(pages)
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


def unpack(path: Path) -> None:
    with bz2.open(path) as handle:
        while handle.read(1 << 20):
            pass


def parse(xml: bytes) -> list[tuple[str, str]]:
    """lxml alone: (title, text) of the pages that are articles."""
    from lxml import etree

    articles = []
    for _, element in etree.iterparse(io.BytesIO(xml), events=("end",), tag="{*}page", huge_tree=True):
        title, space, redirect = element.findtext("{*}title"), element.findtext("{*}ns"), element.find("{*}redirect")
        text = element.findtext("{*}revision/{*}text")
        if title and space == "0" and redirect is None:
            articles.append((title, text))
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]
    return articles


def extraction(articles: list[tuple[str, str]], site: Any) -> dict[str, int]:
    """Extraction alone, wikitext to sentences with their links: counts as the record has them."""
    from stele.corpora.dumps.xml_dump import Page
    from stele.corpora.wikipedia import to_document
    from stele.corpora.wikitext.paragraphs import extract

    counts = {"documents": 0, "links": 0, "sentences": 0}
    for title, text in articles:
        document = to_document(Page(title, 0, title, None, text, "wikitext"), extract(text, site), "en")
        if document is not None:
            counts["documents"] += bool(document.sentences)
            counts["links"] += len(document.links)
            counts["sentences"] += len(document.sentences)
    return counts


def of_shards(folder: Path, shards: int) -> list[SimpleNamespace]:
    """The arguments of a job for each shard."""
    names = [f"{number}-of-{shards}" for number in range(1, shards + 1)]
    return [
        SimpleNamespace(
            language="en",
            dataset=folder / "dump/record.json",
            shard=name.replace("-of-", "/"),
            output=folder / name / "record.json",
            limit=None,
        )
        for name in names
    ]


def counted(jobs: Iterable[SimpleNamespace]) -> dict[str, int]:
    records = [json.loads(job.output.read_text()) for job in jobs]
    return {key: sum(record[key] for record in records) for key in ("documents", "links", "sentences")}


@speed(
    {"bz2, lxml and extraction, each by itself": 0.9},
    size={"excerpt": real_excerpt, "times": 10},
    tiny={"excerpt": made_excerpt, "times": 2},
)
def dump_to_documents(folder, excerpt, times):
    """The command `corpora wikipedia` beside the parts that it is made of."""
    from stele.corpora import wikipedia
    from stele.corpora.dumps.dump_files import find_dump
    from stele.corpora.dumps.xml_dump import read_dump

    xml = replicate(excerpt(), folder / "dump", times)
    site = next(read_dump(find_dump(folder / "dump")))
    (job,) = of_shards(folder, 1)

    def ours():
        wikipedia.run(job)
        return counted([job])

    def parts():
        unpack(folder / "dump" / DUMP)
        return extraction(parse(xml), replace(site))  # a new one: it remembers titles

    return ours, [parts], same


@speed(
    {"one process": 1.8},
    size={"excerpt": real_excerpt, "times": 10},
    tiny={"excerpt": made_excerpt, "times": 5},
    unit="s of wall time",
)
def two_shards(folder, excerpt, times):
    """A dump read by two processes side by side, a shard each, start-ups included."""
    replicate(excerpt(), folder / "dump", times)
    jobs, counts = {shards: of_shards(folder, shards) for shards in (1, 2)}, {}

    def seconds(shards):
        begin, running = time.perf_counter(), []
        for job in jobs[shards]:
            flags = [text for key, value in vars(job).items() if value is not None for text in (f"--{key}", str(value))]
            command = [sys.executable, "-m", "stele", "corpora", "wikipedia", *flags]
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
            running.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
        if any([process.wait() for process in running]):
            raise SystemExit("a shard failed")
        counts[shards] = counted(jobs[shards])
        return time.perf_counter() - begin

    return lambda: seconds(2), [lambda: seconds(1)], lambda a, b: counts[1] == counts[2]


# --- wikitext ---------------------------------------------------------------------------------------------------------
def enter_extractor(name: str, wanted: float, real: bool) -> None:
    """Enters text and links by ours beside the text alone by another extractor."""
    pages = "set-aside pages of real dumps" if real else "made pages of three kinds"

    @speed({f"{name}, text alone": wanted}, size={"most": 10_000}, tiny={"most": 3}, name=f"wikitext, {pages}, {name}")
    def wikitext(folder, most):
        from tests.speed.wikitext import half, ours_on, real_wikis, theirs_on
        from tests.speed.wikitext_pages import made_wikis
        from tests.speed.wikitext_peers import peers

        data = os.environ.get("STELE_REAL_DATA")
        if real and not data:
            raise Unavailable("STELE_REAL_DATA names no folder of real dumps")
        wikis = (
            [half(wiki, aside=True) for wiki in real_wikis(Path(data) / "wikipedia_dumps")] if real else made_wikis()
        )
        wikis = [wiki._replace(articles=wiki.articles[:most]) for wiki in wikis]
        others, missing = peers(wikis[0].site)
        if name in missing:
            raise Unavailable(missing[name])
        ours = lambda: [text for wiki in wikis for text in ours_on(wiki)]  # noqa: E731
        theirs = lambda: [text for wiki in wikis for text in theirs_on(wiki, others[name])]  # noqa: E731
        return ours, [theirs], lambda a, b: len(a) == len(b)


for peer, floor in {"wikiextractor": 2, "mwparserfromhell": 2, "wikitextparser": 2, "gensim": 1}.items():
    enter_extractor(peer, floor, real=False)
    enter_extractor(peer, floor, real=True)


# --- newswire ---------------------------------------------------------------------------------------------------------
LETTERS = {"ar": ("utf-8", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"), "es": ("iso-8859-1", "abcdefghijlmnopqrstuvzáéíóúñ")}
DOCUMENT = re.compile(r"<DOC>\s*<DOCNO>\s*(.*?)\s*</DOCNO>.*?<TEXT>(.*?)</TEXT>.*?</DOC>", re.DOTALL)
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
FILES = 8


def make_newswire(folder: Path, language: str, megabytes: float, packed: bool, single: bool) -> None:
    """Documents of about 2.5 kB in TREC's SGML, some with entities; `single`: a file a document."""
    encoding, letters = LETTERS[language]
    draws = np.random.default_rng(0)
    vocabulary = ["".join(draws.choice(list(letters), draws.integers(3, 9))) for _ in range(3000)]
    number = 0
    for place in range(FILES):
        texts: list[bytes] = []
        while sum(map(len, texts)) < megabytes * 1e6 / FILES:
            entity = " &amp;" * (number % 5 == 0)
            lines = (" ".join(vocabulary[w] for w in draws.integers(0, 3000, 60)) for _ in range(5))
            paragraphs = "".join(f"<P>\n{words}{entity}\n</P>\n" for words in lines)
            head = f"<DOC>\n<DOCNO> D{number:07} </DOCNO>\n<HEADLINE>\n{vocabulary[number % 3000]}\n</HEADLINE>\n"
            texts.append(f"{head}<TEXT>\n{paragraphs}</TEXT>\n</DOC>\n".encode(encoding))
            number += 1
        if single:
            (folder / str(place)).mkdir()
            for n, content in enumerate(texts):
                (folder / str(place) / f"{n:06}.txt").write_bytes(content)
        else:
            content = b"".join(texts)
            (folder / f"ism_{place}{'.gz' * packed}").write_bytes(gzip.compress(content, 6) if packed else content)


def newswire_case(name: str, language: str, packed: bool, single: bool) -> None:
    """Enters one layout: the texts of all documents, counted."""

    @speed(
        {"ir_datasets' TrecDocs": 1.0, "one regular expression a file": 0.3},
        size={"megabytes": 60},
        tiny={"megabytes": 1},
        name=f"newswire, {name}",
    )
    def newswire(folder, megabytes):
        from ir_datasets.formats import TrecDocs

        from stele.benchmarks.collection import AdHocCollection

        make_newswire(folder, language, megabytes, packed, single)
        encoding, given = LETTERS[language][0], SimpleNamespace(path=lambda force=True: folder)

        def regex():
            texts = 0
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
                for match in DOCUMENT.finditer(content.decode(encoding)):
                    texts += bool(TAG.sub(" ", match[2]).strip())
            return texts

        data = {"trec3_es": {"all": folder}}
        ours = lambda: sum(bool(passage.text) for passage in AdHocCollection().passages(data, language))  # noqa: E731
        documents = TrecDocs(given, encoding=encoding, parser="text")
        return ours, [lambda: sum(bool(doc.text) for doc in documents.docs_iter()), regex], same


newswire_case("UTF-8", "ar", False, False)
newswire_case("UTF-8 gzipped", "ar", True, False)
newswire_case("ISO-8859-1", "es", False, False)
newswire_case("a file a document", "ar", False, True)


# --- Tatoeba's exports ------------------------------------------------------------------------------------------------
RANKED = (  # about as many sentences each as the real ones have, the largest first
    *("eng", "rus", "ita", "epo", "deu", "tur", "ber", "kab", "fra", "por", "spa", "hun", "jpn", "heb", "nld", "ukr"),
    *("fin", "pol", "lit", "ces", "mkd", "cmn", "mar", "swe", "ara", "dan", "lat", "ell", "ron", "nob", "urd"),
)
ROWS = 100_000


def make_exports(folder: Path, sentences: int, links: int) -> None:
    """Both files; every hundredth link is dead, and links stand in both directions."""
    draws, words = np.random.default_rng(0), [f"w{number:x}" for number in range(5000)]
    shares = 1 / np.arange(1, len(RANKED) + 1)
    with open(folder / "sentences.csv", "w") as handle:
        for start in range(1, sentences + 1, ROWS):
            count = min(ROWS, sentences + 1 - start)
            languages = draws.choice(RANKED, count, p=shares / shares.sum())
            texts = draws.integers(0, len(words), (count, 6)).tolist()
            rows = zip(range(start, start + count), languages, texts, strict=True)
            handle.writelines(f"{i}\t{code}\t{' '.join([words[w] for w in text])} {i}.\n" for i, code, text in rows)
    with open(folder / "links.csv", "w") as handle:
        for start in range(0, links, ROWS):
            first = draws.integers(1, sentences + 1, min(ROWS, links - start) // 2)
            second = np.clip(first + draws.integers(-2000, 2000, len(first)), 1, sentences)
            second[draws.random(len(first)) < 0.01] = sentences + 1
            handle.writelines(f"{a}\t{b}\n{b}\t{a}\n" for a, b in zip(first.tolist(), second.tolist(), strict=True))


@speed(
    {"DuckDB's join of three tables": 0.5, "both files line by line, split at tabs": 0.3},
    size={"sentences": 13_000_000, "links": 25_000_000},
    tiny={"sentences": 200_000, "links": 400_000},
    rounds=1,
)
def tatoeba_exports(folder, sentences, links):
    """The links of CCP's 15 pairs; ours also chooses the sentences."""
    from stele import catalogue
    from stele.benchmarks import tatoeba_pairs
    from stele.benchmarks._files import name_in_files
    from stele.benchmarks.reader import sides

    pairs = catalogue.load("benchmarks")["tatoeba_pairs"]["languages"]
    make_exports(folder, sentences, links)

    def code_of(language):
        return name_in_files(language, "tatoeba")

    def ours():
        languages = list(dict.fromkeys(language for pair in pairs for language in sides(pair)))
        read = tatoeba_pairs.read_sentences(folder / "sentences.csv", [*map(code_of, languages)])
        places = [tuple(map(languages.index, sides(pair))) for pair in pairs]
        linked, _ = tatoeba_pairs.read_links(folder / "links.csv", read, places)
        for pair, of_pair in zip(pairs, linked, strict=True):
            tatoeba_pairs.drawn(list(tatoeba_pairs.fit(read, of_pair, False)), pair)
        return {pair: len(of_pair) for pair, of_pair in zip(pairs, linked, strict=True)}

    def by_duckdb():
        import duckdb

        connection = duckdb.connect(config={"threads": 1})
        layout = "delim='\\t', quote='', escape='', header=false, auto_detect=false"
        columns = {
            "sentences": "{'id': 'BIGINT', 'code': 'VARCHAR', 'text': 'VARCHAR'}",
            "links": "{'one': 'BIGINT', 'other': 'BIGINT'}",
        }
        for name, types in columns.items():
            source = f"read_csv('{folder / name}.csv', columns={types}, {layout})"
            connection.sql(f"CREATE TABLE {name} AS SELECT * FROM {source}")
        rows = connection.sql(
            "SELECT s.code, t.code, count(*) FROM (SELECT one, other FROM links UNION SELECT other, one FROM links) l "
            "JOIN sentences s ON s.id = l.one JOIN sentences t ON t.id = l.other GROUP BY ALL"
        ).fetchall()
        counts = {(one, other): number for one, other, number in rows}
        return {pair: counts.get(tuple(map(code_of, sides(pair))), 0) for pair in pairs}

    def by_line():
        for name in ("sentences", "links"):
            with open(folder / f"{name}.csv", "rb") as handle:
                for line in handle:
                    line.split(b"\t")

    return ours, [by_duckdb, by_line], lambda a, b: b is None or a == b
