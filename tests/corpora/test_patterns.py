"""Every pattern of the stage reads a text in about linear time, however odd the text.

CPU time is compared only where it is long enough to say something, and the least of several tries counts.
"""

import importlib
import pkgutil
import re
import time

import pytest

import stele.corpora
from stele.corpora.dumps.sql_dump import ITEM, SITE, TITLE, _row_or_rest
from stele.corpora.wikitext.extensions import DROPPED, _closing, one_of

SMALL, LARGE = 1500, 12_000  # characters; were a pattern quadratic, the large text would take 64 times the small one's
SLOW = 0.1  # CPU seconds that no linear pattern comes near at LARGE
# patterns that are given a few characters only: the end of a sentence, the name of a file
SHORT = {"abbreviations._WORD", "dump_files._ARTICLES"}
# patterns that are tried at the beginning of a text or a line alone
AT_START = {
    "xml_dump._PROLOG",
    "paragraphs._GALLERY_LINE",
    "paragraphs._HEADING",
    "sql_dump._BLANK",
    "extensions._FLAGS",
    "sql_dump._CREATE",
    "sql_dump._INSERT",
    "sql_dump._NO_COLUMN",
    "sql_dump._NO_ROW",
    "sql_dump._STATEMENT",
    "wikitext103.MARKS",
}
UNITS = [
    "<", " ", "< ", "<br ", "</", "<ref>", "<ref ", "<ref name=a", "<ref \"", "<ref a=\"'<", "<p '\"<", "<ref a<",
    "-{a|", "-{zh:a;", "__A__", "a=>zh:",
    "<!--", "-->", "<nowiki ", "<p ", "<div.", "*",
    "*#:;", "**a:", "[", "]", "[[", "[http://aaa", "[http://a ", "[//a []", "[[a:", "[[a|[", "{", "{{a", "}", "{|",
    "-{", "\n ", "\n:", "\n=", "=", "= ", "'", "(", "( ", "(,", ", ", " ,", ";", "&nbsp;", "&#1", "_", "__A", "（",
    "，", ".", ". ", "1.", "a", "a b", "é", "ก ", "中", "។", "%C3", "\u200e_", ".jpg ", "a.jpg:", "a:b.jpg", "(1,",
    "),", "\\'", "#redirect ", "zh-", "-a",
]  # fmt: skip
BEFORE = ("", "[[", "<")


def patterns():
    actual = {"extensions._closing": _closing("ref"), "sql_dump._row_or_rest": _row_or_rest((ITEM, SITE, TITLE))}
    for module in pkgutil.walk_packages(stele.corpora.__path__, "stele.corpora."):
        last = module.name.rpartition(".")[2]
        for name, value in vars(importlib.import_module(module.name)).items():
            values = value.items() if isinstance(value, dict) else [("", value)]
            actual |= {f"{last}.{name}{key}": one for key, one in values if isinstance(one, re.Pattern)}
    return {name: pattern for name, pattern in actual.items() if name not in SHORT}


def seconds(pattern, text, everywhere):
    text = text.encode() if isinstance(pattern.pattern, bytes) else text
    started = time.process_time()
    for _ in pattern.finditer(text) if everywhere else [pattern.match(text)]:
        pass
    return time.process_time() - started


def is_linear(pattern, before, unit, everywhere=True, tries=3):
    def text(size):
        return before + unit * (size // len(unit)) + "x"

    return any(
        (large := seconds(pattern, text(LARGE), everywhere)) < SLOW
        or large < LARGE / SMALL * 3 * seconds(pattern, text(SMALL), everywhere)
        for _ in range(tries)
    )


@pytest.mark.parametrize("name", patterns())
def test_a_pattern_takes_linear_time(name):
    pattern = patterns()[name]
    everywhere = name not in AT_START
    slow = [(before, unit) for before in BEFORE for unit in UNITS if not is_linear(pattern, before, unit, everywhere)]
    assert slow == []


def test_grouped_names_match_what_their_alternatives_do():
    names = DROPPED.split("|")
    grouped, plain = (re.compile(rf"</?({part})(?=[\s/>])", re.I) for part in (one_of(DROPPED), DROPPED))
    texts = [
        name[:end] + more for name in names for end in range(len(name) + 1) for more in ("", "x", "s", "\u017f", "ı")
    ]
    for text in [*texts, *map(str.upper, texts)]:
        matches = [pattern.match(f"<{text}>") for pattern in (grouped, plain)]
        assert len({match and match.groups() for match in matches}) == 1, text
    assert grouped.match("<REF>") and not grouped.match("<br>")
