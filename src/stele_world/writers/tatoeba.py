"""LASER's Tatoeba test set (v1): two files a language, a sentence a line, line n of one the translation of the other's.

Format: facebookresearch/LASER, data/tatoeba/v1; file names carry ISO 639-3 codes.
"""

from __future__ import annotations

from stele_world.writers.library import Library
from stele_world.writers.site import Site

URL = "https://raw.githubusercontent.com/facebookresearch/LASER/main/data/tatoeba/v1/tatoeba.{code}-eng.{side}"


def write(site: Site, library: Library) -> None:
    for language, code in library.languages_with("tatoeba").items():
        if language == "en":
            continue
        pairs = library.world.parallel(language, "tatoeba")
        for side, column in (("eng", 0), (code, 1)):
            text = "".join(f"{pair[column]}\n" for pair in pairs)
            site.put(URL.format(code=code, side=side), text.encode())
        site.count("tatoeba", code, pairs=len(pairs))
