"""Chance level of a metric: the mean score of a guess, which a system must beat before its differences mean anything.

A guessed ranking is random: all orders of a query's candidates are equally likely. `relevant` lists the relevances of
the query's relevant passages, `candidates` is the number of its candidates, which hold all relevant passages, and `cut`
the number of ranks that count. If a search does not say how many candidates it had, the chance level is unknown (NaN).
Where answers are judged, in predictions or in passages, a guess is the system's output for another question.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from stele.evaluation.metric import Case
from stele.evaluation.paired import per_question

Expected = Callable[[int, Sequence[int], int], float]
SHIFTS = 5  # other questions whose outputs are tried


def by_query(case: Case, expected: Expected, cut: int) -> np.ndarray:
    """Chance level of each judged query, float64 [rows]; `expected` is one of the functions below.

    Without a cut (0) as many ranks count as the system gave.
    """
    known: dict[tuple, float] = {}
    guesses = np.full(len(case.queries), np.nan)
    for row, query_set in enumerate(case.query_sets):
        relevant = tuple(sorted((grade for grade in case.relevant[row].values() if grade > 0), reverse=True))
        candidates = case.candidates.get(query_set.name)
        if candidates and len(relevant) <= candidates:
            key = candidates, relevant, cut or max(1, len(case.ranking(row)))
            if key not in known:
                known[key] = expected(*key)
            guesses[row] = known[key]
    return guesses


def by_others(case: Case, counts: Callable[[int], bool], score: Callable[[Sequence[int]], np.ndarray]) -> np.ndarray:
    """Chance level of each question, float64 [rows]: its mean score with the outputs for SHIFTS others of its set.

    `score(sources)` gives float64 [rows]: it scores the question of row i with the system's output for that of row
    `sources[i]`. `counts` says whether a row's question counts; if not, it is neither scored nor a source. The other
    questions are evenly spaced, as neighbours ask about one paragraph. The only question of a set has no guess (NaN).
    """
    row_sets = [np.array([row for row in rows if counts(row)], dtype=int) for rows in case.rows_of.values()]
    scores = []
    for number in range(1, SHIFTS + 1):
        sources = np.arange(len(case.queries))
        for rows in row_sets:
            sources[rows] = np.roll(rows, -max(1, number * len(rows) // (SHIFTS + 1)))
        scores.append(score(sources.tolist()))
    guesses = np.mean(scores, axis=0)
    for rows in row_sets:
        if len(rows) == 1:
            guesses[rows] = np.nan
    return guesses


def precision(candidates: int, relevant: Sequence[int], cut: int) -> float:
    """Expected p@cut of a random ranking, which is also its expected accuracy.

    >>> precision(50, [1], 1)
    0.02
    """
    return len(relevant) / candidates * min(cut, candidates) / cut


def recall(candidates: int, relevant: Sequence[int], cut: int) -> float:
    return min(cut, candidates) / candidates if relevant else 0.0


def hit_rate(candidates: int, relevant: Sequence[int], cut: int) -> float:
    """Chance that a random ranking has a relevant passage among the first `cut`.

    >>> hit_rate(4, [1], 3)
    0.75
    """
    ranks = min(cut, candidates)
    return 1 - math.comb(candidates - len(relevant), ranks) / math.comb(candidates, ranks)


def reciprocal_rank(candidates: int, relevant: Sequence[int], cut: int) -> float:
    """Expected mrr@cut of a random ranking: over ranks, the sum of 1 / rank times the chance of the first hit there.

    >>> reciprocal_rank(2, [1], 10)
    0.75
    """
    total, none_before = 0.0, 1.0
    for rank in range(1, min(cut, candidates - len(relevant) + 1) + 1) if relevant else ():
        chance = len(relevant) / (candidates - rank + 1)
        total += none_before * chance / rank
        none_before *= 1 - chance
    return total


def average_precision(candidates: int, relevant: Sequence[int], cut: int) -> float:
    """Expected average precision of a random ranking, cut at `cut`; like ap@cut, it divides by all relevant passages.

    >>> round(average_precision(3, [1, 1], 3), 12)  # orders RRN 1, RNR 5/6, NRR 7/12
    0.805555555556
    """
    others = (len(relevant) - 1) / (candidates - 1) if candidates > 1 else 0.0
    ranks = range(1, min(cut, candidates) + 1)
    return math.fsum((1 + (rank - 1) * others) / rank for rank in ranks) / candidates if relevant else 0.0


def capped_average_precision(candidates: int, relevant: Sequence[int], cut: int) -> float:
    """Expected map@cut of a random ranking; it divides by the number of relevant passages, but at most by `cut`."""
    return average_precision(candidates, relevant, cut) * len(relevant) / min(max(len(relevant), 1), cut)


def discounted_gain(candidates: int, relevant: Sequence[int], cut: int) -> float:
    """Expected ndcg@cut of a random ranking."""
    ranks = range(1, min(cut, candidates) + 1)
    ideal = math.fsum(gain / math.log2(rank + 1) for rank, gain in zip(ranks, relevant, strict=False))
    drawn = sum(relevant) / candidates * math.fsum(1 / math.log2(rank + 1) for rank in ranks)
    return drawn / ideal if ideal else 0.0


EXPECTED: dict[str, Expected] = {  # by the metric's name in ranx
    "precision": precision,
    "recall": recall,
    "hit_rate": hit_rate,
    "mrr": reciprocal_rank,
    "map": average_precision,
    "ndcg": discounted_gain,
}


def by_language(
    values: np.ndarray, guesses: np.ndarray, languages: Sequence[str], queries: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Chance levels: {"languages": {language: mean guess}, "errors": {language: standard error of values - guesses}}.

    `values` and `guesses` are float64 [rows]; each row has a language and a query. A value of NaN marks a query that
    does not count; a language with a query whose guess is unknown, or with one query, is left out.
    """
    names, questions, counted = np.array(languages), np.array(queries), ~np.isnan(values)
    means: dict[str, float] = {}
    errors: dict[str, float] = {}
    for language in dict.fromkeys(names[counted].tolist()):
        rows = counted & (names == language)
        distances = per_question((values - guesses)[rows], questions[rows])
        if len(distances) > 1 and not np.isnan(distances).any():
            means[language] = math.fsum(guesses[rows].tolist()) / int(rows.sum())
            errors[language] = float(distances.std(ddof=1) / math.sqrt(len(distances)))
    return {"languages": means, "errors": errors}
