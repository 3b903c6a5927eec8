"""Test collections: documents, topics and judgments in the layouts of their tracks, and what is wrong with them."""

from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path

import pytest

from stele.benchmarks import _collection, _trec, collection
from stele.benchmarks._topics import topics
from stele.benchmarks._trec import Text, documents
from stele.benchmarks.types import Passage, Query, QuerySet
from stele.errors import SteleError
from stele.registry import load_named

ES, ZH = QuerySet("es", "es", "es"), QuerySet("zh", "zh", "zh")
AFP = """<DOC>
<DOCNO> AP-1 </DOCNO>
<FILEID>not text</FILEID>
<HEAD>The head</HEAD>
<DATELINE>AP</DATELINE>
<TEXT>
<P>
   Hopefully we
get this
</P>
<P>
AT&amp;T &eacute;t&#233; &lt;b&gt; &lol;
</P>
</TEXT>
<BYLINE>nobody</BYLINE>
</DOC>
"""
NTCIR = '<!-- a note -->\n<DOC id="doc2" type="story" >\n<TEXT>\nhere is some text.\n</TEXT>\n</DOC>\n'


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read(path: Path, text: Text | None = None) -> list[tuple[str, str, str]]:
    return [(d.id, d.title, (text or Text()).of(d)) for d in documents(path)]


# --- documents ---
@pytest.mark.parametrize("name", ["a.sgml", "a.gz"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_sgml_has_the_text_that_anserini_indexes(tmp_path, name, ends, bom):
    path = put(tmp_path / name, bom + (AFP + NTCIR).replace("\n", ends).encode())
    assert read(path) == [
        ("AP-1", "", "The head\n\nHopefully we\nget this\n\nAT&T été <b> &lol;"),
        ("doc2", "", "here is some text."),
    ]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<TEXT>\none\n<HL>two</HL>\nthree</TEXT>", "one\ntwo\nthree"),  # once: a tag within one that is read
        ("<TEXT>\none\n", "one"),  # not closed
        ("<HEADLINE>one\n<TEXT>two</TEXT>", "one\n\ntwo"),  # the first is not closed
        ("<text>one</text><Title>two</Title>", "one\n\ntwo"),
        ("<TEXT></TEXT>", ""),
        ("<HEADER>one</HEADER>", ""),  # other tags hold no text
        ("one\ntwo\n", "one\ntwo"),  # cleaned: no tags at all
        ("<DOCID>D</DOCID>\none", "one"),
        ('<TEXT id="7" lang=x>1 < 2 and 3 > 2</TEXT>', "1 < 2 and 3 > 2"),
        ("<DATE_TIME>no</DATE_TIME><DATE>yes</DATE>", "yes"),
    ],
)
def test_text_of_other_documents(tmp_path, body, text):
    assert read(put(tmp_path / "a", f"<DOC>\n<DOCNO>1</DOCNO>\n{body}\n</DOC>")) == [("1", "", text)]


def test_documents_that_are_not_closed_end_where_the_next_begins(tmp_path):
    text = "<DOC>\n<DOCNO>1\n<TEXT>one\n<DOC>\n<DOCNO>2</DOCNO>\n<TEXT>two"
    assert read(put(tmp_path / "a", text)) == [("1", "", "one"), ("2", "", "two")]


def test_a_document_alone_in_its_file_may_have_the_files_name(tmp_path):
    assert read(put(tmp_path / "7.utf8", "<DOC><TEXT>x</TEXT></DOC>"))[0][0] == "7.utf8"
    for place, text in enumerate(("<DOC>x</DOC><DOC>y</DOC>", "<DOC id=1>x</DOC><DOC>y</DOC>")):
        with pytest.raises(SteleError, match=r"document \d: neither <DOCNO> nor <DOC id=\.\.\.>"):
            read(put(tmp_path / str(place), text))


def test_blocks_cut_documents_and_tags_anywhere(tmp_path, monkeypatch):
    text = "".join(f"<DOC>\n<DOCNO>{n}</DOCNO>\n<TEXT>\n{'word ' * n}\n</TEXT>\n</DOC>\n" for n in range(60))
    path = put(tmp_path / "a.gz", text)
    whole = read(path)
    assert [name for name, _, _ in whole] == [str(n) for n in range(60)]
    for size in (23, 64, 1000):
        monkeypatch.setattr(_trec, "BLOCK", size)
        assert read(path) == whole


def test_what_is_not_utf8_is_in_the_encoding_that_is_declared(tmp_path):
    latin = "<DOC id=1><TEXT>año</TEXT></DOC>".encode("latin-1")
    path = put(tmp_path / "a", latin + "<DOC id=2><TEXT>año</TEXT></DOC>".encode())
    assert [text for _, _, text in read(path, Text(encoding="iso-8859-1"))] == ["año", "año"]
    with pytest.raises(SteleError, match=r"a, document 1: not UTF-8 .*give the dataset's `collection: \{encoding"):
        read(path)
    with pytest.raises(SteleError, match=r"a, document 1: neither UTF-8 nor utf-16"):
        read(path, Text(encoding="utf-16"))


def test_entities_of_a_file_are_not_expanded(tmp_path):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>\n'
    path = put(tmp_path / "a", bomb + "<DOC id=1><TEXT>&b; &f; &amp;amp;</TEXT></DOC>")
    assert read(path) == [("1", "", "&b; &f; &amp;")]


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ('{"id": "a", "contents": "one"}\n\n{"id": 2, "contents": "two"}\n', [("a", "", "one"), ("2", "", "two")]),
        ('{"id": "a", "contents": "<DOC> is a tag"}', [("a", "", "<DOC> is a tag")]),
        ('[{"docid": "a", "title": "T", "text": "one"}]', [("a", "T", "one")]),
        ("\ufeffa\tone\ttwo\r\n\r\nb\t\r\n", [("a", "", "one\ttwo"), ("b", "", "")]),
        ("", []),
        ("  \n", []),
        ("<html>no collection</html>", []),
    ],
)
def test_json_and_tsv(tmp_path, content, wanted):
    for name in ("a", "a.gz"):
        assert read(put(tmp_path / name, content)) == wanted


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "a", "body": "x"}', "line 1: want `id` and `contents`, or `title` and `text`; found id, body"),
        ('{"id": "a", "contents": 3}', "line 1: want `id` and `contents`"),
        ('{"contents": "x"}', "line 1: id must be a string without white space, found None"),
        ('{"id": "a", "contents": "x"}\n{', "line 2: not a readable line of JSON"),
        ("some words\nmore words\n", "no documents: want <DOC>"),
        ("a b\tone\n", "line 1: id must be a string without white space, found 'a b'"),
        ("<DOC>\n<DOCNO>a b</DOCNO>\n</DOC>", "document 1: id must be a string without white space"),
        ("<DOC>\n<DOCNO></DOCNO>\n</DOC>", "document 1: id must be a string without white space, found ''"),
        (b"BZh91AY", "packed with bzip2; unpack it"),
        (b"\x1f\x9d\x90", "packed with compress; unpack it"),
        (b"a/b.sgml".ljust(257, b"\0") + b"ustar\x0000<DOC id=1></DOC>", "packed with tar; unpack it"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, message):
    with pytest.raises(SteleError) as error:
        read(put(tmp_path / "docs", content))
    assert str(error.value).startswith(str(tmp_path / "docs")) and message in str(error.value)


def test_a_cut_gzip_file_is_an_error(tmp_path):
    path = put(tmp_path / "a.gz", AFP * 2000)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(SteleError, match=r"a\.gz: the compressed file is cut short or damaged"):
        read(path)


def test_a_document_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_trec, "LARGEST", 1000)
    monkeypatch.setattr(_trec, "BLOCK", 100)
    with pytest.raises(SteleError, match="its end tag is missing"):
        read(put(tmp_path / "a", "<DOC id=1>" + "x" * 5000))


# --- topics ---
TREC = """<top>

<num> Number: AR26
<title>  Kurdish council

<desc> Description:
How does it
see: things?

<narr> Narrative:
Texts.

</top>

<top>
<num> Number: AR27
<title> Topic:
 prisoners
of war
<desc> Description: x
</top>
"""
SPANISH = """<top>
<num> Number: SP1

<title> Topic: Oposición al TLC
** Opposition to NAFTA

<desc> Description:
Oposición.

** In English, on
two lines

<narr> Narrative: más
</top>
"""
FIRE = "<topics>\n<top lang='bn'>\n<num>176</num>\n<title>R &amp; D</title>\n<desc>d</desc>\n</top>\n</topics>\n"
CLEF = "<top>\n<num> C301 </num>\n<EN-title> no </EN-title><FR-title> Les Produits </FR-title>\n<FR-desc> d </FR-desc>"
ACLIA = '<SET>\n<TOPIC ID="ACLIA2-CS-0002">\n<QUESTION LANG="CS"><![CDATA[什么？]]></QUESTION>\n</TOPIC>\n</SET>'


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (TREC, [("AR26", "Kurdish council", "How does it see: things?"), ("AR27", "prisoners of war", "x")]),
        (SPANISH, [("SP1", "Oposición al TLC", "Oposición.")]),
        (SPANISH.encode("iso-8859-1"), [("SP1", "Oposición al TLC", "Oposición.")]),
        (FIRE, [("176", "R & D", "d")]),
        (CLEF, [("C301", "Les Produits", "d")]),
        (ACLIA, [("ACLIA2-CS-0002", "什么？", "")]),
        ("<query>\n<qid>0001</qid>\n<content>web</content>\n</query>", [("0001", "web", "")]),
        ('<topic lang="fr">\n<identifier>9-AH</identifier>\n<title>t</title>\n</topic>', [("9-AH", "t", "")]),
        ('<topics><topic number="3"><title>t</title></topic></topics>', [("3", "t", "")]),
        (
            '<topic number="4" type="x">\n<query>web</query>\n<desc>d</desc>\n</topic>',
            [("4", "web", "d")],
        ),
        ('301-AH\tLe  "Cri"\r\n', [("301-AH", 'Le "Cri"', "")]),
        ('{"query_id": 4, "query": "q", "description": "d"}', [("4", "q", "d")]),
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["topics.txt", "topics.gz"])
def test_topics(tmp_path, content, wanted, ends, name):
    data = (content if isinstance(content, bytes) else content.encode()).replace(b"\n", ends.encode())
    read = topics(put(tmp_path / name, data), "fr", "iso-8859-1")
    assert [(number, t.get("title"), t.get("description", "")) for number, t in read.items()] == wanted


def test_arabic_topics_in_their_own_encoding(tmp_path):
    path = put(tmp_path / "topics.txt", "<top><num> Number: AR1<title> مجلس\n</top>".encode("iso-8859-6"))
    assert topics(path, "ar", "iso-8859-6") == {"AR1": {"title": "مجلس"}}
    with pytest.raises(SteleError, match=r"topics\.txt: not UTF-8"):
        topics(path, "ar")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no topics"),
        ("<top>\n<title>x</title></top>", "topic 1: topic must be a string without white space, found ''"),
        ("1\ta\n1\tb\n", "line 2: topic '1' is there twice"),
        ("words without a tab", "line 1: want <top> ... </top>, or an id, a tab and a title"),
    ],
)
def test_topics_that_cannot_be_read(tmp_path, content, message):
    with pytest.raises(SteleError, match=rf"topics\.txt.*{message}"):
        topics(put(tmp_path / "topics.txt", content), "es")


# --- a collection ---
@pytest.fixture
def folder(tmp_path):
    """Three documents of which one is there twice, and another year's; topics in Spanish; one more is judged."""
    put(tmp_path / "ism_001", "".join(f"<DOC><DOCNO>{n}</DOCNO><TEXT>old {n}</TEXT></DOC>" for n in (1, 2)))
    put(tmp_path / "ism_002.gz", "<DOC><DOCNO>2</DOCNO><TEXT>new 2</TEXT></DOC><DOC id=3><TEXT></TEXT></DOC>")
    put(tmp_path / "af940512", "<DOC id=4><TEXT>of another track</TEXT></DOC>")
    put(tmp_path / "readme.txt", "words")
    put(tmp_path / "record.json", "{}")
    put(tmp_path / "topics.SP1-SP25.spanish.english.gz", SPANISH.encode("iso-8859-1"))
    put(tmp_path / "qrels.1-25.spanish.gz", "1 0 1 1\n1 0 9 0\n30 0 1 1\n")
    return tmp_path


@pytest.fixture
def data(folder):
    return {"trec3_es": {"all": folder}}


def test_of_an_id_that_comes_twice_the_last_document_stands(data, caplog):
    with caplog.at_level(logging.WARNING):
        read = list(collection.passages(data, "es"))
    assert read == [Passage("1", "", "old 1"), Passage("2", "", "new 2"), Passage("3", "", "")]
    assert "1 ids come again (2); the last document stands" in caplog.text
    assert collection.document_counts(data, "es") == (3, 1)


def test_topics_go_by_the_ids_of_the_judgments_and_judgments_are_theirs(data, folder):
    assert list(collection.queries(data, ES)) == [Query("1", "Oposición al TLC")]
    assert list(collection.queries(data, ES, "narrative")) == [Query("1", "más")]
    assert collection.judgments(data, ES) == {"1": {"1": 1, "9": 0}}  # 9: a document that is not there
    put(folder / "qrels.1-25.spanish.gz", "SP1 0 1 1\n")
    assert list(collection.queries(data, ES)) == [Query("SP1", "Oposición al TLC")]


def test_judgments_alone_are_all_judged(folder):
    alone = folder / "qrels.1-25.spanish.gz"
    assert collection.judgments({"trec3_es_topics": {"all": alone}}, ES).keys() == {"1", "30"}
    other = put(folder / "by/any.name", "7 0 D 1\n")
    assert collection.judgments({"trec3_es": {"es": other}}, ES) == {"7": {"D": 1}}


def test_topics_and_judgments_fetched_by_themselves_go_before_a_users_own(data, folder, tmp_path):
    put(tmp_path / "nist/topics.txt", "<top><num> Number: SP2<title> dos\n</top>")
    put(tmp_path / "nist/qrels.txt", "2 0 1 1\n")
    both = {**data, "trec3_es_topics": {"all": tmp_path / "nist"}}
    assert list(collection.queries(both, ES)) == [Query("2", "dos")]
    assert collection.judgments(both, ES) == {"2": {"1": 1}}


@pytest.mark.parametrize(
    "name",
    [
        *("qrels.ntcir8.eval.txt", "qrels.trec02ar.txt", "qrels.clef06fr.txt", "qrels.fire12bn.176-225.txt"),
        *(
            "qrels.trec11.xlingual.txt",
            "qrels.1-25.spanish.gz",
            "sp26.qrels.txt",
            "xlingual_t10qrels.txt",
            "cranqrel.txt",
        ),
    ],
)
def test_judgments_are_found_by_the_names_that_they_have(tmp_path, name):
    put(tmp_path / "topics.trec02ar-ar.txt", "1\tx\n")
    put(tmp_path / "docs.txt", "d\tx\n")
    assert _collection.qrels_file(tmp_path / put(tmp_path / name, "1 0 d 1\n").parent) == tmp_path / name


def test_files_that_are_missing_or_there_twice(data, folder):
    put(folder / "more/qrels.txt", "1 0 1 1\n")
    with pytest.raises(SteleError, match=r"want one file of judgments, .*; found qrels\..*, qrels\..*\. Keep one"):
        collection.judgments(data, ES)
    (folder / "topics.SP1-SP25.spanish.english.gz").unlink()
    with pytest.raises(SteleError, match=r"want one file of topics, named \*topics\*; found none"):
        list(collection.queries(data, ES))


def test_judgments_of_another_collection_are_refused(data, folder):
    put(folder / "qrels.1-25.spanish.gz", "CH28 0 d 1\n401 0 d 1\n")
    with pytest.raises(SteleError, match=r"none of its topics \(SP1, \.\.\.\) is judged in .*\(CH28, \.\.\.\)"):
        list(collection.queries(data, ES))


def test_a_topic_without_the_field_and_an_empty_collection(tmp_path):
    put(tmp_path / "topics.txt", "<top><num>1</num><desc>only this</desc></top>")
    put(tmp_path / "qrels.txt", "1 0 d 1\n")
    data = {"mine": {"all": tmp_path}}
    with pytest.raises(SteleError, match=r"topic 1 has no title; it has description\. Take another `field`"):
        list(collection.queries(data, ES))
    for _ in range(2):
        with pytest.raises(SteleError, match="no document in it; it should hold the collection's files"):
            list(collection.passages(data, "es"))
        put(tmp_path / "empty.sgml", "")


def test_six_collections_are_read_by_one_module():
    names = ("ntcir8_zh", "trec2002_ar", "clef2006_fr", "fire2012_hi", "fire2012_bn", "trec3_es")
    assert {load_named("stele.benchmarks", name, kind="benchmark") for name in names} == {collection}


def test_a_file_of_json_in_place_of_the_publishers_files(tmp_path):
    """Patterns choose among the publisher's files; where none of those is there, all others hold documents."""
    put(tmp_path / "collection.jsonl", json.dumps({"id": "a", "contents": "x"}))
    assert list(collection.passages({"trec3_es": {"all": tmp_path}}, "es")) == [Passage("a", "", "x")]
