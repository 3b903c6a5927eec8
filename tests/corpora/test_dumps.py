"""Dumps of every packing are read alike; shards together are the whole; damage is an error that names the file."""

import bz2
import gzip
import lzma
import random
import re
from itertools import pairwise

import pytest

from stele.corpora.dumps import xml_dump as dumps
from stele.corpora.dumps.dump_files import find_dump, read_blocks
from stele.corpora.dumps.xml_dump import block_offsets, read_dump, shard_part
from stele.corpora.wikitext.titles import Site
from stele.errors import SteleError


@pytest.fixture
def filled(wiki):
    for i in range(23):
        wiki.add(f"Page {i}", f"Text {i} of 'page' & <ref>x</ref>. " + "word " * (i * 40 % 500))
    wiki.add("Old", "#REDIRECT [[Page 1]]", redirect="Page 1")
    wiki.add("Talk:Page 1", "hello", namespace=1)
    wiki.add("Code", "x = 1", model="javascript")
    return wiki


def items(folder, shard=1, shards=1):
    site, *pages = list(read_dump(find_dump(folder), shard, shards))
    assert isinstance(site, Site)
    return site, pages


@pytest.mark.parametrize("packing", ["plain", "bzip2", "multistream"])
def test_every_packing_gives_the_same_pages(filled, packing):
    if packing == "multistream":
        filled.multistream()
    else:
        filled.write("xwiki-1-pages-articles.xml" + (".bz2" if packing == "bzip2" else ""), filled.xml().encode())
    site, pages = items(filled.folder)
    assert site == Site("en", True, {"Special": -1, "Talk": 1, "File": 6, "Template": 10, "Category": 14})
    assert [p.title for p in pages] == [title for title, _ in filled.pages]
    assert pages[3].text == "Text 3 of 'page' & <ref>x</ref>. " + "word " * 120
    assert [(p.namespace, p.redirect, p.model, p.page_id) for p in pages[-3:]] == [
        (0, "Page 1", "wikitext", "24"), (1, None, "wikitext", "25"), (0, None, "javascript", "26"),
    ]  # fmt: skip


@pytest.mark.parametrize("shards", [2, 3, 5, 13, 40])
def test_shards_part_the_pages(filled, shards):
    filled.multistream(pages_per_block=2)
    _, whole = items(filled.folder)
    parts = [items(filled.folder, shard, shards)[1] for shard in range(1, shards + 1)]
    assert [page for part in parts for page in part] == whole
    if shards == 2:
        assert all(parts)


def test_shards_have_about_equal_bytes():
    offsets = list(range(1000, 101_000, 700))
    for shards in (1, 2, 7, 16):
        ranges = [shard_part(offsets, 101_000, i, shards) for i in range(1, shards + 1)]
        assert ranges[0].begin == 1000 and ranges[-1].end == 101_000
        assert all(a.end == b.begin for a, b in pairwise(ranges))
        assert all(abs(part.end - part.begin - 100_000 / shards) <= 700 for part in ranges)
        assert all(part.begin in offsets and part.header == 1000 for part in ranges)


BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
COMMENTED = b'<!-- <mediawiki> --><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><!-- x -->'
# as UTF-8 all of it is a comment, as UTF-7 the comment ends
UTF_7 = b'<?xml version="1.0" encoding="utf-7"?><!-- +AC0ALQA+-<!DOCTYPE x [<!ENTITY a "aaaa">]><!+AC0ALQ- x -->'


def flipped(data):
    packed = bytearray(bz2.compress(data))
    packed[len(packed) // 2] ^= 0xFF
    return bytes(packed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[: len(data) // 2], "damaged or truncated XML"),
        (lambda data: data.replace(b"</mediawiki>", b""), "damaged or truncated XML after page 'Code'"),
        (lambda data: data.replace(b"</page>", b"</pag>", 1), "damaged or truncated XML"),
        (lambda data: BOMB + data.replace(b"Text 1 ", b"&b;"), "declares a document type"),
        (lambda data: COMMENTED + data.replace(b"Text 1 ", b"&a;"), "declares a document type"),
        (lambda data: UTF_7 + data, "declares a document type"),
        (lambda data: data.replace(b"Text 1 ", b"&undeclared;"), "damaged or truncated XML after page 'Page 0'"),
        (lambda data: re.sub(rb"<siteinfo>.*?</siteinfo>", b"", data, flags=re.S), "without a <siteinfo>.*copy it"),
        (lambda data: b"<html><body>Not found</body></html>", "not a MediaWiki export"),
        (lambda data: data.decode().encode("utf-16"), "not a MediaWiki export"),
        (lambda data: bz2.compress(data)[:-200], "cut short"),
        (flipped, "damaged"),
    ],
)
def test_damaged_dumps_are_named(filled, change, message):
    data = change(filled.xml().encode())
    filled.write("xwiki-1-pages-articles.xml" + (".bz2" if data.startswith(b"BZh") else ""), data)
    with pytest.raises(SteleError, match=rf"xwiki-1-pages-articles.*{message}"):
        items(filled.folder)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("no index at all\n", "not a multistream index: line b'no index at all'"),
        ("616:1:Page 0\n616:2\n", "not a multistream index: line b'616:2'"),
        ("99999999:1:Page 0\n", "a block at byte 99999999 .*do not match"),
        ("500:1:Page 0\n99999999:3:Page 2\n", "a block at byte 99999999 .*do not match"),
        ("900:1:Page 0\n500:3:Page 2\n", "a block at byte 500 after one at 900.*do not match"),
        ("0:1:Page 0\n", "do not match"),
        ("300:1:Page 0\n900:3:Page 2\n", "bytes 0 to 300, as its index says: .*cut short"),
        ("{second}:3:Page 2\n{third}:5:Page 4\n", "pages before byte"),
        ("{first}:1:Page 0\n{wrong}:3:Page 2\n", "as its index says: (damaged|.*cut short)"),
    ],
)
def test_an_index_that_does_not_match(filled, lines, message):
    filled.multistream()
    (dump,) = find_dump(filled.folder)
    first, second, third = list(block_offsets(dump.index))[:3]
    wrong = (first + dump.articles.stat().st_size) // 2 + 7
    lines = lines.format(first=first, second=second, third=third, wrong=wrong)
    dump.index.write_bytes(bz2.compress(lines.encode()))
    with pytest.raises(SteleError, match=rf"xwiki-1-pages-articles-multistream\.xml\.bz2.*{message}"):
        for shard in (1, 2):
            items(filled.folder, shard, 2)


def test_an_index_is_read_no_further_than_needed():
    def offsets():
        yield from (100, 200, 300, 400, 500)
        raise AssertionError("read on")

    assert shard_part(offsets(), 1000, 1, 4) == (100, 100, 300)
    with pytest.raises(AssertionError):
        shard_part(offsets(), 1000, 4, 4)  # the last shard checks that the dump has all blocks


def test_an_index_of_another_dump_is_not_taken(filled):
    filled.multistream()
    (index := find_dump(filled.folder)[0].index).rename(index.with_name(index.name.replace("xwiki-1", "xwiki-2")))
    assert find_dump(filled.folder)[0].index is None


@pytest.mark.parametrize("packing", ["plain", "bzip2", "multistream without index"])
def test_a_dump_without_blocks_is_the_first_shard_whole(filled, packing):
    if packing == "multistream without index":
        filled.multistream()
        find_dump(filled.folder)[0].index.unlink()
    else:
        filled.write("xwiki-1-pages-articles.xml" + (".bz2" if packing == "bzip2" else ""))
    site, whole = items(filled.folder)
    assert [items(filled.folder, shard, 3) for shard in (1, 2, 3)] == [(site, whole), (site, []), (site, [])]
    assert not find_dump(filled.folder)[0].can_be_cut() and len(whole) == 26


def test_an_empty_wiki_whose_index_has_no_block_has_no_pages(wiki):
    wiki.multistream()
    assert [items(wiki.folder, shard, 2)[1] for shard in (1, 2)] == [[], []]


def test_a_page_without_end_is_not_waited_for(filled, monkeypatch):
    monkeypatch.setattr(dumps, "LARGEST_PAGE", 3 << 20)
    filled.add("Big", "word " * 500_000)
    filled.write()
    assert len(items(filled.folder)[1]) == 27
    filled.add("Bomb", "word " * 1_000_000)
    filled.write()
    with pytest.raises(SteleError, match="no page ends within 3 MB"):
        items(filled.folder)


def test_a_file_that_a_dump_lacks_is_named(filled, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.txt").write_text("x")
    with pytest.raises(
        SteleError, match=r"want one \{wiki\}.*pages-articles1\.xml|articles.*found 0 such files \(files: notes.txt\)"
    ):
        find_dump(tmp_path / "empty")
    filled.write()
    filled.write("ywiki-1-pages-articles.xml")
    with pytest.raises(SteleError, match="found 2"):
        find_dump(filled.folder)


def parts(wiki, sizes=(4, 1, 2), packed=True):
    """The pages of a wiki in parts as Wikimedia names them, of so many pages each; the last part takes the rest."""
    pages, first = list(wiki.pages), 0
    for number, size in enumerate(sizes, 1):
        last = len(pages) if number == len(sizes) else first + size
        wiki.pages = pages[first:last]
        wiki.write(f"xwiki-1-pages-articles{number}.xml-p{first + 1}p{last}" + (".bz2" if packed else ""))
        first = last
    wiki.pages = pages
    return wiki.record()


@pytest.mark.parametrize("packed", [True, False])
def test_a_dump_in_parts_is_read_in_the_order_of_its_pages(filled, packed):
    filled.write()
    _, whole = items(filled.folder)
    (filled.folder / "xwiki-1-pages-articles.xml").unlink()
    parts(filled, sizes=(1, 2, 3, 4, 1, 1, 1, 1, 1, 1, 1), packed=packed)  # part 10 comes before part 2 by its name
    pages = [page for page in read_dump(find_dump(filled.folder)) if not isinstance(page, Site)]
    assert pages == whole
    for shards in (1, 2, 3, 20):
        shared = [page for n in range(shards) for page in read_dump(find_dump(filled.folder), n + 1, shards)]
        assert [page for page in shared if not isinstance(page, Site)] == whole


def test_parts_go_through_the_command_and_gaps_are_noted(filled, run):
    record = parts(filled)
    whole, halves = (
        run("wikipedia", record),
        [run("wikipedia", record, "--shard", f"{n}/2", output=f"o{n}") for n in (1, 2)],
    )
    assert whole.record["documents"] == sum(half.record["documents"] for half in halves) == 23
    assert all(half.record["documents"] for half in halves) and "parts are missing" not in str(whole.record["notes"])
    filled.write(begun := "xwiki-1-pages-articles-multistream1.xml-p1p4.bz2")  # of a download that was given up
    assert run("wikipedia", record, output="both").record["documents"] == 23
    (filled.folder / begun).unlink()
    next(filled.folder.glob("*p5p5*")).unlink()
    assert run("wikipedia", record, output="gap").record["notes"][0] == "parts are missing: no file has pages p5p5"
    (first,) = filled.folder.glob("*articles1.*")
    late = first.rename(str(first).replace("-p1p", "-p3p"))  # a wiki's first page may have a later id
    assert "pages p5p5" in run("wikipedia", record, output="late").record["notes"][0]
    late.unlink()
    assert "no file has pages p1p5" in run("wikipedia", record, output="first").record["notes"][0]


@pytest.mark.parametrize(
    "other",
    [
        "xwiki-1-pages-articles.xml.bz2",
        "xwiki-1-pages-articles9.xml-p26p30.bz2",
        "ywiki-1-pages-articles9.xml-p90p99.bz2",
        "xwiki-2-pages-articles9.xml-p90p99.bz2",
    ],
)
def test_files_that_are_no_parts_of_one_dump_are_refused(filled, other):
    parts(filled)
    filled.write(other)
    with pytest.raises(SteleError, match=r"all of its parts, -pages-articles1\.xml-p1p41242.*found 4 such files"):
        find_dump(filled.folder)


def test_each_part_of_a_multistream_dump_has_its_own_index(filled):
    for name in ("1.xml-p1p9", "2.xml-p10p30"):
        filled.write(f"xwiki-1-pages-articles-multistream{name}.bz2")
        filled.write(f"xwiki-1-pages-articles-multistream-index{name.replace('xml', 'txt')}.bz2")
    names = [(dump.articles.name, dump.index.name) for dump in find_dump(filled.folder)]
    assert names == [
        (
            f"xwiki-1-pages-articles-multistream{n}.xml-{ids}.bz2",
            f"xwiki-1-pages-articles-multistream-index{n}.txt-{ids}.bz2",
        )
        for n, ids in ((1, "p1p9"), (2, "p10p30"))
    ]


# --- compressed files; damaged ones: tests/files/test_reading.py ------------------------------------------------------
DATA = random.Random(0).randbytes(50_000) + b"text " * 400_000
PARTS = [DATA[:30_000], DATA[30_000:60_000], DATA[60_000:]]


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress, bytes])
def test_streams_come_back_whole_and_in_small_blocks_with_progress(tmp_path, compress):
    (path := tmp_path / "file.bin").write_bytes(b"".join(map(compress, PARTS)))
    read = []
    blocks = list(read_blocks(path, progress=read.append))
    assert b"".join(blocks) == DATA and sum(read) == path.stat().st_size
    assert max(map(len, blocks)) <= 1 << 20


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "no such file; fetch"),
        (b"", "file is empty"),
        (gzip.compress(b"x", mtime=0), "gzip"),
        (b"PK\x03\x04abc", "zip"),
    ],
)
def test_files_that_are_missing_or_not_compressed_are_refused(tmp_path, data, message):
    path = tmp_path / "file.bin"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(SteleError, match=rf"file\.bin.*{message}"):
        list(read_blocks(path))
