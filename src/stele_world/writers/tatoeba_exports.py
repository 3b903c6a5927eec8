r"""Tatoeba's weekly exports: all sentences (id, language, text) and all links between them, as MySQL writes them.

Format: Tatoeba/tatoeba2, docs/database/scripts/weekly_exports.sql and docs/cron/export.sh. As in the real ones, a
sentence's language may be unknown (`\N`), a sentence may be there again under another id, links stand in both
directions, some of them twice, and some lead to a sentence that is not exported. Most translations are direct, others
only by way of a third language.
"""

from __future__ import annotations

from itertools import combinations

from stele_world.content.draws import stream
from stele_world.writers.library import Library
from stele_world.writers.site import Site, tar_of

URL = "https://downloads.tatoeba.org/exports/{name}.tar.bz2"
UNKNOWN = r"\N"
DIRECT = 0.7  # of the translations
EACH = {"again": 15, "unknown": 25, "dead": 40}  # one sentence in so many
STEP = 3  # between two ids: those left out are of sentences that are not exported


def write(site: Site, library: Library) -> None:
    codes, seed = {"en": "eng", **library.languages_with("tatoeba")}, library.world.seed
    sentences: list[tuple[int, str, str]] = []
    links: list[tuple[int, int]] = []

    def add(code: str, text: str) -> int:
        sentences.append((1 + STEP * len(sentences), code, text))
        return sentences[-1][0]

    for number, told in enumerate(library.world.translations()):
        own = {language: add(codes[language], text) for language, text in told.items() if language in codes}
        for one, other in combinations(own, 2):
            draws = stream(seed, "link", number, one, other)
            if draws.chance(DIRECT):
                links += [(own[one], own[other]), (own[other], own[one])] * (2 if draws.chance(0.1) else 1)
        for language, place in own.items():
            draws = stream(seed, "sentence", number, language)
            if draws.between(1, EACH["again"]) == 1:
                again, others = add(codes[language], told[language]), [id_ for id_ in own.values() if id_ != place]
                links += [link for other in others[:1] for link in ((again, other), (other, again))]
            if draws.between(1, EACH["unknown"]) == 1:
                links += [(add(UNKNOWN, told[language]), place)]
            if draws.between(1, EACH["dead"]) == 1:
                links += [(place, place + 1), (place + 1, place)]
    _put(site, "sentences", sentences)
    _put(site, "links", sorted(links))
    site.count("tatoeba_exports", sentences=len(sentences), links=len(links))


def _put(site: Site, name: str, rows: list[tuple]) -> None:
    lines = ("\t".join(UNKNOWN if cell == UNKNOWN else _escaped(str(cell)) for cell in row) for row in rows)
    text = "".join(f"{line}\n" for line in lines)
    site.put(URL.format(name=name), tar_of({f"{name}.csv": text.encode()}))


def _escaped(cell: str) -> str:
    r"""A cell as MySQL writes it.

    >>> _escaped("a\\b\tc\nd")
    'a\\\\b\\\tc\\\nd'
    """
    return cell.replace("\\", "\\\\").replace("\t", "\\\t").replace("\n", "\\\n")
