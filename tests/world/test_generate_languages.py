"""languages.yaml, and what the generated languages look like: scripts, spaces, order, relatives."""

import re
import unicodedata

import pytest

from stele import catalogue
from stele.recipes.world import Dials, WorldSizes
from stele_world.content.concepts import inventory
from stele_world.content.generate import generate
from stele_world.language.lexicon import Sounds
from stele_world.language.scripts import scripts

# codes of MSM's released recipe (run_msm.sh) that are not among the files of CC-100
NOT_IN_CC100 = ["als", "an", "arz", "ast", "bar", "ceb", "ckb", "ia", "lb"]
NOT_IN_CC100 += ["nds", "nn", "oc", "scn", "sco", "sh", "tt", "war", "wuu"]
TOLD = [code for code, entry in catalogue.load("languages").items() if "world" in entry]
SCRIPTS = {  # what the Unicode names of a script's letters begin with
    "Latin": ("LATIN",),
    "Cyrillic": ("CYRILLIC",),
    "Greek": ("GREEK",),
    "Arabic": ("ARABIC",),
    "Devanagari": ("DEVANAGARI",),
    "Bengali": ("BENGALI",),
    "Telugu": ("TELUGU",),
    "Tamil": ("TAMIL",),
    "Thai": ("THAI",),
    "Hangul": ("HANGUL",),
    "Japanese": ("HIRAGANA", "KATAKANA", "CJK"),
    "Han": ("CJK",),
}
SIZES = WorldSizes(entities=30, web_documents=4, nouns=20)
NO_FOREIGN = SIZES.model_copy(update={"dials": Dials(loan=0, verbatim=0)})


@pytest.fixture(scope="module")
def world():
    return generate(SIZES, TOLD, 1)


def text_of(world, code: str) -> str:
    sentences = [s.text for a in world.articles(code) for s in a.sentences()]
    sentences += [s for d in world.web_documents(code) for p in d for s in p]
    return "\n".join(sentences + [q.text for q in world.questions("mrtydi", code, "test")])


@pytest.mark.parametrize("code", TOLD)
def test_letters_are_of_the_languages_script(code):
    world = generate(NO_FOREIGN, [code], 1)
    script = catalogue.load("languages")[code]["script"]
    for character in set(text_of(world, code)):
        kind = unicodedata.category(character)[0]
        if kind in "LM":
            assert unicodedata.name(character).startswith(SCRIPTS[script]), (character, unicodedata.name(character))
        else:
            assert kind in "PNZC", character


@pytest.mark.parametrize("code", ["th", "ja", "zh"])
def test_languages_without_spaces_have_none(world, code):
    latin = {e.names[code] for e in world.entities.values() if e.names[code].isascii()}
    for line in text_of(world, code).split("\n"):
        for name in latin:
            line = line.replace(name, "")
        assert " " not in line
    assert " " in text_of(world, "ko")


def test_names_are_latin_or_transliterated(world):
    russian = [e.names["ru"] for e in world.entities.values()]
    english = [e.names["en"] for e in world.entities.values()]
    kept = sum(a == b for a, b in zip(russian, english, strict=True)) / len(russian)
    assert 0.1 < kept < 0.6  # dials.verbatim .3
    assert [e.names["fi"] for e in world.entities.values()] == english


def test_relatives_share_more_words_than_strangers():
    languages = ["ru", "uk", "pl", "es", "ro", "fr", "de", "fi"]
    world = generate(WorldSizes(entities=20, nouns=57, dials=Dials(loan=0)), languages, 0)
    sounds = {code: world.lexicons[code].sounds for code in languages}
    concepts = [c for c, part in world.concepts.parts.items() if part == "noun"]

    def shared(one: str, other: str) -> float:
        """Share of the nouns whose first three sounds are the same."""
        stems = [(sounds[one].of(one, c)[:3], sounds[other].of(other, c)[:3]) for c in concepts]
        return sum(a == b for a, b in stems) / len(stems)

    strangers = [shared(a, b) for a, b in (("ru", "es"), ("uk", "fi"), ("ro", "fi"), ("pl", "de"), ("fr", "ru"))]
    for relatives in (("ru", "uk"), ("ru", "pl"), ("es", "ro"), ("es", "fr")):
        assert shared(*relatives) > 0.25 > 2 * max(strangers)


def test_chinese_characters_are_shared_by_chinese_and_japanese(world):
    nouns = [c for c, part in world.concepts.parts.items() if part == "noun"]
    chinese, japanese = (world.lexicons[code].forms for code in ("zh", "ja"))
    assert sum(chinese[c][0] == japanese[c][0] for c in nouns) > len(nouns) / 3


def test_no_two_concepts_share_a_form(world):
    for code in {*TOLD} - {"en"}:
        forms = [form for forms in world.lexicons[code].forms.values() for form in forms]
        assert len(set(forms)) == len(forms), code


def test_word_order_is_the_languages(world):
    entity, fact = next(
        (e, f) for e in world.entities for f in world.facts.of[e] if f.relation == "company.makes" and f.kind == "noun"
    )
    from stele_world.content.draws import stream
    from stele_world.language.grammar import Frame

    def order(code: str) -> str:
        grammar = world.grammars[code]
        lexicon = grammar.lexicon
        lexicon.loans.clear()
        line = grammar.statement(Frame(fact), "name", stream(0, "order"))
        verb = next(f for f in lexicon.forms["company.makes"] if f.lower() in line.text.lower())
        places = {
            "S": line.text.index(world.entities[entity].names[code]),
            "V": line.text.lower().index(verb.lower()),
            "O": line.value[0],
        }
        return "".join(sorted(places, key=places.get))

    actual = {code: order(code) for code in TOLD if code != "en"}
    assert actual == {code: catalogue.load("languages")[code]["world"]["order"] for code in actual}
    assert {"SVO", "SOV", "VSO"} == set(actual.values())


@pytest.mark.parametrize(
    ("script", "sounds", "full", "written"),
    [
        ("Latin", "Sarla", False, "sharla"),
        ("Cyrillic", "karla", False, "карла"),
        ("Greek", "sos", False, "σος"),
        ("Arabic", "kitab", False, "كتب"),
        ("Arabic", "kitab", True, "كيتاب"),
        ("Devanagari", "kitrA", False, "कित्रा"),
        ("Telugu", "amin", False, "అమిన్"),
        ("Thai", "kes", False, "เกส"),
        ("Thai", "an", False, "อัน"),
        ("Hangul", "kantra", False, "칸트라"),
        ("Japanese", "kantora", False, "かんとら"),
        ("Japanese", "karl", True, "カルル"),
        ("Han", "madrin", False, "马德里恩"),
    ],
)
def test_sounds_are_written_as_each_script_does(script, sounds, full, written):
    assert scripts()[script].write(sounds, full) == written


def test_a_lender_gives_its_own_word(world):
    sounds = Sounds(inventory(SIZES), SIZES.dials, 1)
    lent = [c for c in sounds.concepts.words if sounds.source("tr", c) == "ar"]
    assert lent
    concept = lent[0]
    changes = catalogue.load("languages")["tr"]["world"]["changes"]
    assert sounds.of("tr", concept) == "".join(changes.get(s, s) for s in sounds.of("ar", concept))


# --- the catalogue


def test_every_code_is_whole():
    for code, entry in catalogue.load("languages").items():
        assert re.fullmatch(r"[a-z]{2,3}", code)
        assert {"name", "script", "script_kind", "family"} <= entry.keys()
        assert not ("cc100" in entry and "cc100_substitute" in entry)
        if entry["script"] in ("Thai", "Lao", "Khmer", "Burmese", "Japanese", "Han"):
            assert entry["spaces"] is False


def test_tatoeba_codes_are_lasers_112():
    codes = [e["tatoeba"] for e in catalogue.load("languages").values() if "tatoeba" in e]
    assert len(codes) == len(set(codes)) == 112
    assert {"cmn", "pes", "swh", "ell", "tgl", "nob", "zsm", "lvs", "gsw"} <= set(codes)


def test_codes_that_cc100_lacks_have_a_named_substitute():
    entries = catalogue.load("languages")
    missing = {code: e["cc100_substitute"] for code, e in entries.items() if "cc100_substitute" in e}
    assert sorted(missing) == NOT_IN_CC100
    for code, substitute in missing.items():
        assert substitute["reason"]
        assert substitute["corpus"] == "wikipedia"
        assert "wikipedia" in entries[code]
    assert entries["zh"]["cc100"] == "zh-Hans"
