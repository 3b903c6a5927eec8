"""XNLI's sentences in up to 15 languages: a table, a sentence a line, a language a column, and a tokenised copy.

Format: facebookresearch/XNLI, XNLI-15way.zip and its README: columns parted by tabs, a header of language codes, no
quoting.
"""

from __future__ import annotations

from stele_world.writers.library import Library
from stele_world.writers.site import Site, zip_of
from stele_world.writers.wikitext103 import tokens_apart

DATASET = "xnli_15way"
URL = "https://dl.fbaipublicfiles.com/XNLI/XNLI-15way.zip"
LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")


def write(site: Site, library: Library) -> None:
    """Writes those of its languages that the world has."""
    languages = [code for code in LANGUAGES if code in library.world.languages]
    sentences = list(library.world.translated_sentences(languages))
    rows = [languages, *([texts[code] for code in languages] for texts in sentences)]
    tokens = [languages, *([tokens_apart(text) for text in row] for row in rows[1:])]
    tables = {name: "".join("\t".join(row) + "\n" for row in made) for name, made in (("orig", rows), ("tok", tokens))}
    members = {f"XNLI-15way/xnli.15way.{name}.tsv": table.encode() for name, table in tables.items()}
    site.put_as_is(URL, zip_of(members), b"".join(members.values()))
    site.count(DATASET, sentences=len(sentences))
