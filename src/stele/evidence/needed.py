"""Which results of ours a claim is judged by, and which of them its controls."""

from __future__ import annotations

from stele.evidence.pairs import Pair, Value, baseline_pairs, pairs_meant, values_at
from stele.papers.addresses import Address, PrintedPaper
from stele.papers.claims import Claim, Control, by_reading
from stele.papers.table_parts import CellSource, Target, merge


def instead(address: Address, target: Target | None) -> Address:
    """An address of what its cells would hold of another target."""
    if target is None:
        return address
    both = [address.instead, target] if address.instead else [target]
    return address.model_copy(update={"instead": merge(both)})


def control_pairs(claim: Claim, control: Control, paper: PrintedPaper) -> list[Pair]:
    """What a control compares: the claim's pairs with its targets, each pair of systems once.

    A control that names no setting is of the claim's own: rivals of other settings make no pair of it.
    """
    changed = claim.model_copy(
        update={
            "left": instead(claim.left, control.left),
            "right": [instead(address, control.right) for address in claim.rights],
        }
    )
    pairs = pairs_meant(changed, paper)
    if not any(target and target.setting for target in (control.left, control.right)):
        pairs = [pair for pair in pairs if _setting(pair.left) == _setting(pair.right)] or pairs
    return list({(_systems(pair.left), _systems(pair.right)): pair for pair in reversed(pairs)}.values())[::-1]


def _setting(value: Value) -> str | None:
    return value.at.reference.setting if value.at.reference else None


def _systems(value: Value) -> tuple[tuple[float, CellSource | None], ...]:
    return tuple((factor, part.reference) for factor, part in value.terms)


def references_of(claim: Claim, paper: PrintedPaper) -> set[CellSource]:
    """All values of ours that a claim and its controls speak of; none where nothing can check it or a reader decided.

    Borrowed numbers are not among them: they are not run.
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
