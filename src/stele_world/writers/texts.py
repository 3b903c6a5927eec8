"""Writers of texts (CC-100, WikiText-103) and parallel texts (Tatoeba, XNLI, UN corpus, InfoXLM's pairs)."""

import gzip
import re
from itertools import combinations

from stele.catalogue.datasets import dataset, languages_of
from stele_world.content.draws import stream
from stele_world.content.model import Article
from stele_world.site import CC100, PARALLEL, Site, lines, tar_of, zip_of
from stele_world.writers.library import Library, filled, template


def write_cc100(site: Site, library: Library) -> None:
    """Writes CC-100: a text file per language, a paragraph per line, an empty line between documents.

    Format: https://data.statmt.org/cc-100/ (its README: "documents separated by double-newlines and paragraphs within
    the same document separated by a newline").
    """
    for language, code in library.languages_with("cc100").items():
        between, documents = library.between(language), list(library.world.web_documents(language))
        rows = (between.join(paragraph) for document in documents for paragraph in (*document, ""))
        site.put(CC100.format(code=code), lines(rows))
        site.count("cc100", language, documents=len(documents), paragraphs=sum(map(len, documents)))


WIKITEXT103 = "https://wikitext.smerity.com/wikitext-103-raw-v1.zip"
HELD_OUT = 20  # one article in 20 is in the validation part, another in the test part
PUNCTUATION = re.compile(r"([^\w\s])")


def write_wikitext103(site: Site, library: Library) -> None:
    """Writes WikiText-103, raw: English articles, a paragraph per line, tokens separated by blanks, in three parts.

    Format: Merity et al. 2016; ` = Title = ` between empty lines begins an article, ` = = Section = = ` a section,
    `@-@` stands for a hyphen within a word.
    """
    if "en" not in library.world.languages:
        return
    articles = library.world.articles("en")
    parts = {
        "valid": articles[1::HELD_OUT],
        "test": articles[2::HELD_OUT],
        "train": [article for number, article in enumerate(articles) if number % HELD_OUT not in (1, 2)],
    }
    texts = {name: "".join(map(article_lines, chosen)).encode() for name, chosen in parts.items()}
    members = {f"wikitext-103-raw/wiki.{name}.raw": text for name, text in texts.items()}
    site.put(WIKITEXT103, b"".join(members.values()), zip_of(members))
    site.count("wikitext103", "en", articles=len(parts["train"]))


def article_lines(article: Article) -> str:
    """Formats an article as in the data set."""
    rows = ["", f"= {article.title} =", ""]
    for section in article.sections:
        rows += ["", f"= = {section.title} = =", ""] if section.title else []
        for paragraph in section.paragraphs:
            rows.append(tokens_apart(" ".join(sentence.text for sentence in paragraph)))
    return "".join(f" {row} \n" if row else " \n" for row in rows)


def tokens_apart(text: str) -> str:
    """Separates punctuation from words.

    >>> tokens_apart("A well-known man, (once).")
    'A well @-@ known man , ( once ) .'
    """
    marked = re.sub(r"(?<=\w)-(?=\w)", " @-@ ", text)
    parts = (word if word == "@-@" else PUNCTUATION.sub(r" \1 ", word) for word in marked.split())
    return " ".join(" ".join(parts).split())


def write_parallel(site: Site, library: Library) -> None:
    """Writes pairs for stand-ins of models that learnt from translations: a TSV file per language, English first.

    There is no upstream file: the pairs behind InfoXLM and LaBSE were never published. They share no sentence with
    Tatoeba.
    """
    for language in library.world.languages:
        if language == "en":
            continue
        pairs = list(library.world.parallel(language, "training"))
        site.put(PARALLEL.format(language=language), lines(f"{en}\t{foreign}" for en, foreign in pairs))
        site.count("generated_parallel", language, pairs=len(pairs))


TATOEBA = "https://raw.githubusercontent.com/facebookresearch/LASER/main/data/tatoeba/v1/tatoeba.{code}-eng.{side}"


def write_tatoeba(site: Site, library: Library) -> None:
    """Writes LASER's Tatoeba test set (v1): two files per language, whose n-th lines are translations.

    Format: facebookresearch/LASER, data/tatoeba/v1; file names carry ISO 639-3 codes.
    """
    for language, code in library.languages_with("tatoeba").items():
        if language == "en":
            continue
        pairs = library.world.parallel(language, "tatoeba")
        for side, column in (("eng", 0), (code, 1)):
            site.put(TATOEBA.format(code=code, side=side), lines(pair[column] for pair in pairs))
        site.count("tatoeba", code, pairs=len(pairs))


EXPORTS = "https://downloads.tatoeba.org/exports/{name}.tar.bz2"
UNKNOWN = r"\N"
DIRECT = 0.7  # share of the translations
EACH = {"again": 15, "unknown": 25, "dead": 40}  # one sentence in 15, 25, 40
STEP = 3  # between two ids, as if sentences between them were not exported


def write_tatoeba_exports(site: Site, library: Library) -> None:
    r"""Writes Tatoeba's weekly exports: all sentences (id, language, text) and all links, as MySQL writes them.

    Format: Tatoeba/tatoeba2, docs/database/scripts/weekly_exports.sql and docs/cron/export.sh. As in the real ones, a
    sentence's language may be unknown (`\N`), and a sentence may occur again under another id. Links are in both
    directions; some occur twice, and some lead to a sentence that is not exported. Most translations are direct, others
    are linked only via a third language.
    """
    codes, seed = {"en": "eng", **library.languages_with("tatoeba")}, library.world.seed
    sentences: list[tuple[int, str, str]] = []
    links: list[tuple[int, int]] = []

    def add(code: str, text: str) -> int:
        sentences.append((1 + STEP * len(sentences), code, text))
        return sentences[-1][0]

    for number, told in enumerate(library.world.translations()):
        ids = {language: add(codes[language], text) for language, text in told.items() if language in codes}
        for first, second in combinations(ids, 2):
            draws = stream(seed, "link", number, first, second)
            if draws.chance(DIRECT):
                links += [(ids[first], ids[second]), (ids[second], ids[first])] * (2 if draws.chance(0.1) else 1)
        for language, place in ids.items():
            draws = stream(seed, "sentence", number, language)
            if draws.between(1, EACH["again"]) == 1:
                again, others = add(codes[language], told[language]), [id_ for id_ in ids.values() if id_ != place]
                links += [link for other in others[:1] for link in ((again, other), (other, again))]
            if draws.between(1, EACH["unknown"]) == 1:
                links += [(add(UNKNOWN, told[language]), place)]
            if draws.between(1, EACH["dead"]) == 1:
                links += [(place, place + 1), (place + 1, place)]
    _put_export(site, "sentences", sentences)
    _put_export(site, "links", sorted(links))
    site.count("tatoeba_exports", sentences=len(sentences), links=len(links))


def _put_export(site: Site, name: str, rows: list[tuple]) -> None:
    text = lines("\t".join(UNKNOWN if cell == UNKNOWN else _escaped(str(cell)) for cell in row) for row in rows)
    site.put(EXPORTS.format(name=name), tar_of({f"{name}.csv": text}))


def _escaped(cell: str) -> str:
    r"""Escapes a cell as MySQL does.

    >>> _escaped("a\\b\tc\nd")
    'a\\\\b\\\tc\\\nd'
    """
    return cell.replace("\\", "\\\\").replace("\t", "\\\t").replace("\n", "\\\n")


XNLI_DATASET = "xnli_15way"
XNLI = "https://dl.fbaipublicfiles.com/XNLI/XNLI-15way.zip"
XNLI_LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")


def write_xnli(site: Site, library: Library) -> None:
    """Writes XNLI's sentences in up to 15 languages: a table with a column per language, and a tokenised copy.

    Format: facebookresearch/XNLI, XNLI-15way.zip and its README: columns separated by tabs, a header of language codes,
    no quoting. Only the world's languages are written.
    """
    languages = [code for code in XNLI_LANGUAGES if code in library.world.languages]
    sentences = list(library.world.translated_sentences(languages))
    rows = [languages, *([texts[code] for code in languages] for texts in sentences)]
    tokens = [languages, *([tokens_apart(text) for text in row] for row in rows[1:])]
    tables = {"orig": rows, "tok": tokens}
    members = {f"XNLI-15way/xnli.15way.{name}.tsv": lines(map("\t".join, table)) for name, table in tables.items()}
    site.put(XNLI, b"".join(members.values()), zip_of(members))
    site.count(XNLI_DATASET, sentences=len(sentences))


UN_DATASET = "uncorpus"
UN_LACKING = 0.05  # share of a language's documents
UN_PARTS = 2  # parts per archive
UN_PARAGRAPH = 3  # sentences


def write_uncorpus(site: Site, library: Library) -> None:
    """Writes the UN Parallel Corpus v1.0: TEI documents, for each language an archive in parts, and the six-way list.

    Format: as public readers of the corpus expect it. `UNv1.0-TEI.en.tar.gz` is cut into `.00`, `.01`, ...; its
    members are `UNv1.0-TEI/en/{year}/{symbol}.xml`, the same paths in every language, with a header (symbol, date, a
    disclaimer in separate paragraphs) and a body of numbered paragraphs and sentences. `UNv1.0.6way.ids` has a line
    for each sentence that exists in all languages: its document, and its paragraph and number in each language.

    As in the real corpus, some documents are missing in a language, and one has no text. Only the world's languages are
    written, if at least two of them are the corpus's.
    """
    world = library.world
    languages = [code for code in languages_of(dataset(UN_DATASET)) if code in world.languages]
    if len(languages) < 2:
        return
    lacking: set[str] = set()
    for code in languages:
        articles = {un_path(n): article for n, article in enumerate(world.translated_documents(code))}
        lacks = {name for name in articles if stream(world.seed, "uncorpus lacks", code, name).chance(UN_LACKING)}
        members = {
            f"UNv1.0-TEI/{code}/{name}.xml": _un_document(article, name, code, empty=not n).encode()
            for n, (name, article) in enumerate(articles.items())
            if name not in lacks
        }
        lacking |= {*lacks, *list(articles)[:1]}  # the first, which is empty
        packed = gzip.compress(tar_of(members), 5, mtime=0)
        size = -(-len(packed) // UN_PARTS)
        for part in range(UN_PARTS):
            name = f"UNv1.0-TEI.{code}.tar.gz.{part:02d}"
            site.put_licensed(UN_DATASET, name, packed[part * size : (part + 1) * size])
    aligned = [
        "\t".join([name, *(f"{code}:{paragraph}:{number}" for code in languages)])
        for name, article in articles.items()
        if name not in lacking
        for paragraph, sentences in _un_paragraphs(article).items()
        for number, _ in sentences
    ]
    site.put_licensed(UN_DATASET, "UNv1.0.6way.ids", lines(aligned))
    site.count(UN_DATASET, documents=len(articles) - len(lacking))


def un_path(number: int) -> str:
    """Path of document `number`, the same in every language: year, then symbol.

    >>> un_path(37)
    '1991/a/46/37'
    """
    session = number // 25
    return f"{1990 + session}/a/{45 + session}/{number}"


def _un_paragraphs(article: Article) -> dict[int, list[tuple[int, str]]]:
    """Sentences (number, text) of each paragraph of a document; both count from 1."""
    paragraphs: dict[int, list[tuple[int, str]]] = {}
    for place, sentence in enumerate(article.sentences()):
        paragraphs.setdefault(1 + place // UN_PARAGRAPH, []).append((1 + place % UN_PARAGRAPH, sentence.text))
    return paragraphs


def _un_document(article: Article, name: str, language: str, empty: bool) -> str:
    """Formats a document in TEI; an empty one has a paragraph without a sentence."""
    year, *symbol = name.split("/")
    paragraphs = {1: []} if empty else _un_paragraphs(article)
    header = {"title": article.title, "year": year, "symbol": "/".join(symbol).upper(), "language": language}
    return filled(template("un_document.xml"), **header, paragraphs=paragraphs)
