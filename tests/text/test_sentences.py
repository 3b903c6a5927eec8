"""Sentence splitting: hand cases per script, laws over odd text, and the stated quality on real texts."""

import random
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from sentence_breaks import NEWS, boundary_quality, news_quality, running_quality, running_text

from stele import catalogue
from stele.text.sentences import split_sentences, tidy

CASES = {
    "en": ["Dr. Ames met J. Smith at 3.5 km.", "He left.", "Why?"],
    "de": ["Am 3. Mai kam Dr. Braun.", "Er blieb z. B. hier."],
    "ar": ["هذا كتاب.", "هل تقرأ؟", "نعم."],
    "ur": ["یہ کتاب ہے۔", "کیا آپ پڑھتے ہیں؟", "جی ہاں۔"],
    "hi": ["यह किताब है।", "क्या आप पढ़ते हैं?", "हाँ।"],
    "bn": ["এটি একটি বই।", "আপনি কি পড়েন?", "হ্যাঁ।"],
    "am": ["ሰላም ነው።", "እንዴት ነህ?", "ደህና ነኝ።"],
    "hy": ["Սա գիրք է։", "Դու կարդում ես։"],
    "my": ["ဒါက စာအုပ်ပါ။", "ဟုတ်ကဲ့။"],
    "km": ["នេះជាសៀវភៅ។", "បាទ។"],
    "bo": ["འདི་དཔེ་ཆ་རེད།", "ལགས་སོ།"],
    "ka": ["ეს წიგნია.", "კითხულობ?"],
    "ko": ["이것은 책입니다.", "읽습니까?", "네."],
    "te": ["ఇది పుస్తకం.", "చదువుతారా?"],
}
JOINED = {
    "zh": ["这是一本书。", "你读吗？", "他说：“好。”", "iPhone是手机。"],
    "ja": ["これは本です。", "読みますか？", "はい！", "DVDです。"],
}


def texts(text, language):
    return [text[start:end] for start, end in split_sentences(text, language)]


@pytest.mark.parametrize("language", CASES)
def test_full_stops_of_every_script(language):
    assert texts(" ".join(CASES[language]), language) == CASES[language]


@pytest.mark.parametrize(("language", "sentences"), [
    # a number begins a sentence where full stops mark ordinals, too
    ("ca", ["Va anar a Berlín.", "1995 va ser dur."]), ("cs", ["Odjel do Berlína.", "1995 byl těžký."]),
    ("da", ["Han rejste til “Berlin”.", "1995 kom han tilbage."]), ("sk", ["Odišiel do Berlína.", "1995 bol ťažký."]),
    ("de", ["Er zog (1990) nach Berlin.", "1995 kam er in die Goethestr. 5 und blieb im 20. Jahrhundert."]),
    ("fi", ["Hän muutti Berliiniin.", "1995 hän palasi."]),
    # words that sentencex takes for abbreviations
    ("en", ["She gave it to me.", "Donald said no.", "Trump left."]),
    ("es", ["Todo fue bien.", "Dijo que no.", "Se fue."]),
    ("it", ["Accadde anni fa.", "Andò negli “USA”.", "Uscì dalla NATO."]),
    ("nl", ["Hij ging naar de VS.", "Zij bleef."]),
    ("no", ["Han så det.", "Hun gikk."]), ("sv", ["Det sade hon.", "Han gick ut.", "De såg det."]),
    # short words and years
    ("en", ["They made art.", "Another came in 1900.", "He saw Linear B.", "The end was near."]),
    ("en", ["It was later.", "then nobody came."]),  # five letters and no capital, as on the web
    ("es", ["Murió en 1900.", "Nació ahí."]), ("mr", ["त्याला दे.", "तो लेखक आहे."]), ("ka", ["ეს წიგნია.", "ეს არა."]),
    ("ka", ["გარდაიცვალა 1915 წ.", "ის იყო მწერალი."]), ("ta", ["அது பழமை.", "நீ வந்தாய்."]),
    ("hi", ["वह अच्छा है.", "वह गया था."]), ("or", ["ସେ ଗଲେ.", "ସେ ଆସିଲେ."]), ("gu", ["તે સારું છે.", "તે ગયો."]),
    ("ar", ["عام 1900.", "ثم مات."]), ("ko", ["그는 갔다.", "iPhone은 새 것이다."]),
    ("vi", ["Ở ngoại ô.", "Sau đó."]), ("en", ["See 1815.", "1960 was better."]),
])  # fmt: skip
def test_what_looks_like_an_ordinal_or_an_abbreviation_ends_a_sentence(language, sentences):
    assert texts(" ".join(sentences), language) == sentences


@pytest.mark.parametrize(("language", "right", "typed"), [
    ("am", "።", "፡፡"), ("am", "።", "::"), ("am", "።", " ፡፡"),
    ("bn", "।", "৷"), ("bn", "।", "|"), ("hi", "।", " |"), ("hi", "।", "||"),
])  # fmt: skip
def test_signs_that_are_typed_for_a_full_stop_end_sentences(language, right, typed):
    first, *_, last = [sentence[:-1] for sentence in CASES[language]]
    for text in (
        f"{first}{right} {last}{right}",
        f"“{first}{right}” {last}{right}",
        f"({last}) {first}{right} {last}{right}",
    ):
        want = [sentence.replace(right, typed) for sentence in texts(text, language)]
        assert len(want) == 2
        assert texts(text.replace(right, typed), language) == want


def test_bars_and_colons_in_other_scripts_end_nothing():
    assert len(texts("std::vector | a || b", "en")) == len(texts("ወንጌል 3፡16 ሰላም፡ለዓለም", "am")) == 1


@pytest.mark.parametrize("language", JOINED)
def test_scripts_without_spaces(language):
    assert texts("".join(JOINED[language]), language) == JOINED[language]


def test_thai_phrases_end_at_spaces_between_letters_only():
    assert texts("ฉันอ่านหนังสือเล่มนี้ทุกวัน ซึ่งฉันชอบมาก", "th") == ["ฉันอ่านหนังสือเล่มนี้ทุกวัน", "ซึ่งฉันชอบมาก"]
    assert texts("ฉันไปโรงเรียนทุกวันเพราะอยากเรียน เขาอยู่บ้าน", "th") == ["ฉันไปโรงเรียนทุกวันเพราะอยากเรียน", "เขาอยู่บ้าน"]
    assert len(texts("เขาเกิดปี 1999 ที่ London ประเทศ", "th")) == 1  # a year and a Latin word are no ends
    assert len(texts("ก ข ค ง จ", "th")) == 1  # neither are the spaces of a short list


def test_no_boundary_inside_protected_spans():
    text = "He saw the U.S. Open. He left."
    start = text.index("U.S.")
    assert len(texts("Then at No. Ten. Yes.", "xx")) >= 2
    assert [text[a:b] for a, b in split_sentences(text, "xx", [(start, start + 9)])] == [
        "He saw the U.S. Open.",
        "He left.",
    ]
    assert split_sentences("A b. C d.", "en", [(0, 9)]) == [(0, 9)]


def test_signs_stay_with_their_sentence():
    assert texts("... Hello. !!!", "en") == ["... Hello. !!!"]
    assert split_sentences("— ! …", "en") == []
    assert split_sentences("", "en") == []


def test_spans_cover_all_but_spaces_in_order_whatever_the_text():
    draw = random.Random(0)
    signs = '.!?。！？"“”‘’«»()[]{}「」*-1a1)A 。\n\t\r\u200b😀é\u0301؟।…:;,. . .中กຂ\x00\x85\u2028 \u3000\ufeff'
    for _ in range(3000):
        text = tidy("".join(draw.choice(signs) for _ in range(draw.randint(0, 60))))
        spans = split_sentences(text, draw.choice(["en", "de", "zh", "ja", "ar", "hi", "th", "no such language"]))
        assert all(a < b for a, b in spans) and all(x[1] <= y[0] for x, y in pairwise(spans))
        assert all(text[a:b] == text[a:b].strip() and any(map(str.isalnum, text[a:b])) for a, b in spans)
        inside = {i for a, b in spans for i in range(a, b)}
        assert {i for i, sign in enumerate(text) if sign != " "} <= inside if any(map(str.isalnum, text)) else not spans


def test_long_texts_are_split_as_short_ones():
    text = " ".join(f"This is sentence number {i}." for i in range(6000))
    assert len(text) > 100_000
    assert len(split_sentences(text, "en")) == 6000
    assert len(split_sentences("a" * 200_000, "en")) == 1


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("hu", "Az 1949. évi törvény"), ("no", "Født 6. desember i Oslo"), ("fr", "En 44 av. J.-C. à Rome"),
        ("nl", "Hij speelde o.a. goed"), ("sv", "Han sjöng t.ex. bra"), ("tr", "Köy 19. yüzyılda kuruldu"),
        ("bg", "През 1900 г. в София, т.е. там"), ("ltg", "Dzims 1900. goda 6. decembrī"), ("de", "Im 19. Jahrhundert"),
        ("en", "The “Got Milk?” advertisement"), ("ko", "그는 1900. 12. 6. 서울에서"), ("bn", "২.৫ কি.মি. দূরে"),
        ("es", "El 6 dic. 1900 en la av. Libertad"), ("it", "Nel 44 a.C. a Roma, in S. Maria"), ("th", "ค.ศ. 1900"),
        ("zh", "他是J. S. 巴赫"), ("te", "ఎన్. టి. రామారావు"), ("he", "פרופ. לוי עם א. ב. יהושע"),
        ("ar", "عام 44 ق.م. في روما"), ("hi", "डॉ. शर्मा और मि. सिंह आए"), ("mr", "इ.स. १९४७ मध्ये डॉ. जोशी"),
        ("ne", "डा. शर्मा वि.सं. २०४७ मा"), ("ta", "கி.மு. 300 இல் திரு. ராமன்"), ("gu", "ઈ.સ. ૧૯૪૭માં ડૉ. શર્મા"),
        ("kn", "ಕ್ರಿ.ಶ. 1900ರಲ್ಲಿ ಡಾ. ರಾಮ"), ("pa", "ਡਾ. ਸਿੰਘ ਅਤੇ ਪ੍ਰੋ. ਕੌਰ"),
        ("ta", "மு. கருணாநிதி 5 கி.மீ. தூரம்"), ("ka", "ა. წერეთელი მწერალი იყო"), ("or", "ଡ. ରାମ ଆସିଲେ"),
        ("hi", "वि. सं. २०४७ में 5 कि.मी. दूर"), ("ne", "वि. सं. २०४७ मा"), ("pa", "ਸ. ਬੇਅੰਤ ਸਿੰਘ"), ("gu", "૫ કિ.મી. દૂર"),
    ],
)  # fmt: skip
def test_no_sentence_ends_after_an_abbreviation_an_ordinal_or_within_a_date(language, text):
    assert texts(text, language) == [text]


def marked(text):
    """The sentences of a text with a mark where one ends and the next begins, and what stands between them."""
    space = " " if " | " in text else ""
    return text.split(f"{space}|{space}"), space


CLOSING_SIGNS = [
    row.split("\t")
    for row in Path(__file__).with_name("closing_signs.tsv").read_text(encoding="utf-8").splitlines()
    if not row.startswith("#")
]


@pytest.mark.parametrize(("language", "text"), CLOSING_SIGNS)
def test_a_quotation_or_bracket_ends_a_sentence_only_where_one_ends(language, text):
    sentences, space = marked(text)
    assert texts(space.join(sentences), language) == sentences


def pairs_of_unicode():
    """Every closing sign of Unicode with the opening one before it, and what keyboards and some languages pair."""
    openers = [sign for sign in map(chr, range(0x10000)) if unicodedata.category(sign) in ("Ps", "Pi")]
    closers = [sign for sign in map(chr, range(0x10000)) if unicodedata.category(sign) in ("Pe", "Pf") and sign != "﴾"]
    before = {"]": "[", "}": "{", "］": "［", "｝": "｛"}
    pairs = [(before.get(sign) or max(opener for opener in openers if opener < sign), sign) for sign in closers]
    return [*pairs, ("﴿", "﴾"), *('""', "„“", "„”", "””", "‚‘", "’’", "『』", "＂＂")]


IN_PAIRS = [
    ("ja", "映画{}谷の風！{}の続編。|人気がある。"), ("ja", "{}星の夜。{}は映画。|監督は無名。"),
    ("zh", "{}谁来了？{}是小说。|作者有名。"), ("bn", "{}কে?{} বলে সে গেল। | সে এল।"),
    ("ko", "그는 {}가자.{}라고 말했다. | 그리고 떠났다."), ("en", "He said {}Go now.{} and left. | She came."),
    ("ar", "قال {}نعم؟{}، ثم ذهب. | جاء أحمد."), ("hi", "{}क्या?{} के बाद वह गया। | वह आया।"),
    ("ru", "Он сказал {}Да.{} и ушёл. | Она пришла."), ("de", "Er las {}Was nun?{}, dann ging er. | Sie kam."),
    ("te", "{}రా.{} అని అన్నాడు. | అతను వెళ్ళాడు."), ("my", "{}သွားမယ်။{} ဟု ပြောသည်။ | သူ သွားသည်။"),
    ("am", "{}ሂድ።{} አለ። | እሱ ሄደ።"), ("hy", "{}Գնա։{} ասաց նա։ | Նա գնաց։"), ("km", "{}ទៅ។{}គឺល្អ។ | គាត់ទៅ។"),
    ("th", "เขา{}ไป!{}ดี"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text"), IN_PAIRS)
def test_a_closing_sign_of_every_pair_belongs_to_what_it_closes(language, text):
    sentences, space = marked(text)
    for opener, closer in pairs_of_unicode():
        want = [sentence.format(opener, closer) for sentence in sentences]
        assert texts(space.join(want), language) == want, opener + closer


def test_a_long_quotation_is_read_sentence_by_sentence():
    sentences = [f"This is sentence {n} of a quotation." for n in "abcdefgh"]
    quoted = '"' + " ".join(sentences) + '" he said.'
    assert len(texts(quoted, "en")) == len(sentences)
    assert texts(quoted, "en")[-1] == sentences[-1] + '" he said.'
    assert len(texts('"' + " ".join(sentences[:3]) + '" he said.', "en")) == 1


MISSED = {"de": 1, "it": 1}  # boundaries not found
WRONG = {"fi": 1, "ms": 1, "th": 2}  # boundaries found where none is


@pytest.mark.parametrize("language", running_text())
def test_running_text_with_dates_and_abbreviations(language):
    hits, actual, wanted = running_quality(language)
    assert (wanted - hits, actual - hits) == (MISSED.get(language, 0), WRONG.get(language, 0))


def test_running_text_covers_the_languages_of_kept():
    groups = catalogue.load("recipes")["languages"]
    assert set(running_text()) == set(groups["mcontriever"])
    assert all(len(paragraphs) >= 3 for paragraphs in running_text().values())


BARS = {  # least F1 of the boundaries, a little below what the module's docstring states
    "ar": 0.97, "de": 0.965, "el": 0.96, "en": 0.965, "es": 0.955, "hi": 0.96, "ru": 0.97, "th": 0.25, "tr": 0.90,
    "vi": 0.95, "zh": 0.93,
}  # fmt: skip


@pytest.mark.parametrize("language", BARS)
def test_stated_quality_on_xquad_r(real_data, language):
    path = real_data / f"lareqa_xquad_r/xquad-r/{language}.json"
    precision, recall = boundary_quality(path, language)
    assert 2 * precision * recall / (precision + recall) > BARS[language]


NEWS_BARS = {  # least precision and recall, below what docs/kept.md states
    "ar": (0.98, 0.90), "bn": (0.96, 0.92), "da": (0.94, 0.92), "de": (0.92, 0.94), "el": (0.98, 0.94),
    "en": (0.99, 0.93), "et": (0.96, 0.94), "fa": (0.98, 0.94), "fi": (0.90, 0.92), "fr": (0.95, 0.93),
    "he": (0.98, 0.92), "hi": (0.98, 0.94), "id": (0.98, 0.94), "it": (0.98, 0.92), "ja": (0.88, 0.94),
    "ko": (0.87, 0.92), "nl": (0.94, 0.93), "no": (0.96, 0.93), "pl": (0.88, 0.94), "pt": (0.96, 0.93),
    "ro": (0.98, 0.93), "ru": (0.96, 0.94), "es": (0.96, 0.93), "sw": (0.97, 0.94), "sv": (0.95, 0.92),
    "ta": (0.90, 0.94), "te": (0.98, 0.94), "th": (0.33, 0.52), "tr": (0.90, 0.93), "uk": (0.92, 0.93),
    "ur": (0.95, 0.96), "vi": (0.97, 0.94), "zh": (0.95, 0.90),
}  # fmt: skip


@pytest.mark.parametrize("name", NEWS)
def test_stated_quality_on_news(real_data, name):
    precision, recall = news_quality(real_data / "ntrex", name)
    assert (precision, recall) > NEWS_BARS[NEWS[name]] and recall > NEWS_BARS[NEWS[name]][1]
