"""Statistics of test collections, CLEF 2000-2003 among them, and of the section pairs that Yu et al. train on.

A CLEF topic without a relevant document in a language does not count there (Yu et al., section 5.1.1). Judgments are
counted as they are, including those of documents that the collection lacks.
"""

from collections.abc import Iterator

from stele.artifacts.knowledge_base import read_pairs
from stele.benchmarks.clef import Clef, of_language
from stele.benchmarks.collection import AdHocCollection, document_ids
from stele.benchmarks.types import Data
from stele.catalogue import datasets
from stele.catalogue.datasets import COLLECTION
from stele.scoring.statistics import Counts, DatasetCounts, number_of


def collection_counts(data: Data) -> Counts:
    """Numbers of topics, documents and `repeated` documents by language.

    Documents with the same id count as one; `repeated` is the number of the others.
    """
    languages = {code for name in data for code in datasets.languages_of(datasets.dataset(name))}
    numbers: Counts = {"topics": {}, "documents": {}, "repeated": {}}
    for query_set in AdHocCollection().query_sets(sorted(languages)):
        language = query_set.language
        numbers["topics"][language] = number_of(AdHocCollection().queries(data, query_set), f"topics of {language}")
        numbers["documents"][language], repeated = document_ids(data, language)
        numbers["repeated"][language] = repeated.total()
    return numbers


def clef_counts(data: Data) -> Counts:
    """Number of queries, and means relevant_per_query and nonrelevant_per_query of judged documents, by language."""
    known = datasets.languages_of(datasets.dataset("clef"))
    queries: dict[str, int] = {}
    relevant: dict[str, float] = {}
    nonrelevant: dict[str, float] = {}
    for language in known:
        judged = _judged(data, language) if of_language(data, language) else {}
        if judged:
            grades = [grade for documents in judged.values() for grade in documents.values()]
            queries[language] = len(judged)
            relevant[language] = sum(grade > 0 for grade in grades) / len(judged)
            nonrelevant[language] = sum(grade == 0 for grade in grades) / len(judged)
    return {"queries": queries, "relevant_per_query": relevant, "nonrelevant_per_query": nonrelevant}


def clef_documents(data: Data, language: str) -> Iterator[tuple[str, bool]]:
    """Yields title and text of each document in a language, and whether it is judged for a topic that counts."""
    topics = _judged(data, language).values()
    judged = {name for documents in topics for name, grade in documents.items() if grade >= 0}
    for passage in Clef().passages(data, language):
        yield " ".join(filter(None, (passage.title, passage.text))), passage.id in judged


def section_pairs(data: Data) -> Counts:
    """Number of section pairs, which the CLIR language model is pretrained on, by part of the dataset."""
    ((_, folders),) = data.items()
    return {"pairs": {part: len(read_pairs(folder)) for part, folder in folders.items()}}


def _judged(data: Data, language: str) -> dict[str, dict[str, int]]:
    """Judgments of each topic that has a relevant document in a language."""
    (query_set,) = Clef().query_sets([f"{language}-{language}"])
    judged = Clef().all_judgments(data, query_set)
    return {topic: documents for topic, documents in judged.items() if any(grade > 0 for grade in documents.values())}


COUNTED = {
    COLLECTION: DatasetCounts(collection_counts),
    "clef": DatasetCounts(clef_counts, clef_documents),
    "section_pairs": DatasetCounts(section_pairs),
}
