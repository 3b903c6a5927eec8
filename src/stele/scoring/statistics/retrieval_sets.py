"""Statistics of the retrieval sets of MSM and KEPT: Mr. TyDi, XOR-Retrieve and Mewsli-X, training sets included.

A query of Mr. TyDi counts if it has a judgment, a training query if it has a relevant passage. XOR-Retrieve's test
questions have no public answers. Mewsli-X is counted from its release alone; the texts of the news are not needed.
KEPT's table 1 counts in the same way, except for Mewsli-X's test set, for which it gives the number of articles (9,608)
and not of their 14,624 mentions.
"""

from stele.benchmarks.mewsli_x import DATASET as MEWSLI_X
from stele.benchmarks.mewsli_x import MewsliX, candidate_languages
from stele.benchmarks.mrtydi import CORPUS, TOPICS, MrTydi
from stele.benchmarks.types import Data
from stele.benchmarks.xor_retrieve import FILES, QUESTIONS, XorRetrieve
from stele.catalogue import datasets
from stele.scoring.statistics import Counts, DatasetCounts, by_language, number_of, present


def mrtydi_queries(data: Data) -> Counts:
    """Numbers of dev and test queries by language, and number of languages with a test query."""
    queries: Counts = {}
    for split in ("dev", "test"):
        numbers = {}
        for query_set in MrTydi().query_sets(sorted(data[TOPICS])):
            judged = MrTydi().judgments(data, query_set, split)
            judged_queries = (query for query in MrTydi().queries(data, query_set, split) if query.id in judged)
            numbers[query_set.language] = number_of(judged_queries, f"{split} queries of {query_set.language}")
        queries[f"queries_{split}"] = numbers
    return {**queries, "languages": present(queries["queries_test"])}


def mrtydi_passages(data: Data) -> Counts:
    """Number of passages by language, and number of languages with passages."""
    passages = {
        collection: number_of(MrTydi().passages(data, collection), f"passages of {collection}")
        for collection in sorted(data[CORPUS])
    }
    return {"passages": passages, "passage_languages": present(passages)}


def mrtydi_training(data: Data) -> Counts:
    """Number of training queries by language."""
    languages = (example.language for example in MrTydi().training(data, "train"))
    return {"queries_train": by_language(languages, "training queries")}


def xor_questions(data: Data) -> Counts:
    """Numbers of training and dev questions by language, and number of languages with a dev question."""
    query_sets = XorRetrieve().query_sets(datasets.languages_of(datasets.dataset(QUESTIONS)))
    questions: Counts = {}
    for split in FILES:
        numbers = {}
        for query_set in query_sets:
            language = query_set.language
            number = number_of(XorRetrieve().queries(data, query_set, split), f"{split} {language}")
            if number:
                numbers[language] = number
        questions[f"queries_{split}"] = numbers
    return {**questions, "languages": present(questions["queries_dev"])}


def xor_passages(data: Data) -> Counts:
    """Number of passages, all of them English."""
    passages = {"en": number_of(XorRetrieve().passages(data, "en"), "passages")}
    return {"passages": passages, "passage_languages": present(passages)}


def mewsli_x_counts(data: Data) -> Counts:
    """Numbers of training, dev and test queries by language, and of passages by their description's language."""
    queries: Counts = {}
    for split in ("train", "dev"):
        languages = (example.language for example in MewsliX().training(data, split))
        queries[f"queries_{split}"] = by_language(languages, f"{split} pairs")
    query_sets = MewsliX().query_sets(datasets.languages_of(datasets.dataset(MEWSLI_X)))
    test = {query_set.language: len(MewsliX().judgments(data, query_set)) for query_set in query_sets}
    queries["queries_test"] = {language: number for language, number in test.items() if number}
    passages = by_language(candidate_languages(data), "candidates")
    return {
        **queries,
        "languages": present(queries["queries_test"]),
        "passages": passages,
        "passage_languages": present(passages),
    }


COUNTED = {
    "mrtydi": DatasetCounts(mrtydi_queries),
    "mrtydi_corpus": DatasetCounts(mrtydi_passages),
    "mrtydi_train": DatasetCounts(mrtydi_training),
    "xor_tydi": DatasetCounts(xor_questions),
    "enwiki_20190201_w100": DatasetCounts(xor_passages),
    "mewsli_x": DatasetCounts(mewsli_x_counts),
}
