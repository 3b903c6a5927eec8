"""Documents of test collections in the layouts of their tracks, and what is wrong with them."""

from pathlib import Path

import pytest
from written import put

from stele.benchmarks import _trec
from stele.benchmarks._trec import Text, documents
from stele.errors import SteleError

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


def read(path: Path, text: Text | None = None) -> list[tuple[str, str, str]]:
    return [(d.id, d.title, (text or Text()).of(d)) for d in documents(path)]


@pytest.mark.parametrize("name", ["a.sgml", "a.gz"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_sgml_has_the_text_that_anserini_indexes(tmp_path, name, ends, bom):
    path = put(tmp_path / name, bom + (AFP + NTCIR).replace("\n", ends).encode())
    assert read(path) == [
        ("AP-1", "", "The head\n\nHopefully we\nget this\n\nAT&T été <b> &lol;"),
        ("doc2", "", "here is some text."),
    ]


@pytest.mark.parametrize("block", [1, 30, 1 << 20])
def test_documents_of_joined_files_may_have_tags_in_other_letters(tmp_path, monkeypatch, block):
    """They were read as text of the document before them, or passed over before the first one."""
    monkeypatch.setattr(_trec, "BLOCK", block + len("<doc><docno>a</docno>one</doc>\n<DOC>"))
    one, two = "<doc><docno>a</docno>one</doc>\n", "<DOC><DOCNO>b</DOCNO>two</DOC>\n"
    expected = [("a", "", "one"), ("b", "", "two")]
    assert read(put(tmp_path / "x", (one + two).encode())) == expected
    assert read(put(tmp_path / "x", (two + one).encode())) == expected[::-1]
    assert [name for name, *_ in read(put(tmp_path / "x", f"<doc>{two}{two.replace('b<', 'c<')}</doc>".encode()))] == [
        *"bc"
    ]
    within = "<DOC><DOCNO>c</DOCNO>1 <doc> 2</DOC>"
    assert [name for name, *_ in read(put(tmp_path / "x", (one + within + one.replace("a<", "d<")).encode()))] == [
        *"acd"
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
        ("<TEXT><![CDATA[one & two]]></TEXT>", "one & two"),  # was an empty document
    ],
)
def test_text_of_other_documents(tmp_path, body, text):
    assert read(put(tmp_path / "a", f"<DOC>\n<DOCNO>1</DOCNO>\n{body}\n</DOC>")) == [("1", "", text)]


def test_text_that_stands_before_the_id_is_text(tmp_path):
    text = "<DOC>\n<HEADLINE>one</HEADLINE>\n<DOCNO>1</DOCNO>\n<TEXT>two</TEXT>\n</DOC>"
    assert read(put(tmp_path / "a", text)) == [("1", "", "one\n\ntwo")]


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
        ("1\ta <doc> tag\n2\tx\n", [("1", "", "a <doc> tag"), ("2", "", "x")]),  # was one document of the file's name
        ("made\ton Monday\n<DOC id=1><TEXT>x</TEXT></DOC>", [("1", "", "x")]),
        ('[{"docid": "a", "title": "T", "text": "one"}]', [("a", "T", "one")]),
        ("\ufeffa\tone\ttwo\r\n\r\nb\t\r\n", [("a", "", "one\ttwo"), ("b", "", "")]),
        ("", []),
        ("  \n", []),
        ("<html>no collection</html>", []),
    ],
)
def test_json_and_tsv(tmp_path, content, wanted, caplog):
    for name in ("a", "a.gz", "a.bz2", "a.xz"):
        assert read(path := put(tmp_path / name, content)) == wanted
        assert (f"{path}: found no <DOC> in it; it is left out" in caplog.text) is content.startswith("<")


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
        (b"\x1f\x9d\x90", "packed with compress; unpack it"),
        (b"a/b.sgml".ljust(257, b"\0") + b"ustar\x0000<DOC id=1></DOC>", "packed with tar; unpack it"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, message):
    with pytest.raises(SteleError) as error:
        read(put(tmp_path / "docs", content))
    assert str(error.value).startswith(str(tmp_path / "docs")) and message in str(error.value)


def test_a_document_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_trec, "LARGEST", 1000)
    monkeypatch.setattr(_trec, "BLOCK", 100)
    with pytest.raises(SteleError, match="its end tag is missing"):
        read(put(tmp_path / "a", "<DOC id=1>" + "x" * 5000))
