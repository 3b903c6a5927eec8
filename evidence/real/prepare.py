"""Lay out the text and the set of the study on real text: `python evidence/real/prepare.py NTREX DUMP XQUAD OUT`.

NTREX is the folder of NTREX-128's references, DUMP that of a Latgalian Wikipedia's dump, under its released
name (ltgwiki-DATE-pages-articles.xml, or .bz2), XQUAD that of LAReQA's files ({language}.json). OUT gets

    news_latin/LANGUAGE.txt, news_other/LANGUAGE.txt    the news, a document after another, by script
    news_apart/LANGUAGE.txt                             the same in Latin script, each document in half of the languages
    shift_latin/, shift_other/, shift_apart/            each of these with NTREX's English source, for calibration alone
    ltg/ltg.jsonl                                       four fifths of the articles
    ltg_titles/                                         the last fifth in BEIR's layout: titles ask for articles
    xquad_r/                                            XQuAD-R, by language: questions ask for paragraphs

Nothing is drawn: articles are divided by the digest of their title, documents by their number.
"""

import csv
import json
import re
import sys
from collections import defaultdict
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

from stele.corpora import wikipedia
from stele.corpora.dumps.dump_files import find_dump
from stele.corpora.dumps.xml_dump import read_dump

LATIN = {
    "da": "dan", "de": "deu", "es": "spa", "et": "est", "fi": "fin", "fr": "fra", "id": "ind", "it": "ita", "nl": "nld",
    "no": "nob", "pl": "pol", "pt": "por", "ro": "ron", "sv": "swe", "sw": "swa", "tr": "tur", "vi": "vie",
}  # fmt: skip
OTHER = {
    "ar": "arb", "bn": "ben", "el": "ell", "fa": "fas", "he": "heb", "hi": "hin", "ja": "jpn", "ko": "kor", "ru": "rus",
    "ta": "tam", "te": "tel", "th": "tha", "uk": "ukr", "ur": "urd", "zh": "zho-CN",
}  # fmt: skip
ENGLISH = "newstest2019-src.eng.txt"
FIFTHS = 5
LEAST_WORDS = 20  # of an article without its title: shorter ones can hardly be told apart


def news(ntrex: Path) -> dict[str, list[str]]:
    """Language -> its documents, each the lines of one."""
    with open(ntrex / "DOCUMENT_IDS.tsv", encoding="utf-8") as lines:
        names = [row[0] for row in csv.reader(lines, delimiter="\t")]
    files = {language: f"newstest2019-ref.{code}.txt" for language, code in (LATIN | OTHER).items()}
    documents = {}
    for language, file in {**files, "en": ENGLISH}.items():
        sentences = (ntrex / file).read_text(encoding="utf-8").splitlines()
        of_name = defaultdict(list)
        for name, sentence in zip(names, sentences, strict=True):
            of_name[name].append(sentence.strip())
        documents[language] = ["\n".join(of_document) for of_document in of_name.values()]
    return documents


def write_news(folder: Path, documents: dict[str, list[str]]) -> None:
    """A file a language, with blank lines between documents."""
    folder.mkdir(parents=True)
    for language, of_language in documents.items():
        (folder / f"{language}.txt").write_text("\n\n".join(of_language) + "\n", encoding="utf-8")


def apart(documents: dict[str, list[str]]) -> dict[str, list[str]]:
    """Documents of even numbers in every other language, of odd ones in the rest: no text in two halves."""
    return {language: documents[language][number % 2 :: 2] for number, language in enumerate(sorted(LATIN))}


def without_title(text: str, title: str) -> str:
    """A text in which its title is left out, whatever its case; a title in brackets ("Reiga (upe)") without them."""
    for name in {title, re.sub(r"\s*\(.*?\)$", "", title)}:
        text = re.sub(re.escape(name), "", text, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", text).strip()


def articles(dump: Path, aside: Path) -> dict[str, str]:
    """Title -> text of a Wikipedia's articles; of equal titles the first."""
    texts: dict[str, str] = {}
    with ExitStack() as stack:
        pages = read_dump(find_dump(dump), 1, 1, lambda _: None)
        for document in wikipedia.documents(pages, "ltg", wikipedia.Aside(aside, stack)):
            texts.setdefault(document.title, "\n".join(document.sentences))
    return texts


def write_articles(out: Path, texts: dict[str, str]) -> None:
    """Four fifths as documents, the titles and texts of the last fifth as queries and passages."""
    documents, pairs = [], []
    for title, text in texts.items():
        if int(sha256(title.encode()).hexdigest(), 16) % FIFTHS:
            documents.append({"title": title, "text": text, "language": "ltg"})
        elif len((passage := without_title(text, title)).split()) >= LEAST_WORDS:
            pairs.append((passage, [title]))
    (out / "ltg").mkdir()
    write_lines(out / "ltg/ltg.jsonl", documents)
    write_set(out / "ltg_titles", pairs)


def write_set(folder: Path, asked: list[tuple[str, list[str]]], subset: str = "") -> None:
    """Passages, each with the queries that it alone answers: as BEIR has them, a subset's as MTEB."""
    corpus, queries, judgments = [], [], ["query-id\tcorpus-id\tscore"]
    for number, (passage, of_passage) in enumerate(asked):
        corpus.append({"_id": f"d{number}", "text": passage})
        for query in of_passage:
            judgments.append(f"q{len(queries)}\td{number}\t1")
            queries.append({"_id": f"q{len(queries)}", "text": query})
    (folder / f"{subset}qrels").mkdir(parents=True)
    (folder / f"{subset}qrels/test.tsv").write_text("\n".join(judgments) + "\n", encoding="utf-8")
    write_lines(folder / f"{subset}corpus.jsonl", corpus)
    write_lines(folder / f"{subset}queries.jsonl", queries)


def write_lines(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


def xquad(path: Path) -> list[tuple[str, list[str]]]:
    """The paragraphs of a language, each with its questions."""
    articles_of_language = json.loads(path.read_text(encoding="utf-8"))["data"]
    return [
        (paragraph["context"], [question["question"] for question in paragraph["qas"]])
        for article in articles_of_language
        for paragraph in article["paragraphs"]
    ]


def main() -> None:
    ntrex, dump, squad, out = map(Path, sys.argv[1:])
    documents = news(ntrex)
    news_of_name = {
        "latin": {language: documents[language] for language in LATIN},
        "other": {language: documents[language] for language in OTHER},
        "apart": apart(documents),
    }
    for name, of_name in news_of_name.items():
        write_news(out / f"news_{name}", of_name)
        write_news(out / f"shift_{name}", {**of_name, "en": documents["en"]})
    aside = out / "ltg_aside"
    aside.mkdir()
    write_articles(out, articles(dump, aside))
    for path in sorted(squad.glob("*.json")):
        if path.stem in LATIN | OTHER:
            write_set(out / "xquad_r", xquad(path), f"{path.stem}-")


if __name__ == "__main__":
    main()
