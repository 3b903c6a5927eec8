"""The pairs of printed numbers that a claim compares.

The parts of an address that vary on both sides must be equal (`all/msm/*/*` against `all/xlmr/*/*`: the same line and
column). A part that varies only on the right makes rivals: `all/msm/*/avg` against `all/*/*/avg` is MSM against each
other row; but not if each cell on the left has one counterpart, as when a baseline is another row for some languages.
A part that varies only on the left does not matter. A cell is never compared with itself.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

from stele.errors import SteleError
from stele.papers.addresses import Address, PrintedPaper, PrintedValue, printed_at
from stele.papers.claims import Bars, Claim, Control, Quantifier, by_reading
from stele.papers.table_parts import CellSource, Target, merge

Parts = tuple[str, ...]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Value:
    """A printed number, or the difference of two, in the unit of its table; None if one of them is not printed.

    error: the largest error that rounding can have caused. missing: names the value that is not printed, and why.
    """

    at: PrintedValue
    number: float | None
    error: float
    missing: str = ""
    subtracted: Self | None = None

    @property
    def name(self) -> str:
        return self.at.name

    @property
    def terms(self) -> list[tuple[float, PrintedValue]]:
        """Printed values, each with its factor, whose sum is this value, in the unit of the first."""
        if self.subtracted is None:
            return [(1.0, self.at)]
        unit = self.at.scale / self.subtracted.at.scale
        return [(1.0, self.at), *((-unit * factor, value) for factor, value in self.subtracted.terms)]


@dataclass(frozen=True)
class Pair:
    """Two values that a claim compares; `rival` tells comparators apart."""

    left: Value
    right: Value
    rival: Parts = ()

    @property
    def complete(self) -> bool:
        return self.left.number is not None and self.right.number is not None

    @property
    def better(self) -> int:
        """Sign of a difference in which the left is better."""
        return -1 if self.left.at.direction == "lower" else 1

    @property
    def difference(self) -> float:
        """Left minus right, in the unit of the left; only complete pairs have one."""
        return round(self.left.number - self.right.number * self._unit, 9)  # removes binary rounding

    @property
    def error(self) -> float:
        return self.left.error + self.right.error * self._unit

    @property
    def ratio(self) -> tuple[float, float, float]:
        """Left divided by a right that is not 0: as printed, and the smallest and largest that rounding allows."""
        left, right = self.left.number, self.right.number * self._unit
        ours, theirs = self.left.error, self.right.error * self._unit
        corners = [(left + up) / (right + down) for up in (-ours, ours) for down in (-theirs, theirs)]
        return left / right, min(corners), max(corners)

    @property
    def _unit(self) -> float:
        return self.left.at.scale / self.right.at.scale


def bar_of(value: Value, bars: Bars) -> float:
    """Smallest difference of interest, in the unit of a value."""
    map_bar = bars.map if (value.at.metric or "").startswith("ap") else None
    return (map_bar or bars.points / 100) * value.at.scale


def values_at(address: Address, paper: PrintedPaper) -> list[Value]:
    """Values at an address, each minus the value at its `minus`. Raises SteleError if the paper lacks the address."""
    values = [_printed(entry) for entry in printed_at(address, paper)]
    if address.minus is None:
        return values
    pairs = pair_values(values, values_at(address.minus, paper), several=False)
    if not pairs:
        raise SteleError(f"{values[0].name} is subtracted from itself; name another value to subtract")
    return [_subtract(pair) for pair in pairs]


def _printed(entry: PrintedValue) -> Value:
    error = 0.5 * 10**-entry.decimals if entry.decimals is not None else 0.0
    return Value(entry, entry.number, error, "" if entry.number is not None else f"{entry.name}: {entry.missing}")


def _subtract(pair: Pair) -> Value:
    if pair.complete:
        return Value(pair.left.at, pair.difference, pair.error, subtracted=pair.right)
    return Value(pair.left.at, None, 0, pair.left.missing or pair.right.missing, pair.right)


def pair_values(left: Sequence[Value], right: Sequence[Value], several: bool = True) -> list[Pair]:
    """Pairs each value on the left with the values on the right that it is compared with.

    Raises SteleError if a value on the left has no counterpart or, without `several`, has more than one.
    """
    if len(right) == 1:  # also a figure against a table, whose addresses differ in form
        return [Pair(value, right[0]) for value in left if value.at is not right[0].at and value.name != right[0].name]
    if len(left[0].at.parts) != len(right[0].at.parts):
        raise SteleError(f"{left[0].name} is compared with several values of {right[0].at.place}; name one of them")
    varying = [(_several(left, index), _several(right, index)) for index in range(len(left[0].at.parts))]
    shared = [index for index, sides in enumerate(varying) if all(sides)]
    of_rivals = [index for index, (ours, theirs) in enumerate(varying) if theirs and not ours]
    if of_rivals and not several:
        raise SteleError(f"{left[0].name} has several values to be subtracted, the first {right[0].name}; name one")
    by_shared: dict[Parts, list[Value]] = {}
    for value in right:
        by_shared.setdefault(_chosen(value, shared), []).append(value)
    others = []
    for value in left:
        if (key := _chosen(value, shared)) not in by_shared:
            raise SteleError(f"{value.name} has no counterpart with {'/'.join(key)} in {right[0].at.place}")
        others.append([other for other in by_shared[key] if other.name != value.name])
    rivals = max(map(len, others)) > 1
    return [
        Pair(value, other, _chosen(other, of_rivals) if rivals else ())
        for value, against in zip(left, others, strict=True)
        for other in against
    ]


def _several(values: Iterable[Value], index: int) -> bool:
    return len({value.at.parts[index] for value in values}) > 1


def _chosen(value: Value, indices: Iterable[int]) -> Parts:
    return tuple(value.at.parts[index] for index in indices)


def pairs_of(left: Address, rights: Sequence[Address], paper: PrintedPaper) -> list[Pair]:
    """Pairs a claim's left with each address on its right; these addresses are rivals of each other.

    Raises SteleError if different metrics would be compared, or if no pair remains.
    """
    values = values_at(left, paper)
    pairs = [
        Pair(pair.left, pair.right, (str(number), *pair.rival))
        for number, right in enumerate(rights)
        for pair in pair_values(values, values_at(right, paper))
    ]
    if not pairs:
        raise SteleError(f"{values[0].name} is compared only with itself; name another value on the right")
    for pair in pairs:
        ours, theirs = pair.left.at.metric, pair.right.at.metric
        if left.minus is None and None not in (ours, theirs) and ours != theirs:
            raise SteleError(f"{pair.left.name} is {ours}, but {pair.right.name} is {theirs}; compare one metric")
    return pairs


def rival_names(pairs: Sequence[Pair]) -> dict[Parts, str]:
    """Names of rivals: their rows if those differ, else the addresses of their first cells."""
    rivals = {pair.rival: pair.right for pair in reversed(pairs)}  # the first pair of each rival
    for names in (
        {rival: right.at.parts[1] + right.at.other for rival, right in rivals.items()},
        {rival: right.name for rival, right in rivals.items()},
    ):
        if len(set(names.values())) == len(rivals):
            return names
    return {rival: "/".join(rival) for rival in rivals}


def value_names(values: Sequence[Value]) -> dict[str, str]:
    """Short names of values by full name: the parts in which their addresses differ (`recall/sw`), if unique."""
    parts = [value.at.parts for value in values]
    varying = [index for index in range(min(map(len, parts))) if len({of_value[index] for of_value in parts}) > 1]
    names = {value.name: "/".join(_chosen(value, varying)) for value in values}
    is_clear = varying and len(set(names.values())) == len(names)
    return names if is_clear else {value.name: value.name for value in values}


def _of_quantifier(quantifier: Quantifier, items: Sequence[Item], value: Callable[[Item], Value]) -> list[Item]:
    """Selects items with printed averages (for average) or single languages (for each_language), or all if none."""
    wanted = {"average": True, "each_language": False}.get(quantifier)
    return [item for item in items if value(item).at.average is wanted] or list(items)


def pairs_meant(claim: Claim, paper: PrintedPaper) -> list[Pair]:
    """Pairs to which a claim's quantifier applies, printed or not; all pairs for a claim of kind comparable.

    Raises SteleError if numbers of different units would be averaged.
    """
    pairs = pairs_of(claim.left, claim.rights, paper)
    if claim.kind == "comparable":
        return pairs
    pairs = _of_quantifier(claim.quantifier, pairs, lambda pair: pair.left)
    if claim.quantifier == "average" and len({pair.left.at.scale for pair in pairs}) > 1:
        raise SteleError("numbers of different units are averaged; name the columns")
    return pairs


def values_meant(claim: Claim, paper: PrintedPaper) -> list[Value]:
    """Values on the left of a claim; only printed averages if the claim is about the average."""
    values = values_at(claim.left, paper)
    return _of_quantifier("average", values, lambda value: value) if claim.quantifier == "average" else values


def series_of(claim: Claim, paper: PrintedPaper) -> list[list[Value]]:
    """Series of a trend over its points, one for each cell. Raises SteleError for a repeated point."""
    points = [values_at(address, paper) for address in claim.points]
    first, *others = [_of_quantifier(claim.quantifier, values, lambda value: value) for values in points]
    series = [[value] for value in first]
    for values in others:
        matched = {pair.left.name: pair.right for pair in pair_values(first, values, several=False)}
        for points_of_series in series:
            if (name := points_of_series[0].name) not in matched:
                raise SteleError(f"{name} is given twice in `points`; give it once")
            points_of_series.append(matched[name])
    return series


def baseline_pairs(claim: Claim, paper: PrintedPaper) -> list[Pair]:
    """Pairs each left value of a claim of significance with its table's baseline row; for claims without a right."""
    left = values_at(claim.left, paper)
    others = [_printed(value) for value in paper.tables.get(claim.left.table, ())]
    pairs = []
    for value in left:
        for other in others:
            same_cell = other.at.parts[2:] == value.at.parts[2:] and other.name != value.name
            if same_cell and other.at.target.model == value.at.baseline:
                pairs.append(Pair(value, other))
    return pairs


def instead(address: Address, target: Target | None) -> Address:
    """Copies an address, with another target for its cells."""
    if target is None:
        return address
    both = [address.instead, target] if address.instead else [target]
    return address.model_copy(update={"instead": merge(both)})


def control_pairs(claim: Claim, control: Control, paper: PrintedPaper) -> list[Pair]:
    """Pairs of a control: the claim's pairs with the control's targets, each pair of systems once.

    A control that names no setting keeps the claim's: sides with different settings are not paired. A metric
    named for one side applies to both, since two metrics cannot be compared.
    """
    left, right = control.left, control.right
    if metric := control.metric:
        left, right = (merge([Target(metric=metric), side or Target()]) for side in (left, right))
    changed = claim.model_copy(
        update={
            "left": instead(claim.left, left),
            "right": [instead(address, right) for address in claim.rights],
        }
    )
    pairs = pairs_meant(changed, paper)
    if not any(target and target.setting for target in (control.left, control.right)):
        pairs = [pair for pair in pairs if _setting(pair.left) == _setting(pair.right)] or pairs
    first: dict[tuple, Pair] = {}
    for pair in pairs:
        first.setdefault((_systems(pair.left), _systems(pair.right)), pair)
    return list(first.values())


def _setting(value: Value) -> str | None:
    return value.at.reference.setting if value.at.reference else None


def _systems(value: Value) -> tuple[tuple[float, CellSource | None], ...]:
    return tuple((factor, part.reference) for factor, part in value.terms)


def references_of(claim: Claim, paper: PrintedPaper) -> set[CellSource]:
    """Sources of our values for a claim and its controls; empty if it cannot be checked or a reader judged it.

    Borrowed numbers are left out, since they are not run.
    """
    if not claim.checkable or by_reading(claim):
        return set()
    values = [value.at for address in claim.addresses() for value in values_at(address, paper)]
    if claim.kind == "significant" and not claim.rights:
        values += [pair.right.at for pair in baseline_pairs(claim, paper)]
    for control in claim.controls if claim.rights else ():
        for pair in control_pairs(claim, control, paper):
            values += [value for side in (pair.left, pair.right) for _, value in side.terms]
    return {value.reference for value in values if value.reference and not value.borrowed}
