"""Texts become terms: words at Unicode's boundaries in every script, pieces where words are not parted."""

import unicodedata

import pytest

from stele import catalogue
from stele.errors import SteleError
from stele.text.terms import TermNumbers, analyzer


def test_english_as_lucene_cuts_and_stems_it():
    """As Anserini's DefaultEnglishAnalyzer gives it (read from its jar), stop words taken out."""
    actual = analyzer("en")("The city's largest U.S. rivers don't flow 3.5 km; e-mail foo_bar 1,000")
    assert actual == ["citi", "largest", "u.", "river", "don't", "flow", "3.5", "km", "e", "mail", "foo_bar", "1,000"]
    assert analyzer("en")("It's the sea's shore, that’s there") == ["sea", "shore"], "'s goes before stop words do"


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        # vowel signs and viramas are parts of words, the danda ends a sentence
        ("bn", "বাংলাদেশের রাজধানী ঢাকা।", ["বাংলাদেশের", "রাজধানী", "ঢাকা"]),
        ("te", "తెలుగు భాష, ఆంధ్ర.", ["తెలుగు", "భాష", "ఆంధ్ర"]),
        ("ar", "القاهرة، عاصمة", ["قاهر", "عاصم"]),
        ("ar", "٣٫١٤، ١٬٠٠٠ كم", ["3٫14", "1٬000", "كم"]),  # one word each, as of Lucene's StandardTokenizer
        ("ru", "Столицами городов", ["столиц", "город"]),
        ("fi", "Suomessa on järviä", ["suome", "on", "järv"]),
        ("id", "Perjalanan ke Jakarta", ["jalan", "ke", "jakarta"]),
        # articles without their vowel, "d'" for a stop word too; accents taken off stems
        ("fr", "L'État d’Élise aujourd'hui, jusqu'à", ["etat", "elis", "aujourd'hui"]),
        ("es", "Las canciones españolas", ["cancion", "español"]),
        ("hi", "भारतीय नदियों", ["भारतीय", "नद"]),
        ("sw", "Mji mkuu wa Kenya?", ["mji", "mkuu", "wa", "kenya"]),
    ],
)
def test_words_of_scripts_with_spaces(language, text, terms):
    assert analyzer(language)(text) == terms


def test_pairs_of_letters_as_lucene_s_cjk_analyzer_makes_them():
    """The first as CJKAnalyzer gives it (Lucene 9.9): width folded, one letter alone kept, Latin words apart."""
    text = "２０１０ 日本語テストー です Ａｂ 年"
    expected = ["2010", "日本", "本語", "語テ", "テス", "スト", "トー", "です", "ab", "年"]
    assert analyzer("ja")(text) == expected
    assert analyzer("zh")("北京２０１０年奥运会 WTO") == ["北京", "2010", "年奥", "奥运", "运会", "wto"]
    assert analyzer("ko")("한국의 수도 A급") == ["한국", "국의", "수도", "a", "급"]


def test_thai_in_pieces_of_letters_with_their_marks():
    assert analyzer("th")("ประเทศไทย") == ["ประ", "ระเ", "ะเท", "เทศ", "ทศไ", "ศไท", "ไทย"]
    assert analyzer("th")("ที่ 2") == ["ที่", "2"]  # one letter with its vowel and tone: shorter than a piece
    assert analyzer("th")("พ.ศ. ๒๕๖๐")[-1] == "2560"


@pytest.mark.parametrize("language", sorted(catalogue.load("analyzers")))
def test_the_form_of_letters_does_not_matter(language):
    """Composed or not, wide or not, upper or lower case: the same terms, so a query finds its passage."""
    text = "Élan Тест ガギグ हिन्दी 東京 조선 café"
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    assert len({tuple(analyzer(language)(form)) for form in [*forms, text.upper(), text.lower()]}) == 1


@pytest.mark.parametrize(
    ("language", "text", "same"),
    [
        ("en", "London’s bridge, they don’t", "London's bridge, they don't"),
        ("de", "Donau\u00addampf\u00adschiff \u200eWien\u200e", "Donaudampfschiff Wien"),
        ("ja", "葛\U000e0100城市", "葛城市"),
        ("de", "6½ Meter", "6 1/2 Meter"),
        ("zh", "6½公里", "6 1/2 公里"),
        ("es", "´casa´ y ¨mesa¨", "casa y mesa"),  # accents that stand for quotation marks
        ("fi", "Nimi: ____ __ ❤\ufe0f 👨\u200d👩", "Nimi:"),  # neither letter nor digit: no word
        ("th", "Nimi: ____ __ ❤\ufe0f 👨\u200d👩", "Nimi:"),
    ],
)
def test_what_is_written_otherwise_and_read_alike_has_the_same_terms(language, text, same):
    assert analyzer(language)(text) == analyzer(language)(same) != []


def test_numbers_are_those_of_the_terms_and_stop_words_have_none():
    assert TermNumbers("en", ["nile", "river"])("The River Nile and the rivers of Egypt") == [1, 0, 1, -1]
    for language in ("ja", "th", "ar"):
        terms = analyzer(language)("東京タワー ประเทศไทย العربية")
        distinct = list(dict.fromkeys(terms))
        assert TermNumbers(language, distinct)("東京タワー ประเทศไทย العربية") == [distinct.index(t) for t in terms]


def test_memory_of_words_is_bounded(monkeypatch):
    monkeypatch.setattr("stele.text.terms.MOST_WORDS", 3)
    numbers = TermNumbers("sw", ["w7", "w2"])
    assert numbers(" ".join(f"w{i}" for i in range(10)) + " w2 w7") == [-1, -1, 1, -1, -1, -1, -1, 0, -1, -1, 1, 0]
    assert len(numbers._number) <= 3


def test_a_language_without_an_analyzer_is_refused():
    with pytest.raises(SteleError, match=r"unknown analyzer .xx.\. Valid: ar, bn"):
        analyzer("xx")


def test_every_language_that_is_searched_by_terms_has_an_analyzer():
    settings = catalogue.load("settings")["settings"]
    kinds = {name: {entry["kind"] for entry in one.values()} for name, one in settings.items()}
    searched = [name for name, own in kinds.items() if own & {"lexical", "tuned"}]
    assert {"mrtydi", "ntcir8_zh", "clef2006_fr"} <= {*searched}
    for benchmark in searched:
        languages = set(catalogue.load("benchmarks")[benchmark]["languages"])
        assert languages and languages <= set(catalogue.load("analyzers"))
