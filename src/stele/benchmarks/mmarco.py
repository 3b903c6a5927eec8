"""mMARCO (Bonifacio et al. 2021): MS MARCO's training queries and passages in other languages, by machine translation.

Native files of a language, with lines `id<tab>text`: `{name}_queries.train.tsv` and `{name}_collection.tsv` (the hub's
unicamp-dl/mmarco, folder google). The ids are those of MS MARCO, so its judgments apply: `qrels.train.tsv`.
"""

import logging
from collections.abc import Container, Iterator
from pathlib import Path

from stele.benchmarks._files import folder_of, identifier, lines, located, name_in_files, refuse_again
from stele.benchmarks._trec import read_qrels
from stele.benchmarks.reader import TrainingReader
from stele.benchmarks.types import Data, Passage, TrainingExample
from stele.errors import SteleError

logger = logging.getLogger(__name__)

DATASET, JUDGMENTS = "mmarco", "msmarco_qrels"


class Mmarco(TrainingReader):
    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """Yields each language's judged queries and passages, in the judgments' order, without hard negatives.

        Only relevant passages (523,000 of 8.8 million) are held in memory. Raises SteleError for any split but "train".
        """
        if split != "train":
            raise SteleError(f"mMARCO has no split {split!r} with passages; valid: train")
        qrels = located(folder_of(data, JUDGMENTS, "all"), "qrels.train.tsv")
        relevant = {
            query: [passage for passage, grade in judged.items() if grade > 0]
            for query, judged in read_qrels(qrels).items()
        }
        wanted = set().union(*relevant.values())
        for language, folder in data[DATASET].items():
            name = name_in_files(language, DATASET)
            queries = _texts(located(folder, f"{name}_queries.train.tsv"), relevant)
            passages = _texts(located(folder, f"{name}_collection.tsv"), wanted)
            if lacking := len(wanted - passages.keys()) + len(relevant.keys() - queries.keys()):
                logger.warning("%s: lacks %d judged queries and passages", folder, lacking)
            for query, ids in relevant.items():
                positives = [Passage(passage, "", passages[passage]) for passage in ids if passage in passages]
                if positives and query in queries:
                    yield TrainingExample(queries[query], positives, [], language)


def _texts(path: Path, wanted: Container[str]) -> dict[str, str]:
    """Maps id -> text for the lines with a wanted id. Raises SteleError for another layout and if there are none."""
    texts: dict[str, str] = {}
    for number, line in lines(path):
        name, tab, text = line.partition("\t")
        if not tab:
            raise SteleError(f"{path}, line {number}: want id<tab>text, found {line[:80]!r}")
        if name in wanted:
            where = f"{path}, line {number}"
            texts[refuse_again(identifier(name, where), texts, where)] = text
    if not texts:
        raise SteleError(f"{path}: no id in it is judged; want files with the ids of MS MARCO")
    return texts
