"""WikiText-103, raw: the world's English articles, a line a paragraph, tokens apart, in three parts.

Format: Merity et al. 2016; ` = Title = ` between empty lines begins an article, ` = = Section = = ` a section, `@-@`
stands for a hyphen within a word.
"""

from __future__ import annotations

import re

from stele_world.content.model import Article
from stele_world.writers.library import Library
from stele_world.writers.site import Site, zip_of

LANGUAGE = "en"
URL = "https://wikitext.smerity.com/wikitext-103-raw-v1.zip"
HELD_OUT = 20  # one article in so many is of the validation part, another of the test part
PUNCTUATION = re.compile(r"([^\w\s])")


def write(site: Site, library: Library) -> None:
    if LANGUAGE not in library.world.languages:
        return
    articles = library.world.articles(LANGUAGE)
    parts = {
        "valid": articles[1::HELD_OUT],
        "test": articles[2::HELD_OUT],
        "train": [article for number, article in enumerate(articles) if number % HELD_OUT not in (1, 2)],
    }
    texts = {name: "".join(map(article_lines, chosen)).encode() for name, chosen in parts.items()}
    members = {f"wikitext-103-raw/wiki.{name}.raw": text for name, text in texts.items()}
    site.put_as_is(URL, zip_of(members), b"".join(members.values()))
    site.count("wikitext103", LANGUAGE, articles=len(parts["train"]))


def article_lines(article: Article) -> str:
    """An article as it stands in a part."""
    lines = ["", f"= {article.title} =", ""]
    for section in article.sections:
        lines += ["", f"= = {section.title} = =", ""] if section.title else []
        lines += [tokens_apart(" ".join(sentence.text for sentence in each)) for each in section.paragraphs]
    return "".join(f" {line} \n" if line else " \n" for line in lines)


def tokens_apart(text: str) -> str:
    """Punctuation apart from words.

    >>> tokens_apart("A well-known man, (once).")
    'A well @-@ known man , ( once ) .'
    """
    marked = re.sub(r"(?<=\w)-(?=\w)", " @-@ ", text)
    parts = (word if word == "@-@" else PUNCTUATION.sub(r" \1 ", word) for word in marked.split())
    return " ".join(" ".join(parts).split())
