"""Wikitext to text, links and sections: hand-worked cases, laws over random markup, linear time."""

import random
import re
import time

import pytest

from stele.corpora.titles.normal_form import Site
from stele.corpora.wikitext.paragraphs import extract
from stele.errors import SteleError

SITE = Site("xx", True, {"Datei": 6, "Kategorie": 14, "Vorlage": 10, "Benutzer": 2})


def text(wikitext, site=SITE):
    return extract(wikitext, site).paragraphs


def links(wikitext, site=SITE):
    page = extract(wikitext, site)
    return [(page.paragraphs[link.paragraph][link.start : link.end], link.target) for link in page.links]


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        # templates, parameters
        ("a {{b}} c", ["a c"]),
        ("a{{b|{{c|{{{1|x}}}}}|d={{e}}}} f", ["a f"]),
        ("{{Infobox\n| name = [[x]]\n| y = {{z}}\n}}\n'''A''' is b.", ["A is b."]),
        ("a }} b", ["a b"]),
        ("a{{b|{{{c|{{d}}}}}}}e {{{f|g}}} {{#if:{{{h}}}|i}} {{DEFAULTSORT:j}}k", ["ae k"]),
        ("a, {{b}}, {{c}}, d ({{e}} ) and ( f ){{g}} .", ["a, d and (f)."]),
        ("A.\nb {{unclosed | c [[d]]\n\nE.", ["A. b", "E."]),
        ("{{a}} {{{b}}} {{{{c}}}} {{{{{d}}}}} x", ["x"]),
        ("A ({{lang|x}}; born 1900) and ({{b}}) c {{d}}, e {{f}}.", ["A (born 1900) and c, e."]),
        ("A (b; {{c}}; {{d}}) e; {{f}}; g (''{{h}}'') i &lt; ; j", ["A (b) e; g i < ; j"]),
        # tables
        ("A.\n{| class=x\n! h\n|-\n| b || [[c]]\n{|\n| inner\n|}\n|}\nD.", ["A.", "D."]),
        ("A.\n:{|\n| b\n|}\nC.", ["A.", "C."]),
        ("A.\n{|\n| unclosed\n\n== H ==\nB.", ["A.", "B."]),
        ("A.\n<table><tr><td>x<table><tr><td>y</td></tr></table></td></tr></table>\nB.", ["A.", "B."]),
        ("A.\n| left over\n|}\nB.", ["A.", "B."]),
        ("A\n{| b {| c\n|} d |}\nE", ["A d E"]),  # marks count at the beginning of a line only
        ("\n{|\n| {| a\n|}\nB\n:{|\nc\n |}D", ["B", "D"]),
        ("A |}\n|} b\n{|\nc\n|}\nD", ["A b", "D"]),
        ("<table>a</table><table>b</table>C</table>D", ["CD"]),
        # references, comments, nowiki and other extension tags
        ('A<ref>x</ref> b<ref name="y" /> c<ref name=z>{{cite|[[d]]}}</ref>.', ["A b c."]),
        ("A<!-- b [[c]] -->d", ["Ad"]),
        ("A\n<!-- a line -->\nb", ["A b"]),
        ("A <!-- unclosed [[b]]", ["A"]),
        ("<nowiki>''c'' [d] {e} *</nowiki> f", ["''c'' [d] {e} * f"]),
        (
            "<nowiki>[[a]]</nowiki> b<nowiki> {{c}}</nowiki>, <nowiki><ref></nowiki> d &lt;br&gt;&#91;&#91;e]]",
            ["b, d e"],
        ),
        ("A <math>x_{1} {{b\nc.", ["A c."]),
        ("A\n<gallery>\nFile:b.jpg|c\nd\n\nE <ref name=f", ["A", "E"]),
        ("<references>\nA", ["A"]),
        ("<NoWiki>''a''</NoWiki> <nowiki>[b]</nowiki> <nowiki/>c", ["''a'' [b] c"]),
        ("<nowiki>a <ref>b</nowiki> c</ref> d <ref>e<nowiki></ref> f", ["c d f"]),  # the example goes
        ("<re<!-- -->f>a</ref>b", ["ab"]),
        ("A\n\nFile:b c.jpg|d\n* [Datei:e.PNG|f]\n\ng: h | i", ["A", "g: h | i"]),
        ("a <'''br'''> b <small;>c</small.> <b>d <br", ["a b c d"]),
        ("[[a<nowiki/>b]]s", ["abs"]),
        (
            "A <math>x_{1}</math> b<gallery>\nFile:x.jpg|c\n</gallery> <source lang=c>{{d}}</source>e",
            ["A b e"],
        ),
        ("A <ref>unclosed b", ["A unclosed b"]),
        ("<includeonly>a</includeonly><noinclude>b</noinclude> c", ["b c"]),
        # HTML, entities, magic words, language variants
        ('<span style="x">a</span> <small>b</small> <b>c</b><br/>d H<sub>2</sub>O', ["a b c d H2O"]),
        ("<p>a</p><div class=x>b</div>c<li>d", ["a", "b", "c", "d"]),
        ("1 < 2 and <stdio.h> stay", ["1 < 2 and <stdio.h> stay"]),
        ("a <b<br>> c <sp<i>an> d <p <b>>e", ["a c d e"]),  # tags in tags go, too
        (
            "<SMALL>b</small> <smaller>c</smaller> <span style='" + "x" * 300 + "'>d</span>",
            ["b <smaller>c</smaller> d"],
        ),
        ("a<br clear=all>b<BR>c<br / >d</br>e<hr>f", ["a b c d e", "f"]),
        ("-{R|a}- -{zh-cn:b;zh-tw:c}- -{H|zh:d}- -{e|f-{g}-}-", ["a b fg"]),
        ("a&nbsp;b &amp;lt; &eacute;&#233;&#xE9; AT&T ?x&section", ["a b &lt; ééé AT&T ?x&section"]),
        ("__NOTOC__A __KEIN_INHALTSVERZEICHNIS__ __无目录__ b __init__", ["A b __init__"]),
        ("-{zh-hans:计算机;zh-hant:電腦}- 和 -{文}- -{T|zh:题}-", ["计算机 和 文"]),
        # bold and italic
        ("'''a''' ''b'' '''''c''''' d's ''''e''''", ["a b c d's 'e'"]),
        ("Dans l'''Odyssée'' et '''b'''", ["Dans l'Odyssée et b"]),
        ("'''''a'' b''' '''''c''' d'' '''e''f''g'''", ["a b c d efg"]),
        # external links
        (
            "[http://x.org label here] [https://x.org] [//y.org z] [mailto:a@b c] [not a link]",
            ["label here z c [not a link]"],
        ),
        # lines
        ("A\nb\n\nc", ["A b", "c"]),
        ("* a\n** b\n# c\n: d\n; e", ["a", "b", "c", "d", "e"]),
        ("A\n----\nB\n  indented", ["A", "B indented"]),
        ("...\n\n—\n\na", ["a"]),
    ],
)
def test_the_text_of_wikitext_is_what_a_reader_sees(wikitext, expected):
    assert text(wikitext) == expected


@pytest.mark.parametrize(
    ("wikitext", "shown", "expected"),
    [
        ("[[a]] [[b|c]] [[d_e#f|g]]s", "a c gs", [("a", "A"), ("c", "B"), ("g", "D e")]),
        ("[[A#b]] [[#c|d]]", "A#b d", [("A#b", "A")]),
        ("''[[a|''b'' c]]''", "b c", [("b c", "A")]),
        ("[[a| b ]]c", "b c", [("b", "A")]),
        ("x[[ a ]]y", "x a y", [("a", "A")]),
        ("[[a|[b]]] [[c|d [e] f]]", "[b] d [e] f", [("[b]", "A"), ("d [e] f", "C")]),
        ("[[Star Trek: Der Film]]", "Star Trek: Der Film", [("Star Trek: Der Film", "Star Trek: Der Film")]),
        ("[[%C3%A9cole]] [[&eacute;t&eacute;|été]]", "%C3%A9cole été", [("%C3%A9cole", "École"), ("été", "Été")]),
        ("[[Cafe\u0301]]", "Cafe\u0301", [("Cafe\u0301", "Café")]),
        # files and categories vanish, with what their captions hold; by name, by English name and by file type
        ("A [[File:x.jpg|thumb|b [[c]] {{d}} [[e|f]]]] [[g]].", "A g.", [("g", "G")]),
        ("[[Datei:x.svg|mini|[http://y z] [[c]]]]A [[datei : y.png]] [[IMAGE:z.gif]] [[Foo:w.ogg|b]]", "A", []),
        ("A[[Category:B]][[Kategorie:C|D]] [[:Category:E]] [[:Kategorie:F|G]]", "A Category:E G", []),
        ("A [[File:x.jpg|unclosed [[b]]\nC", "A C", []),
        # what a template would say in a target is not known: the text stays, the link does not
        ("A [[x {{y}} z]] [[{{PAGENAME}}/b|c]] [[{{x}}|d]] [[{{x}}]] e", "A x z c d e", []),
        ("[[File:{{x}}.jpg|thumb|a]] [[b{{c}} d [[e]]", "b d e", [("e", "E")]),
        # other wikis and namespaces
        ("A [[zh-tw:B]] [[zh-cn:B]] [[nb:C]] [[cz:D]] e [[:nb:F|g]]", "A e g", []),
        ("A [[de:B]] [[:de:C]] [[wikt:d|e]] [[Benutzer:F|G]] [[s:h]]", "A de:C e G s:h", []),
        ("[[Re:Zero]] [[Simple: Life]]", "Re:Zero", [("Re:Zero", "Re:Zero")]),
        # broken ones
        ("[[a|b [[c]] d]] e", "b c d e", [("c", "C")]),
        ("[[a [[b]] ]] [[]] [[|c]]", "a b c", [("b", "B")]),
        ("[[a\nb]] c", "a b c", []),
        ("[[a|b] c]] [[d|e]]] [[f|[g]]]", "b] c e] [g]", [("b] c", "A"), ("e", "D"), ("[g]", "F")]),
        (
            "[[a]] &amp; [[b|c]]]\n\n[[d\n\n[[e]]] [[f|]] [[de:g]]h",  # paragraphs of every kind, one after another
            "a & c] d e] f h",
            [("a", "A"), ("c", "B"), ("e", "E"), ("f", "F")],
        ),
        ("&lt;br&gt; [[a|&lt;b&gt; c&lt;/b&gt;]] &lt;[[d]]&gt; [[e]]", "c <d> e", [("c", "A"), ("d", "D"), ("e", "E")]),
        # old ways: the pipe trick, subpages, links to other languages at the end, files by their old name
        ("[[A (b)|]] [[C, D|]] [[Benutzer:E|]]", "A C E", [("A", "A (b)"), ("C", "C, D")]),
        ("[[/b]] [[A/b|c]]", "/b c", [("/b", "/b"), ("c", "A/b")]),
        ("A\n\n[[de:B]]\n[[zh-min-nan:C]]\n[[Image:D.png|[[e|f]] [[image:g.gif|h]]]]", "A", []),
        ("[[Media:a.ogg|b]] [[Bestand:c.ogg|d]]", "b", []),
        ("[http://x y [[a|b]] c]", "y b c", [("b", "A")]),
    ],
)
def test_links_and_their_spans(wikitext, shown, expected):
    assert " ".join(text(wikitext)) == shown
    assert links(wikitext) == expected


def test_sections_point_to_their_first_paragraph():
    page = extract(
        "Lead.\n== A ==\n=== ''B'' [[c]] ===\nOne.\n\nTwo.\n==D==<!-- x -->\n== Empty ==\n==E==\nThree.\n== Last ==",
        SITE,
    )
    assert page.paragraphs == ["Lead.", "One.", "Two.", "Three."]
    assert page.sections == [("A", 1), ("B c", 1), ("D", 3), ("Empty", 3), ("E", 3)]


def test_case_sensitive_wikis_keep_first_letters():
    assert links("[[a]]", Site(first_letter=False)) == [("a", "a")]


MARKUP = [
    "[[", "]]", "{{", "}}", "{|", "\n|}", "\n|-", "|", "'''", "''", "==", "\n== ", "\n* ", "<ref>", "</ref>", "<!--",
    "-->", "<nowiki>", "</nowiki>", "<table>", "</table>", "<br>", "[http://x ", "]", "File:", "Kategorie:", "de:",
    "&nbsp;", "&amp;", "-{", "}-", "__TOC__", "{{{", "}}}", "<gallery>", "</gallery>", " ", "\n", "\n\n", "#", "(", ")",
    ";", ":", "=",
]  # fmt: skip


WHOLE = [
    "ab",
    "Ć d",
    "中",
    " ",
    "[[ab]]",
    "[[c d|''e'' f]]",
    "{{a|[[b]]}}",
    "[[File:x.png|y]]",
    "\n\n",
    "<ref>z</ref>",
    "''i''",
]


def test_random_markup_leaves_no_markup_and_right_spans():
    draw = random.Random(0)
    residue = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}|</?(?:ref|table|br|gallery)\b|<!--")
    kept = 0
    for _ in range(4000):
        raw = "".join(draw.choice(MARKUP if draw.random() < 0.2 else WHOLE) for _ in range(30))
        page = extract(raw, SITE)
        ends = (0, 0)
        for link in page.links:
            shown = page.paragraphs[link.paragraph][link.start : link.end]
            assert shown and shown == shown.strip() and link.target, raw
            assert (link.paragraph, link.start) >= ends, raw
            ends = (link.paragraph, link.end)
        for paragraph in page.paragraphs:
            assert not residue.search(paragraph) and "\0" not in paragraph, (raw, paragraph)
            assert paragraph == " ".join(paragraph.split()) and any(map(str.isalnum, paragraph)), raw
        assert [p for _, p in page.sections] == sorted(p for _, p in page.sections)
        kept += len(page.links)
    assert kept > 500


@pytest.mark.parametrize(
    "unit",
    [
        "{{", "}}", "{{a|", "[[", "]]", "[[a|", "[[File:a|", "[[File:a|[[b]]", "{|\n", "<ref ", "<ref>", "<!-- ", "'''",
        "''", "=", " ", "(", "(,", "( ", "[http://a [", "__A", "_", "-{", "<p ", "<table>", "&", "&amp",
        "[[a:b:", "< ", "<\t", "**", "[http://aaa",
        "[[a{{", "; ", "{", "|\n", "*", "[[a|[x]", "\n ", "<nowiki>", "#", "[[é:", "[[a.b.c", "[[a]]", ". ",
    ],
)  # fmt: skip
def test_odd_markup_takes_linear_time(unit):
    assert_linear(lambda times: unit * times + "x")


NESTED = [
    ("{{a|", "}}"), ("{{{1|", "}}}"), ("{{", "}} }}"), ("[[a|", "]]"), ("[[File:a|", "]]"), ("[[File:a|b", "]] ]]"),
    ("{|\n|", "\n|}"), ("\n:{|\n| a ||", "\n|}"), ("<table><tr><td>", "</td></tr></table>"), ("<div>", "</div>"),
    ("<small>", "</small>"), ("<ref>", "</ref>"), ("<math>", "</math>"), ("<nowiki>", "</nowiki>"), ("-{a|", "}-"),
    ("[http://a ", "]"), ("(", ")"), ("( , ", ")"), ("''", "'''"), ("{{a|[[b|{|\n|", "|}]]}}"), ("<!--", "-->"),
    ("{{a|", "}"), ("[[a|", "]"),
]  # fmt: skip


@pytest.mark.parametrize(("opening", "closing"), NESTED)
def test_ten_thousand_nested_ones_take_linear_time(opening, closing):
    page = assert_linear(lambda times: opening * times + closing * times + "\n\nThe end.", small=1250, large=10_000)
    assert page.paragraphs[-1:] == ["The end."] or opening == "<!--"  # a comment ends at the first "-->"


def assert_linear(page, small=4000, large=32_000, tries=3):
    """Eight times the text takes about eight times as long, with slack; were it quadratic, 64 times, in every try."""
    for _ in range(tries):
        started = time.process_time()
        extract(page(small), SITE)
        seconds = time.process_time() - started
        started = time.process_time()
        extracted = extract(page(large), SITE)
        taken = time.process_time() - started
        if taken < large / small * 4 * seconds + 0.3:
            return extracted
    raise AssertionError(f"{large} characters took {taken:.2f} s, {small} took {seconds:.2f} s")


def test_a_page_beyond_all_bounds_is_refused_before_it_is_read(monkeypatch):
    page = "A [[b]] {{c}}. " * (50_000_000 // 15)
    monkeypatch.setattr("stele.corpora.wikitext.paragraphs._reduce", lambda *given: pytest.fail("it is read"))
    with pytest.raises(SteleError, match=r"49,999,995 characters.*8,388,608"):
        extract(page, SITE)
