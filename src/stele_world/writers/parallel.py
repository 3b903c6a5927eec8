"""Translation pairs for the stand-ins whose originals were trained on such: one TSV a language, English first.

There is no upstream file: the pairs behind InfoXLM and LaBSE were never published. They share no sentence with Tatoeba.
"""

from __future__ import annotations

from stele_world.writers.library import Library
from stele_world.writers.site import Site

URL = "https://generated/parallel/{language}.tsv.gz"


def write(site: Site, library: Library) -> None:
    for language in library.world.languages:
        if language == "en":
            continue
        pairs = list(library.world.parallel(language, "training"))
        site.put(URL.format(language=language), "".join(f"{en}\t{foreign}\n" for en, foreign in pairs).encode())
        site.count("generated_parallel", language, pairs=len(pairs))
