"""Cross-lingual sentence alignment (Yu et al., section 5.3.3): find a sentence's translation, CSLS with k = 10.

XNLI's sentences in 15 languages, `xnli.15way.orig.tsv`: a header of language codes, then a sentence a line, a language
a column, parted by tabs, no quoting. The tokenised file beside it is not read. Any other table of that form is read
alike (a dataset's one `.tsv`). All sentences are taken; a line on which some column is empty is left out, whichever
languages are evaluated.

A sentence has the same id, its line from 0, in every language. Other systems' embeddings are scored, too (`--run
de-en=DE.npy,EN.npy`): what belongs together stands in the same line.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stele.benchmarks._files import below, folder_of, lines
from stele.benchmarks.reader import ParallelTextsReader
from stele.benchmarks.types import Data, ParallelTexts
from stele.errors import SteleError

DATASET = "xnli_15way"
FILE = "xnli.15way.orig.tsv"


class Xsa(ParallelTextsReader):
    def parallel_texts(self, data: Data, languages: Iterable[str]) -> ParallelTexts:
        """The sentences in some languages, without those that lack one.

        Raises SteleError for a damaged table, and for a language without a column.
        """
        path = _table(folder_of(data, next(iter(data), DATASET), "all"))
        rows = ((number, line.split("\t")) for number, line in lines(path))
        _, header = next(rows, (0, [""]))
        places = {language: _place(header, language, path) for language in languages}
        ids: list[str] = []
        texts: dict[str, list[str]] = {language: [] for language in places}
        empty = 0
        for number, cells in rows:
            if len(cells) != len(header):
                raise SteleError(
                    f"{path}, line {number}: want {len(header)} columns, as the header, found {len(cells)}"
                )
            cells = [" ".join(cell.split()) for cell in cells]
            if not all(cells):
                empty += 1
                continue
            ids.append(f"{number - 2:05d}")
            for language, place in places.items():
                texts[language].append(cells[place])
        if not ids:
            raise SteleError(f"{path}: no sentence in it that all languages of its header have")
        return ParallelTexts(ids, texts, {"empty": empty})


def _place(header: list[str], language: str, path: Path) -> int:
    if header.count(language) != 1:
        raise SteleError(f"{path}: want one column {language!r} in its header; found {', '.join(header)}")
    return header.index(language)


def _table(folder: Path) -> Path:
    """XNLI's table, or the one that there is."""
    if folder.is_file():
        return folder
    tables = [path for path in below(folder) if path.name.removesuffix(".gz").endswith(".tsv")]
    tables = [path for path in tables if path.name.removesuffix(".gz") == FILE] or tables
    if len(tables) != 1:
        have = ", ".join(sorted(path.name for path in tables)) or "none"
        raise SteleError(f"{folder}: want {FILE}, or one table of another name (.tsv); found {have}")
    return tables[0]
