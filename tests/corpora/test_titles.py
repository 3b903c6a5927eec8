"""Normal form of titles and link targets: what MediaWiki does to them, worked by hand."""

import pytest

from stele.corpora.wikitext import titles
from stele.corpora.wikitext.titles import CATEGORY, FILE, MAIN, Site, capitalise

SITE = Site("de", True, {"Datei": 6, "Kategorie": 14, "Benutzer": 2, "Medium": -2, "Portal Diskussion": 101})


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("foo_bar", "Foo bar"),
        (" _foo__ bar_ ", "Foo bar"),
        ("Foo#Section", "Foo"),
        ("#Section", ""),
        ("Foo%20bar%3F", "Foo bar?"),
        ("%C3%A9cole", "École"),
        ("100%", "100%"),
        ("50%A0", "50%A0"),  # no UTF-8: not decoded
        ("&eacute;cole &amp; x", "École & x"),
        ("Cafe\u0301", "Café"),
        ("\u200eabc\u200f\u202c", "Abc"),
        ("a\u00a0b", "A b"),
        ("ßx", "ßx"),
        ("თბილისი", "თბილისი"),
        ("ΑΒ", "ΑΒ"),
        ("ωδή", "Ωδή"),
        ("中文", "中文"),
        ("", ""),
    ],
)
def test_a_title_in_normal_form_stays_so(written, title):
    assert SITE.normalise(written) == title
    assert SITE.normalise(title) == title  # and it stays


def test_first_letters_follow_the_wiki():
    assert Site(first_letter=False).normalise("foo") == "foo"
    assert [Site(code).normalise("istanbul") for code in ("tr", "az", "en", "")] == ["İstanbul"] * 2 + ["Istanbul"] * 2
    assert Site("tr").resolve("istanbul")[1] == Site("tr").normalise("istanbul")
    assert [capitalise(t) for t in ("ßx", "éa", "თბილისი", "ǆ", "")] == ["ßx", "Éa", "თბილისი", "Ǆ", ""]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Rom", (MAIN, "Rom")),
        ("Star Trek: Der Film", (MAIN, "Star Trek: Der Film")),
        ("datei:x.png", (FILE, "x.png")),
        ("File:x.png", (FILE, "x.png")),
        ("Image:x.png", (FILE, "x.png")),
        (" KATEGORIE :x", (CATEGORY, "x")),
        ("portal_Diskussion:x", (101, "x")),
        ("fr:x", (None, "lang")),
        ("wikt:x", (None, "project")),
    ],
)
def test_a_title_s_prefix_is_that_of_its_namespace_or_wiki(title, expected):
    assert SITE.prefix(title) == expected


@pytest.mark.parametrize(
    ("target", "shown", "article"),
    [
        ("rom", "rom", "Rom"),
        ("Rom (Stadt)", "Rom (Stadt)", "Rom (Stadt)"),
        ("rom_x", "rom_x", "Rom x"),
        (":Rom", "Rom", "Rom"),
        (":Kategorie:A", "Kategorie:A", ""),
        (":fr:A", "fr:A", ""),
        ("fr:A", None, ""),
        ("Kategorie:A", None, ""),
        ("Benutzer:A", "Benutzer:A", ""),
        ("#A", "#A", ""),
    ],
)
def test_the_text_and_the_target_of_a_link(target, shown, article):
    assert SITE.resolve(target) == (shown, article)


def test_files_are_known_by_name_or_by_type():
    assert SITE.shows_nothing("Datei", "a") and SITE.shows_nothing(" image ", "a.b")
    assert SITE.shows_nothing("Bild", "a") and SITE.shows_nothing("Unheard of", "a b.JPG ")
    assert not SITE.shows_nothing("Benutzer", "a.png") and not SITE.shows_nothing("Medium", "a.ogg")
    assert not SITE.shows_nothing("Star Trek", "Der Film")


def test_older_names_are_those_of_the_wikis_own_language():
    swedish, english, unlisted = Site("sv"), Site("en"), Site("xx")
    assert swedish.prefix("Fil:a") == (FILE, "a") and swedish.prefix("Kategori:a") == (CATEGORY, "a")
    for site in (english, unlisted):
        assert site.prefix("Fil:a") == (MAIN, "Fil:a") and not site.shows_nothing("Fil", "a")
        assert site.prefix("File:a") == (FILE, "a"), "the English names hold everywhere"
    assert Site("vi").prefix("Tập tin:a") == (FILE, "a")


def test_no_two_lists_of_older_names_are_of_one_language():
    languages = [language for shared in titles._NAMES for language in shared.split()]
    assert len(languages) == len({*languages}) > 60
