"""Cross-lingual sentence alignment (Yu et al., section 5.3.3): find a sentence's translation, CSLS with k = 10.

The data are XNLI's sentences in 15 languages, `xnli.15way.orig.tsv`: a header of language codes, then one sentence on
each line, with one tab-separated, unquoted column a language. The tokenised file beside it is not read. Any other
table of this form can be read (a dataset's only `.tsv`). All sentences count, except lines with an empty column,
whichever languages are evaluated.

A sentence has the same id, its line from 0, in every language. Other systems' embeddings can be scored, too (`--run
de-en=DE.npy,EN.npy`): rows of equal number are translations.
"""

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
        """Reads the sentences in some languages, without lines that have an empty column.

        Raises SteleError for a damaged table and for a language without a column.
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
                    f"{path}, line {number}: want {len(header)} columns, as in the header, found {len(cells)}"
                )
            cells = [" ".join(cell.split()) for cell in cells]
            if not all(cells):
                empty += 1
                continue
            ids.append(f"{number - 2:05d}")
            for language, place in places.items():
                texts[language].append(cells[place])
        if not ids:
            raise SteleError(f"{path}: no line has a sentence for every language of the header; want at least one")
        return ParallelTexts(ids, texts, {"empty": empty})


def _place(header: list[str], language: str, path: Path) -> int:
    if header.count(language) != 1:
        raise SteleError(f"{path}: want one column {language!r} in its header; found {', '.join(header)}")
    return header.index(language)


def _table(folder: Path) -> Path:
    """Finds XNLI's table or the only table in a folder. Raises SteleError for no or several tables."""
    if folder.is_file():
        return folder
    tables = [path for path in below(folder) if path.name.removesuffix(".gz").endswith(".tsv")]
    tables = [path for path in tables if path.name.removesuffix(".gz") == FILE] or tables
    if len(tables) != 1:
        have = ", ".join(sorted(path.name for path in tables)) or "none"
        raise SteleError(f"{folder}: want {FILE}, or one table of another name (.tsv); found {have}")
    return tables[0]
