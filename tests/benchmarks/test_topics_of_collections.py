"""Topics of test collections in the layouts of their tracks, and what is wrong with them."""

import pytest
from written import SPANISH, put

from stele.benchmarks._topics import topics
from stele.errors import SteleError

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
def test_topics_of_every_layout_are_read(tmp_path, content, wanted, ends, name):
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
