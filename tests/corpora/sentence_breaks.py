"""How well sentences are split: boundaries against the sentence breaks of XQuAD-R."""

from __future__ import annotations

import json
import re
from pathlib import Path

from stele.corpora.sentences import split_sentences, tidy

LANGUAGES = ("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh")


def boundary_quality(path: Path, language: str) -> tuple[float, float]:
    """(precision, recall) of the boundaries within the paragraphs of one of its files (`xquad-r/en.json`)."""
    hits = found = wanted = 0
    for paragraph in (p for article in json.loads(path.read_text())["data"] for p in article["paragraphs"]):
        raw, text = paragraph["context"], tidy(paragraph["context"])
        # a boundary is named by how many visible characters stand before it, since `tidy` moves the others
        gold = {len(re.sub(r"\s", "", raw[:end])) for _, end in paragraph["sentence_breaks"]}
        mine = {len(text[:end].replace(" ", "")) for _, end in split_sentences(text, language)}
        last = len(text.replace(" ", ""))
        gold, mine = gold - {0, last}, mine - {last}
        hits, found, wanted = hits + len(gold & mine), found + len(mine), wanted + len(gold)
    return hits / found, hits / wanted
