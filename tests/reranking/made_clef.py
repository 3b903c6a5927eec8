"""A small CLEF: two newspapers in German (Latin-1), topics in English and German, two files a year of each."""

from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from stele.evaluation.folds import FOLDS
from tests.sealed import write_sealed

TOPICS = 12
NEWS = ["Haus", "Straße", "Brücke", "Zug", "Fluß", "Wetter", "Markt", "Schule"]


def text_of(place: int) -> str:
    """Document `place` is of topic place // 4 + 1; every fourth is the relevant one."""
    topic = place // 4 + 1
    words = [NEWS[(place * 3 + n) % len(NEWS)] for n in range(5)]
    return " ".join([*words, *([f"thema{topic}"] * 3 if place % 4 == 0 else [f"thema{topic % TOPICS + 1}"])])


def name_of(place: int) -> str:
    return f"FR94-{place:03}" if place % 2 else f"SP94-{place:03}"


def document(place: int) -> str:
    body = f"<TITLE>Über {place}</TITLE>\n<TEXT>\n{text_of(place)}\n</TEXT>"
    if not place % 2:
        body = f"<TI>Über {place}</TI>\n<LD>{text_of(place)}</LD>\n<KW>nichtdabei</KW>"
    return f"<DOC>\n<DOCNO>{name_of(place)}</DOCNO>\n{body}\n</DOC>\n"


def topic(number: int, language: str, description: bool = True) -> str:
    what = f"find topic{number}" if language == "en" else f"suche thema{number}"
    code = language.upper()
    more = f"<{code}-desc> {what} please </{code}-desc>\n" if description else ""
    return f"<top>\n<num> C{number:03} </num>\n<{code}-title> topic{number} </{code}-title>\n{more}</top>\n"


def qrels(numbers: Collection[int]) -> str:
    """Four documents of each topic, the first of which is relevant but for the last topic; one document is absent."""
    lines = [
        f"{n} 0 {name_of(4 * (n - 1) + place)} {int(place == 0 and n < TOPICS)}\n"
        for n in numbers
        for place in range(4)
    ]
    return "".join(lines) + (f"{min(numbers)} 0 SP94-999 0\n" if 1 in numbers else "")


def write_clef(folder: Path, description: bool = True, topics: int = TOPICS) -> Path:
    """Writes the folders en and de with a record beside them; returns the record."""
    years = [range(1, topics // 2 + 1), range(topics // 2 + 1, topics + 1)]
    for language in ("en", "de"):
        own = folder / language
        own.mkdir(parents=True)
        for year, numbers in enumerate(years):
            text = "".join(topic(n, language, description or n != 2) for n in numbers)
            (own / f"topics-{language}-200{year}.txt").write_text(text, encoding="iso-8859-1")
    for place, paper in enumerate(("spiegel.sgml", "rundschau.sgml")):
        text = "".join(document(n) for n in range(place, 4 * topics, 2))
        (folder / "de" / paper).write_text(text, encoding="iso-8859-1")
    for year, numbers in enumerate(years):
        (folder / "de" / f"qrels_de_200{year}").write_text(qrels(numbers))
    return write_sealed(folder / "record.json", {"job": "dataset", "content": "c", "labels": ["generated data"]})


def vectors(words: Collection[str], wide: int = 8) -> SimpleNamespace:
    """Vectors of words: `topic7` and `thema7` share one but for a little, others are drawn."""
    rows = np.zeros((len(words), wide), np.float32)
    for row, word in enumerate(words):
        digits = "".join(letter for letter in word if letter.isdigit())
        rng = np.random.default_rng(int(digits) if digits else sum(map(ord, word)) + 1000)
        rows[row] = rng.normal(size=wide) + 0.01 * len(word)
    return SimpleNamespace(words={word: row for row, word in enumerate(words)}, vectors=rows)


def read_made_vectors(language: str, words: Collection[str]) -> SimpleNamespace:
    return vectors(sorted(words))


def folds_cover(fold_of: dict[str, int]) -> bool:
    return set(fold_of.values()) == set(range(FOLDS))
