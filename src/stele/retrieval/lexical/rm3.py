"""RM3: expansion of queries with terms of their first passages, as Anserini does it.

From each of the first passages RM3 takes the most frequent terms of 2 to 20 characters that occur in at most a tenth of
the collection; a term's weight is its share of them, times the passage's BM25 score, summed over the passages. The best
terms, with weights that sum to 1, are mixed with the query's own (Abdul-Jaleel et al. 2004, "UMass at TREC 2004";
castorini/anserini's Rm3Reranker.java, whose arithmetic in float32 decides which terms are equal). Among equal ones RM3
keeps the first by code points, as Anserini since September 2022 (its issue 840).

>>> recipe = Rm3(documents=2, terms=1)
>>> expanded(["nile"], [(Counter(nile=1, delta=2), 3.0), (Counter(nile=1, kenya=1), 1.0)], recipe)
{'nile': 0.5, 'delta': 0.5}
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from stele.recipes.search import Rm3

SHORTEST, LONGEST = 2, 20  # characters of a term
MOST_FREQUENT = 0.1  # of the passages: terms in more are taken for stop words
ASCII = re.compile("[a-z0-9]+")


def may_expand(term: str, recipe: Rm3) -> bool:
    """Whether RM3 may add a term to a query, by its length and characters, whatever its frequency."""
    return SHORTEST <= len(term) <= LONGEST and (recipe.filter == "none" or ASCII.fullmatch(term) is not None)


def expanded(
    query: Sequence[str], feedback: Sequence[tuple[Mapping[str, int], float]], recipe: Rm3
) -> dict[str, float]:
    """Expands a query; returns term -> weight.

    `feedback` has, for each of the first passages, the counts of the terms that may be added, and its score.
    """
    added = relevance_model(feedback, recipe)
    query_weights = _of_sum_1({term: np.float32(count) for term, count in Counter(query).items()})
    keep = recipe.original_weight
    return {
        term: keep * float(query_weights.get(term, 0)) + (1 - keep) * float(added.get(term, 0))
        for term in dict.fromkeys([*query_weights, *added])
    }


def relevance_model(feedback: Sequence[tuple[Mapping[str, int], float]], recipe: Rm3) -> dict[str, np.float32]:
    """Selects the best terms of the first passages; returns term -> weight, with weights that sum to 1."""
    weight_of: dict[str, np.float32] = {}
    for counts, score in feedback:
        frequent = _best(counts, recipe.terms)
        total = np.float32(sum(frequent.values()))
        for term, count in frequent.items():
            weight_of[term] = weight_of.get(term, np.float32(0)) + np.float32(count) / total * np.float32(score)
    return _of_sum_1(_best(weight_of, recipe.terms))


def _best(values: Mapping[str, float], number: int) -> dict[str, float]:
    return dict(sorted(values.items(), key=lambda item: (-item[1], item[0]))[:number])


def _of_sum_1(values: Mapping[str, np.float32]) -> dict[str, np.float32]:
    total = sum(float(value) for value in values.values())
    return {term: np.float32(float(value) / total) for term, value in values.items()}
