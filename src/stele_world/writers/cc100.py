"""CC-100: one text file a language, a paragraph a line, documents apart by an empty line.

Format: https://data.statmt.org/cc-100/ (its README: "documents separated by double-newlines and paragraphs within the
same document separated by a newline").
"""

from __future__ import annotations

from stele_world.writers.library import Library
from stele_world.writers.site import Site

URL = "https://data.statmt.org/cc-100/{code}.txt.xz"


def write(site: Site, library: Library) -> None:
    for language, code in library.languages_with("cc100").items():
        between, documents, lines = library.between(language), 0, 0
        parts = []
        for document in library.world.web_documents(language):
            parts += [between.join(paragraph) + "\n" for paragraph in document]
            parts.append("\n")
            documents += 1
            lines += len(document)
        site.put(URL.format(code=code), "".join(parts).encode())
        site.count("cc100", language, documents=documents, paragraphs=lines)
