"""Topics of test collections in the layouts of their tracks, and what is wrong with them."""

import time

import pytest
from written import SPANISH, put, rows

from stele.benchmarks._topics import by_judgments, topics
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
        (  # what stands behind an end tag is of no field
            '<topic number="5"><title>tea</title><words>green</words><desc>d</desc><subtopic>s</subtopic></topic>',
            [("5", "tea", "d")],
        ),
        (
            '<topic id="6"><title><en>e</en><fr><![CDATA[t</title>]]></fr></title><x>x</x></topic>',
            [("6", "t", "")],
        ),
        (
            "<TOP><num>7</num><title>t</title></TOP>\n<top><num>8</num><title>u</title></top>",
            [("7", "t", ""), ("8", "u", "")],
        ),
        ('301-AH\tLe  "Cri"\r\n', [("301-AH", 'Le "Cri"', "")]),
        ("1\ta <query> tag\n2\tu", [("1", "a <query> tag", ""), ("2", "u", "")]),
        ('{"query_id": 4, "query": "q", "description": "d"}', [("4", "q", "d")]),
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["topics.txt", "topics.gz"])
def test_topics_of_every_layout_are_read(tmp_path, content, wanted, ends, name):
    data = (content if isinstance(content, bytes) else content.encode()).replace(b"\n", ends.encode())
    language = "bn" if content is FIRE else "zh" if content is ACLIA else "fr"
    read = topics(put(tmp_path / name, data), language, "iso-8859-1")
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
        ("1\ta\n1\tb\n", "line 2: topic '1' appears twice"),
        ("1\ta\r2\tb\r", "its lines end as on old Macs"),  # one topic with all texts
        ("words without a tab", "line 1: want <top> ... </top>, or an id, a tab and a title"),
    ],
)
def test_topics_that_cannot_be_read(tmp_path, content, message):
    with pytest.raises(SteleError, match=rf"topics\.txt.*{message}"):
        topics(put(tmp_path / "topics.txt", content), "es")


TWO = """<TOPIC_SET>
<TOPIC ID="ACLIA9-JA-T1" type="DP">
<QUESTION LANG="EN" ><![CDATA[ Which river?]]></QUESTION>
<QUESTION LANG="JA"><![CDATA[ どの川]]></QUESTION>
<NARRATIVE LANG="EN"><![CDATA[ About it.]]></NARRATIVE>
<NARRATIVE LANG="JA"><![CDATA[ 川について]]></NARRATIVE>
</TOPIC>
</TOPIC_SET>"""


def in_two(template: str) -> str:
    """A topic whose title is written in a language's way for both."""
    both = (template.format(code=code, name=name, text=text) for code, name, text in
            (("EN", "English", "which river"), ("JA", "Japanese", "どの川")))  # fmt: skip
    return f'<topic id="1">{" ".join(both)}</topic>'


@pytest.mark.parametrize(
    "content",
    [
        TWO.replace("Which river?", "which river"),
        in_two('<title xml:lang="{code}">{text}</title>'),
        in_two("<title LANGUAGE = '{name}'>{text}</title>"),
        in_two("<TITLE lang={code}-XX>{text}</TITLE>"),
        in_two('<title lang="{code}">{text}\n'),  # no end tag
        in_two("<{code}-title>{text}</{code}-title>"),
        in_two("<title_{code}>{text}</title_{code}>"),
        in_two('<version lang="{code}"><title>{text}</title></version>'),
        in_two('<title><string lang="{code}">{text}</string></title>').replace("</title> <title>", ""),
        in_two("<title><{code}>{text}</{code}></title>").replace("</title> <title>", ""),
        in_two('</topic><topic id="1" xml:lang="{code}"><title>{text}</title>').replace('<topic id="1"></topic>', ""),
        in_two('</topic></set><set lang="{code}"><topic id="1"><title>{text}</title>').replace("</topic></set>", "", 1)
        .removeprefix('<topic id="1">'),
        '{"id": "1", "lang": "eng", "query": "which river"}\n{"id": "1", "lang": "ja-JP", "query": "どの川"}\n',
    ],
)  # fmt: skip
def test_the_text_of_the_language_that_is_wanted_wherever_it_is_stated(tmp_path, content):
    path = put(tmp_path / "topics.xml", content)
    for language, wanted in (("en", "which river"), ("ja", "どの川")):
        assert [topic["title"] for topic in topics(path, language).values()] == [wanted]
    with pytest.raises(SteleError, match=r"topics\.xml, .* is in en.*, ja.*, not in ko; give its text in ko"):
        topics(path, "ko")


def test_hc4_s_translators_have_priority_over_its_machine(tmp_path):
    """Also in NeuCLIR's files; both codes of a language have three letters."""

    def text(lang, source, title):
        return {"lang": lang, "source": source, "topic_title": title, "topic_description": f"about {title}"}

    by_machine, by_hand = text("fas", "google translation", "رود"), text("fas", "human translation", "رودخانه")
    line = {"topic_id": "1001", "languages_with_qrels": ["fas"], "narratives": {"fas": {"Not-valuable": "none"}}}
    path = put(
        tmp_path / "topics.jsonl", rows(line | {"topics": [text("eng", "original", "river"), by_machine, by_hand]})
    )
    assert topics(path, "fa") == {"1001": {"title": "رودخانه", "description": "about رودخانه"}}
    assert topics(path, "en") == {"1001": {"title": "river", "description": "about river"}}
    with pytest.raises(SteleError, match="topic 1001 is in eng, fas, not in ru; give its text in ru"):
        topics(path, "ru")
    path.write_text(rows(line | {"topics": ["river"]}))
    with pytest.raises(SteleError, match="line 1: `topics` must be a list of objects"):
        topics(path, "en")


def test_every_field_is_read_in_its_language_and_one_that_states_none_is_as_wanted(tmp_path):
    path = put(tmp_path / "topics.xml", TWO)
    assert topics(path, "ja") == {"ACLIA9-JA-T1": {"title": "どの川", "narrative": "川について"}}
    path.write_text(TWO.replace('NARRATIVE LANG="EN"', "NARRATIVE"))
    assert topics(path, "en")["ACLIA9-JA-T1"] == {"title": "Which river?", "narrative": "About it."}
    assert topics(path, "ja")["ACLIA9-JA-T1"]["narrative"] == "川について"


@pytest.mark.parametrize(("code", "language"), [("CS", "zh"), ("CT", "zh"), ("zho", "zh"), ("CS", "cs"), ("JP", "ja")])
def test_codes_of_ntcir_and_of_iso(tmp_path, code, language):
    path = put(tmp_path / "topics.xml", TWO.replace('"JA"', f'"{code}"'))
    assert topics(path, language)["ACLIA9-JA-T1"]["narrative"] == "川について"


@pytest.mark.parametrize("template", ['<title lang="{code}">{text}</title>', "<{code}-title>{text}</{code}-title>"])
def test_czech_is_not_taken_for_the_chinese_of_ntcir(tmp_path, template):
    path = put(tmp_path / "topics.xml", in_two(template).replace("JA", "cs").replace("EN", "en"))
    assert topics(path, "cs") == {"1": {"title": "どの川"}}
    with pytest.raises(SteleError, match="topic 1 is in cs, en, not in zh"):
        topics(path, "zh")


def test_names_that_hold_no_language_are_no_fields(tmp_path):
    content = "<topic number='7'><query_id>q7</query_id><original-title>x</original-title><query>river</query></topic>"
    assert topics(put(tmp_path / "topics.xml", content), "id") == {"7": {"title": "river"}}


def test_a_topic_that_the_language_lacks_is_named_though_others_have_it(tmp_path):
    whole = TWO.replace(
        "</TOPIC_SET>", '<TOPIC ID="T2"><QUESTION LANG="EN">only English</QUESTION></TOPIC></TOPIC_SET>'
    )
    path = put(tmp_path / "topics.xml", whole)
    with pytest.raises(SteleError, match=r"topic 2: topic T2 is in en, not in ja"):
        topics(path, "ja")
    assert list(topics(path, "en")) == ["ACLIA9-JA-T1", "T2"]


def test_two_topics_of_one_number_are_refused_where_it_is_judged(tmp_path):
    path = put(tmp_path / "topics.tsv", "AR26\tone\nSP26\ttwo\n")
    assert by_judgments(topics(path, "en"), ["27"], path) == {}
    with pytest.raises(SteleError, match="topics AR26 and SP26 are both 26"):
        by_judgments(topics(path, "en"), ["26"], path)


@pytest.mark.parametrize("inside", ["<![CDATA[" + "x]]>" * 30_000, "".join(f"<b{n}>" for n in range(30_000))])
def test_marks_that_make_no_sense_take_no_longer_than_others(tmp_path, inside):
    """An hour, where each of them has all others looked at."""
    path = put(tmp_path / "topics.xml", f"<topic id='1'><title>{inside}</title></topic>")
    began = time.process_time()
    assert list(topics(path, "en")) == ["1"]
    assert time.process_time() - began < 10
