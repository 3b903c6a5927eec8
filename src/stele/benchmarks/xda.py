"""Cross-lingual document alignment (Yu et al., section 5.3.3): find a document's translation, CSLS with k = 10.

The United Nations Parallel Corpus v1.0 in TEI, as it is published (`_tei`), or any other corpus laid out so. Of two
languages those documents are translations that have the same path, `1990/a/45/1`, which is their id in both.

A document is taken that all languages of the folder have, whichever are evaluated, so that a pair's candidates do not
depend on the other pairs; where the list of the six-way subcorpus is there (`UNv1.0.6way.ids`: a sentence a line, its
document first), those of that list alone: 86,307. What has no partner, no text, or is no readable XML is left out and
counted; where more than one in a thousand cannot be read, that is an error.

Other systems' embeddings are scored, too (`--run en-es=EN.npy,ES.npy`): what belongs together stands in the same line.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from stele.benchmarks import _tei
from stele.benchmarks._files import below, folder_of, lines, refuse_again
from stele.benchmarks._pairs import query_sets, sides
from stele.benchmarks.types import Data, ParallelTexts, QuerySet
from stele.errors import SteleError
from stele.progress import track

DATASET = "uncorpus"
AVERAGE = "macro"  # mean over pairs
SIMILARITY = "csls"
DAMAGED = 0.001  # of the documents, at most
logger = logging.getLogger(__name__)

__all__ = ["AVERAGE", "SIMILARITY", "judgments", "parallel_texts", "query_sets"]


def parallel_texts(data: Data, languages: Iterable[str]) -> ParallelTexts:
    """The documents in some languages, by their ids; SteleError where none has a partner, or too many are damaged."""
    languages, folder = [*languages], folder_of(data, next(iter(data), DATASET), "all")
    files = _tei.files_by_language(folder)
    if missing := next((language for language in languages if language not in files), None):
        raise SteleError(
            f"{folder}: no documents in {missing}; want the archive UNv1.0-TEI.{missing}.tar.gz (or its parts .00, "
            f".01, ...) or a folder {missing} with .xml files; found {', '.join(files) or 'nothing'}"
        )
    wanted = _listed(folder)
    texts, counts = {}, Counter()
    for language, paths in files.items():
        documents = track(_tei.documents(folder, paths, language), None, f"read documents in {language}")
        chosen = ((name, content) for name, content in documents if wanted is None or name in wanted)
        texts[language] = _texts(chosen, str(paths[0]), counts, keep=language in languages)
    every = set().union(*texts.values()) if wanted is None else wanted
    ids = sorted(every.intersection(*texts.values()))
    if not ids:
        raise SteleError(f"{folder}: no document is there in all of {', '.join(files)}; want the same paths in each")
    left_out = {"without_partner": len(every) - len(ids), **{name: counts[name] for name in ("empty", "damaged")}}
    return ParallelTexts(ids, {language: [texts[language][name] for name in ids] for language in languages}, left_out)


def judgments(data: Data, query_set: QuerySet) -> dict[str, dict[str, int]]:
    """Document -> {itself, in the other language: 1}."""
    return {name: {name: 1} for name in parallel_texts(data, sides(query_set.language)).ids}


def _texts(documents: Iterable[tuple[str, bytes]], where: str, counts: Counter[str], keep: bool) -> dict[str, str]:
    """id -> text of one language's documents, "" unless they are to be kept; what is left out is added to `counts`."""
    texts: dict[str, str] = {}
    damaged: list[str] = []
    empty = 0
    for name, content in documents:
        refuse_again(name, texts, where, "document")
        try:
            text = _tei.text_of(content, f"{where}: document {name}")
        except SteleError as error:
            damaged.append(str(error))
            continue
        if text:
            texts[name] = text if keep else ""
        else:
            empty += 1
    if len(damaged) > DAMAGED * (read := len(texts) + empty + len(damaged)):
        raise SteleError(f"{damaged[0]}; {len(damaged)} of {read} documents there cannot be read")
    for said in damaged:
        logger.warning("%s; left out", said)
    counts.update(empty=empty, damaged=len(damaged))
    return texts


def _listed(folder: Path) -> set[str] | None:
    """The documents of the list of sentences that all six languages have; None where it is not there."""
    lists = [path for path in below(folder) if path.name.removesuffix(".gz").endswith(".ids")]
    if len(lists) > 1:
        raise SteleError(f"{folder}: several lists of documents: {', '.join(map(str, sorted(lists)))}; keep one")
    listed = {line.split(maxsplit=1)[0] for path in lists for _, line in lines(path) if line.strip()}
    if lists and not listed:
        raise SteleError(f"{lists[0]}: nothing in it, want a sentence a line, its document first")
    return listed or None
