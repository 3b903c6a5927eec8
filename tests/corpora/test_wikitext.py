"""Wikitext to text, links and sections: hand-worked cases, laws over random markup, linear time."""

import random
import re
import time

import pytest

from stele.corpora.wikitext.paragraphs import extract
from stele.corpora.wikitext.titles import Site
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
        (
            "A :-(,\n* b (;\n; c （，\n\n== H ==\nd （，\ne ({{lang|x}};\nborn 1900)",
            ["A :-(", "b (", "c （", "d （e (born 1900)"],
        ),
        # tables
        ("A.\n{| class=x\n! h\n|-\n| b || [[c]]\n{|\n| inner\n|}\n|}\nD.", ["A.", "D."]),
        ("A.\n:{|\n| b\n|}\nC.", ["A.", "C."]),
        ("A.\n{|\n| unclosed\n\n== H ==\nB.", ["A.", "B."]),
        ("A.\n<table><tr><td>x<table><tr><td>y</td></tr></table></td></tr></table>\nB.", ["A.", "B."]),
        ("A.\n| left over\n|}\nB.", ["A.", "B."]),
        ("A.\n! b | [[c]]\n!Kung [[San people|San]] and [[Khoi]] live.", ["A.", "!Kung San and Khoi live."]),
        ("A\n{| b {| c\n|} d |}\nE", ["A d E"]),  # marks count at the beginning of a line only
        ("\n{|\n| {| a\n|}\nB\n:{|\nc\n |}D", ["B", "D"]),
        ("A |}\n|} b\n{|\nc\n|}\nD", ["A b", "D"]),
        ("<table>a</table><table>b</table>C</table>D", ["CD"]),
        # references, comments, nowiki and other extension tags
        ('A<ref>x</ref> b<ref name="y" /> c<ref name=z>{{cite|[[d]]}}</ref>.', ["A b c."]),
        (
            "<langconvert from=zh to=zh-tw>A</langconvert><meta x=y/> <phonos file=b.ogg>b</phonos><link rel=c>d",
            ["A bd"],
        ),
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
        ("the newspaper ''{{lang|de|Die Frau}}'' (The Woman)", ["the newspaper (The Woman)"]),
        ("Algeria (''{{lang|ber}}''; Dzayer) '''{{x|{{y}}}}''' l'''{{z}}'' b", ["Algeria (Dzayer) l' b"]),
        ("a ''{{x}} b'' '''''{{x}}''' c'' ''{{x}}'''d'''''", ["a b c d"]),
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


# (language, wikitext, text, links as label>target) by MediaWiki's ConverterRule, from the site's main variant
VARIANTS = [
    ("zh", "前-{[[計算機|電腦]]}-后", "前電腦后", "電腦>計算機"),
    ("zh", "前-{zh-hans:[[计算机|电脑]];zh-hant:[[計算機|電腦]]}-后", "前电脑后", "电脑>计算机"),
    ("zh", "前-{zh-hans:A&amp;B;zh-hant:C&amp;D}-后", "前A&B后", ""),
    ("zh", "前-{zh-hant:A;zh-hans:B}-后", "前B后", ""),
    ("zh", "前-{ zh-hans : 甲 ; zh-hant : 乙 ; }-后", "前甲后", ""),
    ("zh", "-{zh-cn:[[A|B]]; zh-tw:[[C]]}-后", "B后", "B>A"),
    ("zh", "-{zh-hans:A-{zh-hant:x;zh-hans:y}-;zh-hant:C}-后", "Ay后", ""),
    ("zh", "-{zh-hans:a&nbsp;b;zh-hant:c}-", "a b", ""),
    ("zh", "-{zh:&lt;k&gt;;b;zh-tw:c}-", "<k>;b", ""),
    ("zh", "-{zh-hans:http://x.org/a;zh-hant:b}-", "http://x.org/a", ""),
    ("zh", "-{zh-hans:A; B; doi: 3;zh-hant:C}-", "A; B; doi: 3", ""),  # no code of a variant
    ("zh", "-{zh-hans:A;zh-hans:B}-", "B", ""),
    ("zh", "-{zh-hans:;zh-hant:B}-", "B", ""),
    ("zh", "-{甲;zh-hant:B}-", "B", ""),
    ("zh", "-{甲:乙;zh-hant:B}-", "甲:乙;zh-hant:B", ""),  # not one rule, so it is text
    ("zh", "-{[[File:a.jpg]]}-x a -{}- b", "x a b", ""),
    # one way, which a rule of both ways goes before
    ("zh", "-{甲=>zh-hans:乙;}-后", "乙后", ""),
    ("zh", "-{甲=>zh-hans:乙;zh-tw:丙}-后", "丙后", ""),
    ("zh", "-{zh:a=>zh-hans:b}-", "a=>zh-hans:b", ""),
    # flags
    ("zh", "-{A|zh-hans:甲;zh-hant:乙}-后", "甲后", ""),
    ("zh", "-{A;T|zh-hans:甲}-后", "甲后", ""),
    ("zh", "-{H|zh-hans:甲;zh-hant:乙}-后-{ T ; H |zh-hans:a}-x-{-|zh-hans:a}-y-{D|zh-hans:a}-z", "后xyz", ""),
    ("zh", "-{N|zh-hans}-后", "后", ""),  # the name of a variant, which no dump has
    ("zh", "-{zh-hans;zh-hant|甲}-后-{zh-tw|[[a|b]]}-", "甲后b", "b>A"),
    ("zh", "-{zh-hans|zh-hans:甲;zh-hant:乙}-", "zh-hans:甲;zh-hant:乙", ""),
    ("zh", "-{R|[[A|b]];c}-", "b;c", "b>A"),
    ("zh", "-{H;R|zh:a}-", "zh:a", ""),
    ("zh", "-{h|zh-hans:甲}-", "甲", ""),  # is none
    # other languages
    ("sr", "-{sr-el:Beograd; sr-ec:Београд}-!", "Београд!", ""),
    ("sr", "-{sr-el:Beograd}-!", "Beograd!", ""),
    ("kk", "-{kk-arab:قازاق;kk-latn:Qazaq;kk-cyrl:Қазақ}-!", "Қазақ!", ""),
    ("uz", "-{uz-cyrl:Тошкент;uz-latn:[[Toshkent]]}-", "Toshkent", "Toshkent>Toshkent"),
    ("", "-{sr-el:Beograd;}-!", "Beograd!", ""),
]


@pytest.mark.parametrize(("language", "wikitext", "shown", "linked"), VARIANTS)
def test_a_language_variant_shows_what_the_site_shows(language, wikitext, shown, linked):
    site = Site(language)
    assert " ".join(text(wikitext, site)) == shown
    assert ",".join(f"{label}>{target}" for label, target in links(wikitext, site)) == linked


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        *((f"A.<ref {attributes}>note [[x]]</ref> B.", "A. B.") for attributes in (
            'name="p<0.05"', 'group="<" name=a', "name=p<0.05", "name='<'", "name=<", 'name="x', 'name="a>b"',
            'name="<ref>"', 'name="<"\n group=b',
        )),
        *((f"A.<{tag}> B.", "A. B.") for tag in ('ref name="p<0.05" /', 'REF name="<"/', 'references group="<" /')),
        ("A <nowiki a=\"<\">''b''</nowiki> c", "A ''b'' c"),
        ('A <gallery caption="a<b">\nFile:x.jpg|y\n</gallery> B', "A B"),
        ('A <math a="<">x</math> B', "A B"),
        ('A <span title="a<b">s</span> <small title="it\'s <5">t</small> B', "A s t B"),
        ("A <div class='x<y'>s</div> B", "A s B"),
        ('A<br title="<"/>B', "A B"),
        ("A. <ref name=p<a>n</ref> B.", "A. B."),
        ("A. <ref name=p<a />B. <ref name=p<a><b>n</b></ref>C.", "A. B. C."),
        ("A. <span title=a<b>t</span> B.", "A. t B."),
        ("A<br clear=a<b />B <small class=a<b>s</small>.", "A B s."),
        ("<div class=x<y>s</div>\n<poem style=a<b>t</poem>", "s t"),
        ("A. <nowiki x=a<b>t</nowiki> B.", "A. t B."),
        ('{| a="<"\n| b="<" | c\n|}\nT', "T"),
        ('A<!-- <ref name="<"> -->B', "AB"),
        ("x < y and z > w", "x < y and z > w"),
    ],
)  # fmt: skip
def test_only_a_greater_sign_ends_a_tag(wikitext, expected):
    assert " ".join(text(wikitext)) == expected


@pytest.mark.parametrize(
    "word",
    ["NOTOC", "TOC", "toc", "NoEditSection", "INDEX", "KEIN_INHALTSVERZEICHNIS", "notalk", "目次", "БЕЗ_ОГЛ"],
)
def test_words_of_page_behaviour_show_nothing(word):
    assert text(f"a__{word}__b __{word}__ c") == ["ab c"]


@pytest.mark.parametrize(
    "word", ["init", "main", "FOO", "FILE", "END", "a__b", "имя", "ключ", "index", "NoIndex", "hiddencat", "indice"]
)
def test_other_words_between_underscores_are_text(word):
    assert text(f"a __{word}__ b x__{word}__y") == [f"a __{word}__ b x__{word}__y"]


def test_sections_point_to_their_first_paragraph():
    page = extract(
        "Lead.\n== A ==\n=== ''B'' [[c]] ===\nOne.\n\nTwo.\n==D==<!-- x -->\n== Empty ==\n==E==\nThree.\n== Last ==",
        SITE,
    )
    assert page.paragraphs == ["Lead.", "One.", "Two.", "Three."]
    assert page.sections == [("A", 1), ("B c", 1), ("D", 3), ("Empty", 3), ("E", 3)]


def test_a_heading_of_a_template_alone_begins_a_section_without_title():
    """As of French headings of centuries: their text is not of the section before."""
    page = extract("Lead.\n== A ==\nOne.\n=== {{s|19}} ===\nTwo.\n==={{s|20}}===\nThree.\n== = ==\nFour.", SITE)
    assert page.paragraphs == ["Lead.", "One.", "Two.", "Three.", "Four."]
    assert page.sections == [("A", 1), ("", 2), ("", 3), ("", 4)]


MARKUP = [
    "[[", "]]", "{{", "}}", "{|", "\n|}", "\n|-", "|", "'''", "''", "==", "\n== ", "\n* ", "<ref>", "</ref>", "<!--",
    "-->", "<nowiki>", "</nowiki>", "<table>", "</table>", "<br>", "[http://x ", "]", "File:", "Kategorie:", "de:",
    "&nbsp;", "&amp;", "-{", "}-", "__TOC__", "{{{", "}}}", "<gallery>", "</gallery>", " ", "\n", "\n\n", "#", "(", ")",
    ";", ":", "=",
]  # fmt: skip
WHOLE = [
    "ab", "Ć d", "中", " ", "[[ab]]", "[[c d|''e'' f]]", "{{a|[[b]]}}", "[[File:x.png|y]]",
    "\n\n", "<ref>z</ref>", "''i''",
]  # fmt: skip


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
