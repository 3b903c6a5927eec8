"""The dumps, read back with independent readers: bz2 by offset, lxml, a tuple-by-tuple SQL reader.

That articles and links come back as they were told: tests/corpora/test_generated.py.
"""

import ast
import bz2
import hashlib
import json
import re

import pytest
from lxml import etree

NS = "{http://www.mediawiki.org/xml/export-0.10/}"
LANGUAGES = ["en", "ar", "de", "ja", "th"]


def stem(language):
    return f"https://dumps.wikimedia.org/{language}wiki/20220801/{language}wiki-20220801"


def dump(generated, language):
    return etree.fromstring(generated.open(f"{stem(language)}-pages-articles-multistream.xml.bz2"))


def pages(generated, language):
    """[(namespace, title, redirect or None, text)] of a dump."""
    collected = []
    for page in dump(generated, language).iter(f"{NS}page"):
        redirect = page.find(f"{NS}redirect")
        text = page.findtext(f"{NS}revision/{NS}text")
        collected.append((int(page.findtext(f"{NS}ns")), page.findtext(f"{NS}title"), redirect, text))
    return collected


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_index_line_leads_to_a_stream_that_holds_the_page(generated, language):
    data = generated.path(f"{stem(language)}-pages-articles-multistream.xml.bz2").read_bytes()
    lines = generated.open(f"{stem(language)}-pages-articles-multistream-index.txt.bz2").decode().splitlines()
    streams = {}
    for line in lines:
        offset, number, title = line.split(":", 2)
        if offset not in streams:
            block = bz2.BZ2Decompressor().decompress(data[int(offset) :])
            root = etree.fromstring(b"<pages>" + block + b"</pages>")
            streams[offset] = {p.findtext("id"): p.findtext("title") for p in root}
        assert streams[offset].pop(number) == title
    assert not any(streams.values())
    assert len(lines) == generated.manifest["counts"]["wikipedia"]["pages"][language] == len(pages(generated, language))


def test_blocks_have_a_hundred_pages_and_the_header_is_a_stream_of_its_own():
    from stele_world.writers.dump import Page, multistream

    made = [Page(n, 0, f"Title {n}", f"Text {n} & <b>") for n in range(1, 251)]
    data, raw, index = multistream("en", "enwiki", made)
    offsets = sorted({int(line.split(":")[0]) for line in index.decode().splitlines()})
    blocks = [bz2.BZ2Decompressor().decompress(data[o:]).count(b"<page>") for o in offsets]
    assert blocks == [100, 100, 50]
    assert b"</siteinfo>" in bz2.BZ2Decompressor().decompress(data) and bz2.decompress(data) == raw
    etree.fromstring(raw)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_siteinfo_beside_a_dump_agrees_with_its_header(generated, language):
    answer = json.loads(generated.open(f"{stem(language)}-siteinfo-namespaces.json.gz"))["query"]
    header = {int(n.get("key")): n.text or "" for n in dump(generated, language).iter(f"{NS}namespace")}
    assert {space["id"]: space["*"] for space in answer["namespaces"].values()} == header
    assert answer["namespaces"]["6"]["canonical"] == "File" and answer["general"]["dbname"] == f"{language}wiki"
    aliases = [(alias["id"], alias["*"]) for alias in answer["namespacealiases"]]
    assert (6, "Image") in aliases and {number for number, _ in aliases} <= set(header)
    words = next(word["aliases"] for word in answer["magicwords"] if word["name"] == "redirect")
    used = {text.split(" [[")[0].upper() for _, _, redirect, text in pages(generated, language) if redirect is not None}
    assert used <= {word.upper() for word in words}


def test_links_are_written_in_many_ways(generated):
    text = "\n".join(t for ns, _, r, t in pages(generated, "en") if ns == 0 and r is None)
    prefix, redirects = "File:", {title for _, title, r, _ in pages(generated, "en") if r is not None}
    links = re.findall(r"\[\[([^\]|]+)(\|[^\]]+)?\]\]", text)
    assert any(shown == "" for _, shown in links) and any(shown for _, shown in links)
    assert any("#" in t for t, _ in links) and any("_" in t for t, _ in links)
    assert any(t[0].islower() and not t.startswith(prefix) for t, _ in links)
    assert any(t in redirects for t, _ in links)
    assert re.search(r"\[\[File:[^\]]*\|thumb\|[^\[\]]*\[\[", text), "no caption with a link in it"
    for piece in ("<ref", "{{Infobox", '{| class="wikitable', "<!--", "&nbsp;", "[[Category:", "== ", "'''"):
        assert piece in text, piece


@pytest.mark.parametrize("language", LANGUAGES)
def test_redirects_lead_to_pages_and_titles_are_unique_and_capitalised(generated, language):
    actual = pages(generated, language)
    titles = [title for _, title, _, _ in actual]
    assert len(set(titles)) == len(titles)
    assert all(title == title[:1].upper() + title[1:] for title in titles)
    redirects = [(title, r.get("title"), text) for _, title, r, text in actual if r is not None]
    assert redirects
    for title, leads_to, text in redirects:
        assert leads_to in titles and leads_to != title
        assert re.match(r"#\S+ \[\[" + re.escape(leads_to), text)
    assert {10, 14, 4, 828} <= {ns for ns, _, _, _ in actual}


def test_a_disambiguation_page_leads_to_the_articles_that_share_a_name(generated):
    actual = pages(generated, "en")
    marked = [(title, text) for ns, title, r, text in actual if ns == 0 and r is None and "{{Disambig}}" in text]
    assert "__DISAMBIG__" in next(text for _, title, _, text in actual if title == "Template:Disambig")
    ((name, text),) = marked
    shared = [a.title for a in generated.world.articles("en") if a.title.startswith(f"{name} ")]
    assert re.findall(r"\[\[(.*?)\]\]", text) == shared and len(shared) > 1


def test_page_ids_increase_and_each_sha1_is_that_of_the_text(generated):
    root = dump(generated, "ar")
    ids = [int(p.findtext(f"{NS}id")) for p in root.iter(f"{NS}page")]
    assert ids == sorted(set(ids))
    for revision in root.iter(f"{NS}revision"):
        text = revision.find(f"{NS}text")
        assert int(text.get("bytes")) == len(text.text.encode())
        assert int(revision.findtext(f"{NS}sha1"), 36) == int(hashlib.sha1(text.text.encode()).hexdigest(), 16)


@pytest.mark.parametrize("wiki", ["enwiki", "thwiki", "wikidatawiki"])
def test_a_checksum_file_has_the_other_files_of_its_folder(generated, wiki):
    folder = generated.path(f"https://dumps.wikimedia.org/{wiki}/20220801")
    sums = (folder / f"{wiki}-20220801-sha1sums.txt").read_text().splitlines()
    others = [path for path in folder.iterdir() if not path.name.endswith("sums.txt")]
    assert sorted(sums) == sorted(f"{hashlib.sha1(path.read_bytes()).hexdigest()}  {path.name}" for path in others)


def rows_of(sql):
    """The tuples of all INSERT lines: each is a Python tuple once its literals are read as Python's."""
    for line in sql.splitlines():
        if line.startswith("INSERT INTO `wb_items_per_site` VALUES "):
            yield from ast.literal_eval("[" + line.partition(" VALUES ")[2].rstrip(";") + "]")


def test_the_wikidata_table_names_the_item_of_every_article(generated):
    url = "https://dumps.wikimedia.org/wikidatawiki/20220801/wikidatawiki-20220801-wb_items_per_site.sql.gz"
    rows = list(rows_of(generated.open(url).decode()))
    assert len(rows) == generated.manifest["counts"]["wikidata_items"]["rows"]
    assert [n for n, *_ in rows] == list(range(1, len(rows) + 1))
    for language in generated.world.languages:
        wanted = {(f"Q{item}", title) for _, item, site, title in rows if site == f"{language}wiki"}
        assert wanted == {(a.entity, a.title) for a in generated.world.articles(language)}


def test_sql_literals_are_escaped_as_mysqldump_does():
    from stele_world.writers.dump import items_per_site

    titles = ["Rock 'n' roll", 'The "Title"', "back\\slash", "ไทย, (1)"]
    sql = items_per_site((n, "enwiki", title) for n, title in enumerate(titles)).decode()
    assert "'Rock \\'n\\' roll'" in sql
    assert [title for *_, title in rows_of(sql)] == titles
