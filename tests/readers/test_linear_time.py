"""Every reader of text takes linear time, whatever signs it is of: four times the text, about four times as long.

Only what takes long enough to say something is compared, and the least of several tries counts.
"""

import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from stele.benchmarks import _topics, _trec, mewsli_x, squad, tatoeba_pairs, xda
from stele.corpora.wikitext import extensions, paragraphs
from stele.corpora.wikitext.titles import Site
from stele.errors import SteleError
from stele.evaluation.metrics import answers
from stele.pairs.methods import section
from stele.pairs.mining import segments
from stele.text.sentences import split_sentences, tidy
from stele.text.terms import analyzer

SLOW = 0.1  # CPU seconds that no linear reader needs for as many characters as are read of it
RATIO = 8  # were it quadratic, four times the text would take 16 times as long


def of_file(read: Callable[[Path], object], layout: str, tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(layout.format(text), encoding="utf-8")
    read(path)


def topics(path: Path) -> object:
    return _topics.topics(path, "en")


def trec_texts(path: Path) -> object:
    return [_trec.Text().of(document) for document in _trec.documents(path)]


def tei(text: str) -> object:
    printable = "".join(sign for sign in text if sign.isprintable() or sign in " \n\t")
    return xda.text_of(f"<TEI><body><p><s>{escape(printable)}</s></p></body></TEI>".encode(), "here")


def mention(text: str) -> object:
    span = {"start": 0, "end": len(text) + 2}
    context = {"text": f"{text}ab", "sentence_spans": [span]}
    return mewsli_x.mention_text(context, {"mention_span": {"start": len(text), "end": len(text) + 1}}, "here")


# reader -> (what reads a text, how many characters of it, a fourth of them at first)
READERS: dict[str, tuple[Callable[[str], object], int]] = {
    "sentences of SQuAD": (squad.sentence_spans, 50_000),
    "TEI": (tei, 100_000),
    "Mewsli-X": (mention, 50_000),
    "SQuAD's answers": (answers.squad_tokens, 100_000),
    "titles": (Site("sv").normalise, 100_000),
    "targets": (Site("sv")._resolve, 100_000),
    "files": (lambda text: Site("sv").shows_nothing("a", text), 100_000),
    "references": (extensions.decode, 100_000),
    "nowiki": (extensions.escape, 50_000),
    "headings": (partial(section.terms, stop_words=frozenset()), 50_000),
    "words": (segments.words, 50_000),
    "wikitext": (lambda text: paragraphs.extract(text, Site("zh")), 20_000),
    "variants": (lambda text: paragraphs.extract(f"-{{{text}}}-", Site("sr")), 20_000),
    "labels": (lambda text: paragraphs.extract(f"[[a|{text}]]", Site("zh")), 20_000),
    **{f"MLQA's answers, {code}": (partial(answers.mlqa_tokens, language=code), 50_000) for code in ("en", "ar", "zh")},
    **{f"terms, {code}": (analyzer(code), 20_000) for code in ("en", "fr", "ja")},
    **{
        f"sentences, {code}": (lambda text, code=code: split_sentences(tidy(text), code, [(0, 3)]), 20_000)
        for code in ("en", "ja")
    },
}  # fmt: skip
FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "topics in SGML": (topics, "<top>\n<num> Number: 1\n<title>{0}\n<desc> x {0}</top>"),
    "topics, no more than begun": (topics, "<top>{0}"),
    "topics in XML": (topics, "<topics><topic number='1'><query lang='en'><a{0}</query></topic></topics>"),
    "topics in lines": (topics, "1\t{0}"),
    "documents of TREC": (trec_texts, "<DOC><DOCNO>1</DOCNO><TEXT>{0}</TEXT></DOC>"),
    "documents of TREC, no more than begun": (trec_texts, "<DOC><DOCNO>1</DOCNO>{0}"),
    "ids of TREC": (trec_texts, "<DOC><DOCNO>{0}"),
    "Tatoeba's sentences": (lambda path: tatoeba_pairs.read_sentences(path, ["eng"]), "1\teng\t{0}\n"),
}

MARKUP = [
    "?! ", "... ", "A. ", "A.", "Dr. ", ". [1]", ". (", '."', '. "', "1.", "Ａ. ", "<", "<<a", "<a ", "<a x='",
    "<p>", "<!--", "<TEXT>", "<TITLE>\n", "<title>", "<top>", "<DOC>", "</DOC>", "<DOCNO>", "<![CDATA[", "]]>",
    "**\n", "\n**", "\n", "\n\n", "\n \n", "[[", "{{", "-{", "-{a:", "-{zh:a}-", "=>", "a=>", "zh:", ";sr-el:",
    "; ", "__", "__a", "((", "「", "。", "「。」", "''", "'s ", "a'b", "a.b", "l'", "&", "&lt", "&#1;", "%", "%C3",
    "{", "[", "}", "\\", "\\\n", '"', " lang='", " id=", "://", "#", "|", "a:", "\u200d", "\u0301", "a\u0301",
    "1", "ก ", "한", "ا", "ال", "\U00020000", "\xa0", "\r", "\u2028", " ", " a",
]  # fmt: skip


def signs() -> list[str]:
    """Punctuation, a sign of each kind and script (by the first word of its name)."""
    kinds = {
        (unicodedata.category(sign), unicodedata.name(sign).split()[0]): sign
        for sign in map(chr, range(0x20000))
        if unicodedata.category(sign)[0] == "P"
    }
    return list(kinds.values())


def seconds(read: Callable[[str], object], unit: str, size: int) -> float:
    text = unit * (size // len(unit))
    started = time.process_time()
    with suppress(SteleError):  # what is wrong with it is said in linear time, too
        read(text)
    return time.process_time() - started


def is_linear(read: Callable[[str], object], unit: str, size: int, tries: int = 3) -> bool:
    return any(
        (large := seconds(read, unit, size)) < SLOW or large < RATIO * seconds(read, unit, size // 4)
        for _ in range(tries)
    )


@pytest.mark.parametrize("name", [*READERS, *FILES])
def test_a_reader_of_text_takes_linear_time(name, tmp_path):
    if name in FILES:
        read, size = partial(of_file, *FILES[name], tmp_path), 200_000
    else:
        read, size = READERS[name]
    every = signs()
    units = [*MARKUP, *every[:: len(every) // 25], "".join(every)]
    assert [unit for unit in units if not is_linear(read, unit, size)] == []


def test_quadratic_ones_are_found():
    def read(text: str) -> None:
        for _ in text:
            text.find("b")

    assert not is_linear(read, "?! ", 200_000, tries=1)
