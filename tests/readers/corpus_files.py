"""Dumps and their like."""

import bz2
import gzip
import json
import lzma
from collections import Counter
from pathlib import Path

from stele.corpora import cc100
from stele.corpora.dumps import dump_files, sql_dump
from stele.corpora.dumps import xml_dump as dumps
from stele.encoders.word_vectors import read_word_vectors
from stele_world.writers.dump import items_per_site
from tests.readers.files import Reader, whole

XML = b"""<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="en">
<siteinfo><dbname>enwiki</dbname><case>first-letter</case>
<namespaces><namespace key="0" /><namespace key="6">File</namespace>
</namespaces></siteinfo>
<page><title>One</title><ns>0</ns><id>1</id>
<revision><id>1</id><model>wikitext</model><text>A &lt;b&gt; [[Two]].</text></revision></page>
<page><title>Two</title><ns>0</ns><id>2</id><redirect title="One" />
<revision><id>2</id><text>#REDIRECT [[One]]</text></revision></page>
</mediawiki>
"""
ABOUT = {
    "namespaces": {"6": {"id": 6, "*": "File", "canonical": "File"}},
    "namespacealiases": [{"id": 6, "*": "Image"}],
}
SITE = json.dumps({"query": ABOUT}).encode()
SQL = items_per_site([(5, "enwiki", "One"), (6, "swwiki", "It's")])


def dump(path: Path) -> None:
    whole(dumps.read_dump([dump_files.DumpFiles(path)]))


CORPORA: dict[str, Reader] = {
    "dump": ("xwiki-1-pages-articles.xml", XML, dump),
    "dump, bzip2": ("xwiki-1-pages-articles.xml.bz2", bz2.compress(XML), dump),
    "index of a dump": (
        "index.txt.bz2",
        bz2.compress(b"100:1:One\n100:2:Two\n250:3:Three\n"),
        lambda path: dumps.shard_part(dumps.block_offsets(path), 999, 1, 2),
    ),
    "siteinfo": ("xwiki-siteinfo-namespaces.json.gz", gzip.compress(SITE), dump_files.read_siteinfo),
    "sitelinks": (
        "wb_items_per_site.sql.gz",
        gzip.compress(SQL),
        lambda path: whole(sql_dump.read_rows(path, ["enwiki"], lambda read: None)),
    ),
    "CC-100": (
        "sw.txt.xz",
        lzma.compress(b"moja\nmbili\n\ntatu\n"),
        lambda path: whole(cc100.read_texts(dump_files.read_blocks(path), str(path), Counter())),
    ),
    "vectors of words": (
        "wiki.sw.align.vec",
        b"3 2\nmoja 0.1 -0.25\nmbili 1e-05 3\ntatu -1 0.5\n",
        lambda path: read_word_vectors(path, {"moja", "tatu"}),
    ),
}
