"""How well sentences are split: boundaries against the sentence breaks of XQuAD-R, and of running text made for it."""

import json
import re
from pathlib import Path

import yaml

from stele.text.sentences import split_sentences, tidy

LANGUAGES = ("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh")


def boundary_quality(path: Path, language: str) -> tuple[float, float]:
    """(precision, recall) of the boundaries within the paragraphs of one of its files (`xquad-r/en.json`)."""
    hits = actual = wanted = 0
    for paragraph in (p for article in json.loads(path.read_text())["data"] for p in article["paragraphs"]):
        raw, text = paragraph["context"], tidy(paragraph["context"])
        # a boundary is named by how many visible characters stand before it, since `tidy` moves the others
        gold = {len(re.sub(r"\s", "", raw[:end])) for _, end in paragraph["sentence_breaks"]}
        mine = {len(text[:end].replace(" ", "")) for _, end in split_sentences(text, language)}
        last = len(text.replace(" ", ""))
        gold, mine = gold - {0, last}, mine - {last}
        hits, actual, wanted = hits + len(gold & mine), actual + len(mine), wanted + len(gold)
    return hits / actual, hits / wanted


# news in 33 languages (NTREX-128): file -> language
NEWS = {
    "arb": "ar", "ben": "bn", "dan": "da", "deu": "de", "ell": "el", "eng-US": "en", "est": "et", "fas": "fa",
    "fin": "fi", "fra": "fr", "heb": "he", "hin": "hi", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko",
    "nld": "nl", "nob": "no", "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "spa": "es", "swa": "sw",
    "swe": "sv", "tam": "ta", "tel": "te", "tha": "th", "tur": "tr", "ukr": "uk", "urd": "ur", "vie": "vi",
    "zho-CN": "zh",
}  # fmt: skip


def news_quality(folder: Path, name: str) -> tuple[float, float]:
    """(precision, recall) of the boundaries in the joined lines of the documents, each without its headline, against
    the ends of lines. Lines hold more than one sentence at times, so the precision is a lower bound.
    """
    documents: dict[str, list[str]] = {}
    lines = (folder / f"newstest2019-ref.{name}.txt").read_text(encoding="utf-8").split("\n")
    for document, line in zip((folder / "DOCUMENT_IDS.tsv").read_text().split(), lines, strict=False):
        documents.setdefault(document, []).append(tidy(line.replace("\ufeff", "")))
    hits = actual = wanted = 0
    space = "" if NEWS[name] in ("ja", "zh") else " "
    for _, *sentences in documents.values():
        text = space.join(sentences)
        gold = {len(space.join(sentences[:count])) for count in range(1, len(sentences))}
        mine = {end for _, end in split_sentences(text, NEWS[name])} - {len(text)}
        hits, actual, wanted = hits + len(gold & mine), actual + len(mine), wanted + len(gold)
    return hits / actual, hits / wanted


def running_text() -> dict[str, list[tuple[str, set[int]]]]:
    """language -> (paragraph, where its sentences end but for the last) of tests/text/running_text.yaml."""
    texts = yaml.safe_load(Path(__file__).with_name("running_text.yaml").read_text(encoding="utf-8"))
    return {language: [_marked(paragraph) for paragraph in paragraphs] for language, paragraphs in texts.items()}


def _marked(paragraph: str) -> tuple[str, set[int]]:
    space = " " if " | " in paragraph else ""
    sentences = paragraph.split(f"{space}|{space}")
    ends = {len(space.join(sentences[:count])) for count in range(1, len(sentences))}
    return space.join(sentences), ends


def running_quality(language: str) -> tuple[int, int, int]:
    """(boundaries found and right, found, there) in the running text of a language."""
    hits = actual = wanted = 0
    for text, ends in running_text()[language]:
        mine = {end for _, end in split_sentences(text, language)} - {len(text)}
        hits, actual, wanted = hits + len(ends & mine), actual + len(mine), wanted + len(ends)
    return hits, actual, wanted
