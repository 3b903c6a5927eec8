"""A claim's comparisons on our runs: the values of its cells are looked up in a folder of results.

A value is left out, and listed, if the folder cannot have it: none of its languages is in scale, its row is borrowed,
or no result of ours belongs to it. If a value's results are merely missing, the whole claim has no data.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from stele.artifacts.results import RunKey
from stele.claims.judging.estimate import Estimate, Term, combine
from stele.claims.judging.findings import Verdict
from stele.claims.judging.observed import Absent, Runs, System
from stele.claims.judging.pairs import Pair, Value
from stele.errors import SteleError
from stele.evaluation import paired
from stele.evaluation.significance import correct, load_test
from stele.papers.addresses import PrintedPaper, PrintedValue
from stele.papers.claims import Bars, Claim
from stele.papers.table_parts import CellSource, Significance

Parts = Iterable[tuple[float, PrintedValue]]  # a linear combination of printed values
Found = TypeVar("Found")
Item = TypeVar("Item")
MANY = 3  # most names in a sentence
PERMUTATIONS = 10_000  # per test of one seed; standard error of p at .05: .002
Outcome = tuple[float, float]  # corrected p and the difference, positive where the left is better
Side = tuple[frozenset[tuple[RunKey, str]], frozenset[str]]  # results with their metrics, and the languages
Contrast = tuple[Side, Side]


@dataclass
class Judging:
    """One claim, compared on our runs, and the values that are missing or left out.

    full_size: whether runs have the papers' size. contrasts: the comparisons made. rivals: the number of the claim's
    rivals that ran and the number printed, each result counted once; None if there is only one.
    """

    claim: Claim
    paper: PrintedPaper
    bars: Bars
    runs: Runs
    full_size: bool = False
    missing: dict[str, None] = field(default_factory=dict)
    left_out: dict[str, None] = field(default_factory=dict)
    references: dict[CellSource, None] = field(default_factory=dict)
    contrasts: set[Contrast] = field(default_factory=set)
    rivals: tuple[int, int] | None = None

    def terms(self, parts: Parts) -> list[Term] | None:
        """Terms of a linear combination, in the unit of its first value; None if a value has no results."""
        parts = list(parts)
        languages = [self._languages(value) for _, value in parts]
        absent = [entry for entry in languages if isinstance(entry, Absent)]
        if absent:
            # report values that the folder can never have before missing ones
            for entry in [entry for entry in absent if not entry.needed] or absent:
                self._note(entry)
            return None
        wanted = [value.reference for _, value in parts]
        if len({reference.languages for reference in wanted}) == 1:
            shared = [code for code in languages[0] if all(code in codes for codes in languages)]
            languages = [shared] * len(wanted)
            if not shared:
                self.left_out[f"{parts[0][1].name}: no language in which all have results"] = None
                return None
        terms = []
        for (factor, value), reference, codes in zip(parts, wanted, languages, strict=True):
            system = self.runs.system(reference.result)
            scores = [self.runs.scored(reference.result, reference.metric, code) for code in codes]
            terms.append(Term(factor * value.scale, scores, system.seeds, system.finetuning))
        return terms

    def with_terms(self, items: Iterable[Item], parts: Callable[[Item], Parts]) -> list[tuple[Item, list[Term]]]:
        """Selects the items whose terms all have results, each with its terms; `parts` gives an item's combination."""
        with_terms = [(item, self.terms(parts(item))) for item in items]
        return [(item, terms) for item, terms in with_terms if terms is not None]

    def scores(self, values: Iterable[Value]) -> list[float]:
        """Mean scores behind values, including subtracted ones; empty if one of them is not a score."""
        behind = [part for value in values for _, part in value.terms]
        if any(part.direction != "higher" for part in behind):
            return []
        terms = [self.terms([(1.0, part)]) for part in behind]
        return [combine(of_part).mean for of_part in terms if of_part is not None]

    def number(self, value: PrintedValue) -> float | None:
        """Our number for a printed value, in the printed unit; None if it is missing."""
        number = self._unknown(value) or _as_borrowed(value, self.runs.value(value.reference))
        if isinstance(number, Absent):
            self._note(number)
            return None
        return number * value.scale

    def _note(self, absent: Absent) -> None:
        (self.missing if absent.needed else self.left_out)[absent.reason] = None

    def _languages(self, value: PrintedValue) -> list[str] | Absent:
        return self._unknown(value) or _as_borrowed(value, self.runs.languages(value.reference))

    def _unknown(self, value: PrintedValue) -> Absent | None:
        """Reason why no result of ours belongs to a value; None if one does, whose source is then recorded."""
        if value.reference is None:
            return Absent(f"{value.name}: no result of ours belongs there", needed=False)
        self.references[value.reference] = None
        return None

    @property
    def labels(self) -> set[str]:
        return {label for system in self._systems.values() for label in system.labels}

    @property
    def diverged(self) -> list[str]:
        """Rows used whose pretraining diverged, each with its seeds and the reason."""
        systems = self._systems.items()
        return sorted(f"{row.path}: {system.diverged}" for row, system in systems if system.diverged)

    @property
    def _systems(self) -> dict[RunKey, System]:
        systems = {reference.result: self.runs.system(reference.result) for reference in self.references}
        return {row: system for row, system in systems.items() if not isinstance(system, Absent)}

    @property
    def nothing(self) -> Verdict:
        """The verdict "no data", with the reason why nothing can be compared."""
        if self.missing:
            return Verdict("no data", f"results are missing: {_listed(self.missing)}")
        return Verdict("no data", _listed(self.left_out) or "nothing is compared")


def _as_borrowed(value: PrintedValue, estimate: Found) -> Found | Absent:
    """Returns the estimate; if it is absent and the paper borrowed the number, it need not be built."""
    if isinstance(estimate, Absent) and estimate.needed and value.borrowed:
        return Absent(f"{value.name}: borrowed", needed=False)
    return estimate


def _listed(reasons: Iterable[str]) -> str:
    reasons = list(reasons)
    rest = f" and {len(reasons) - MANY} more" if len(reasons) > MANY else ""
    return "; ".join(reasons[:MANY]) + rest


def difference(pair: Pair, times: float = 1.0) -> list[tuple[float, PrintedValue]]:
    """Linear combination left minus `times` the right, in the unit of the left."""
    unit = times * pair.left.at.scale / pair.right.at.scale
    return [*pair.left.terms, *((-unit * factor, value) for factor, value in pair.right.terms)]


def contrast_of(pairs: Sequence[Pair]) -> Contrast:
    """Contrast of our results that pairs compare; pairs that differ only in the printed row have the same one."""
    return _side([pair.left for pair in pairs]), _side([pair.right for pair in pairs])


def _side(values: Sequence[Value]) -> Side:
    sources = [part.reference for value in values for _, part in value.terms if part.reference]
    languages = frozenset(code for source in sources for code in source.languages)
    return frozenset((source.result, source.metric) for source in sources), languages


def signed(terms: Sequence[Term], sign: int) -> list[Term]:
    return [term._replace(weight=sign * term.weight) for term in terms]


def mean_terms(combinations: Sequence[Sequence[Term]]) -> list[Term]:
    """Terms of the mean of several combinations."""
    number = len(combinations)
    return [term._replace(weight=term.weight / number) for terms in combinations for term in terms]


def by_language(terms: Sequence[Term]) -> list[list[Term]]:
    """Splits a combination by language; returns it whole if its terms differ in language."""
    strata = {tuple(language.stratum for language in term.languages) for term in terms}
    if len(strata) > 1:
        return [[*terms]]
    combinations = []
    for place in range(len(terms[0].languages)):
        combinations.append([term._replace(languages=[term.languages[place]]) for term in terms])
    return combinations


def mean_of(combinations: Sequence[Sequence[Term]]) -> Estimate:
    return combine(mean_terms(combinations))


# --- the test that a paper states, seed by seed -----------------------------------------------------------------------
def by_seed(pairs: Sequence[Pair], runs: Runs) -> list[list[Outcome]]:
    """Outcomes of the paper's test for each pair and seed; p is corrected over the pairs as the paper does."""
    plan = pairs[0].left.at.significance or Significance()
    of_seeds = []
    for of_seed in zip(*(_tests(pair, runs) for pair in pairs), strict=False):  # seeds that all pairs share
        corrected = correct([p for p, _ in of_seed], plan.correction)
        of_seeds.append([(p, d) for p, (_, d) in zip(corrected, of_seed, strict=True)])
    return [list(of_pair) for of_pair in zip(*of_seeds, strict=True)]


def _tests(pair: Pair, runs: Runs) -> list[Outcome]:
    """p-value and difference of one cell for each seed of the left, or of the right where the left is not trained.

    A right side with other seeds is averaged over them.
    """
    ours, theirs = pair.left.at.reference, pair.right.at.reference
    systems = [runs.system(reference.result) for reference in (ours, theirs)]
    plan = pair.left.at.significance or Significance()
    test = load_test(plan.test)
    strata, questions = [], []
    for code in [code for code in runs.languages(ours) if code in runs.languages(theirs)]:
        left, right = (system.metrics[r.metric][code] for system, r in zip(systems, (ours, theirs), strict=True))
        common, in_left, in_right = np.intersect1d(left.queries, right.queries, return_indices=True)
        if len(in_left) < len(left.queries):
            raise SteleError(f"{theirs.result.path} lacks queries of {ours.result.path} in {code}; score both again")
        by_seed, other = left.values[:, in_left], right.values[:, in_right]
        if systems[0].seeds not in ((), systems[1].seeds):
            other = other.mean(axis=0, keepdims=True)
        strata.append(pair.better * paired.differences(by_seed, other))
        questions.append(common)
    by_seed = list(zip(*strata, strict=True))
    if len(strata) > 1 and paired.same_questions(ours.benchmark):
        by_seed = [(paired.by_question(of_seed, questions),) for of_seed in by_seed]
    return [
        (test.p_value(of_seed, PERMUTATIONS, 0), float(np.mean([of_language.mean() for of_language in of_seed])))
        for of_seed in by_seed
    ]
