"""What exports of every format say of their pages, and what the wiki's siteinfo adds."""

import gzip
import json

import pytest

from stele.artifacts.documents import read_documents
from stele.corpora.dumps.dump_files import LARGEST, find_dump
from stele.corpora.dumps.xml_dump import read_dump
from stele.corpora.wikitext.paragraphs import extract
from stele.errors import SteleError

MODELLED = "0.8"  # <model> since
FORMATS = [f"0.{n}" for n in range(6, 12)]


def since(version: str, first: str) -> bool:
    return int(version[2:]) >= int(first[2:])


def export(version: str) -> str:
    """Four pages as an export of this format has them (schemas: mediawiki.org/xml/export-{version}.xsd)."""

    def page(title, text, namespace=0, redirect="", model="wikitext"):
        mark = f'<redirect title="{redirect}" />' if redirect else ""
        kind = f"<model>{model}</model><format>text/x-wiki</format>" if since(version, MODELLED) else ""
        origin = "<origin>5</origin>" if since(version, "0.11") else ""
        more = ' bytes="9" sha1="abc"' if since(version, "0.10") else ""
        return (
            f"<page><title>{title}</title><ns>{namespace}</ns><id>7</id>"
            f"{mark}<revision><id>5</id><timestamp>2008-01-01T00:00:00Z</timestamp>"
            f"<contributor><username>A</username><id>1</id></contributor>{origin}{kind}"
            f'<text xml:space="preserve"{more}>{text}</text></revision></page>'
        )

    return (
        f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-{version}/" version="{version}" xml:lang="bg">'
        '<siteinfo><sitename>W</sitename><case>first-letter</case><namespaces><namespace key="0" />'
        '<namespace key="1">Беседа</namespace></namespaces></siteinfo>'
        + page("А", "Текст на [[Б]].")
        + page("Стар", "#пренасочване [[А#x]]", redirect="А")
        + page("Беседа:А", "разговор", 1)
        + (page("Код", "x = 1", model="javascript") if since(version, MODELLED) else "")
        + "</mediawiki>"
    )


@pytest.mark.parametrize("version", FORMATS)
def test_every_format_is_read_alike(wiki, version):
    wiki.write(data=f'<?xml version="1.0" encoding="utf-8"?>{export(version)}'.encode())
    site, *pages = read_dump(find_dump(wiki.folder))
    assert site.language == "bg" and site.local_names == {"Беседа": 1}
    assert [(p.title, p.namespace, p.redirect, p.model) for p in pages[:3]] == [
        ("А", 0, None, "wikitext"), ("Стар", 0, "А", "wikitext"), ("Беседа:А", 1, None, "wikitext"),
    ]  # fmt: skip
    assert [p.model for p in pages[3:]] == (["javascript"] if since(version, MODELLED) else [])


@pytest.mark.parametrize("version", ["0.3", "0.5"])
def test_formats_that_state_no_targets_of_redirects_are_refused(wiki, version):
    wiki.write(data=export(version).encode())
    with pytest.raises(SteleError, match=rf"\.xml: an export in format {version}, want 0.6 or later; export the pages"):
        list(read_dump(find_dump(wiki.folder)))


ANSWER = {
    "general": {"case": "first-letter"},
    "namespaces": {
        "0": {"id": 0, "*": ""},
        "6": {"id": 6, "*": "Bestandje", "canonical": "File"},
        "14": {"id": 14, "*": "Soort", "canonical": "Category"},
    },
    "namespacealiases": [{"id": 6, "*": "Plaatje"}, {"id": 14, "*": "Groepje"}, {"id": 6, "*": "File"}],
}
SECOND = {  # formatversion=2 of the API
    "namespaces": {"6": {"id": 6, "name": "Bestandje", "canonical": "File"}, "14": {"id": 14, "name": "Soort"}},
    "namespacealiases": [{"id": 6, "alias": "Plaatje"}, {"id": 14, "alias": "Groepje"}],
}


def put_siteinfo(wiki, data, name="xwiki-1-siteinfo-namespaces.json.gz"):
    wiki.folder.mkdir(exist_ok=True)
    data = data if isinstance(data, bytes) else json.dumps({"query": data}).encode()
    (wiki.folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


@pytest.mark.parametrize("answer", [ANSWER, SECOND])
@pytest.mark.parametrize("name", ["xwiki-1-siteinfo-namespaces.json.gz", "xwiki-2-siteinfo-namespaces.json"])
def test_aliases_come_from_the_siteinfo_beside_the_dump(wiki, answer, name):
    text = "A [[Plaatje:x.jpg|thumb|a man]] b. [[Groepje:Men]] [[:Groepje:Men|all]] [[Other:Thing]]"
    wiki.add("Page", text)
    wiki.write()
    put_siteinfo(wiki, answer, name)
    site, page = read_dump(find_dump(wiki.folder))
    assert site.prefix("plaatje:x") == (6, "x") and site.prefix("Groepje:x") == (14, "x")
    assert site.prefix("Category:x") == (14, "x"), "the header's own names stay"
    actual = extract(page.text, site)
    assert actual.paragraphs == ["A b. all Other:Thing"]
    assert [link.target for link in actual.links] == ["Other:Thing"]


def test_a_siteinfo_of_another_wiki_is_not_taken(wiki):
    wiki.add("Page", "Text.")
    wiki.write()
    put_siteinfo(wiki, ANSWER, "ywiki-1-siteinfo-namespaces.json.gz")
    assert find_dump(wiki.folder)[0].siteinfo is None


@pytest.mark.parametrize("data", [b"", b"[]", b'{"query": {}}', b'{"query": {"namespaces": []}}', b" " * (LARGEST + 1)])
def test_a_damaged_siteinfo_is_named(wiki, data):
    wiki.add("Page", "Text.")
    wiki.write()
    put_siteinfo(wiki, data)
    with pytest.raises(SteleError, match=r"xwiki-1-siteinfo-namespaces\.json\.gz: not a readable|fetch it again"):
        next(read_dump(find_dump(wiki.folder)))


def test_the_record_says_when_there_is_none(wiki, run, caplog):
    wiki.add("Page", "Some [[text]].")
    record = wiki.write()
    done = run("wikipedia", record, "--shard", "1/2", output="without")
    assert [note.partition(":")[0] for note in done.record["notes"]] == [
        "no multistream dump with an index", "no siteinfo-namespaces.json.gz",
    ]  # fmt: skip
    empty = run("wikipedia", record, "--shard", "2/2", output="second")
    assert (done.record["documents"], empty.record["documents"]) == (1, 0)
    assert [d.title for done_ in (done, empty) for d in read_documents(done_.folder)] == ["Page"]
    put_siteinfo(wiki, ANSWER)
    assert run("wikipedia", record, output="with").record["notes"] == []
