"""Which results of ours a claim is judged by, and which of them its controls."""

from __future__ import annotations

from collections.abc import Iterator

from stele.evidence.pairs import values_at
from stele.papers.addresses import Address, PrintedPaper
from stele.papers.claims import Claim, by_reading
from stele.papers.table_parts import Target
from stele.papers.targets import Reference, merge


def instead(address: Address, target: Target | None) -> Address:
    """An address of what its cells would hold of another target."""
    if target is None:
        return address
    both = [address.instead, target] if address.instead else [target]
    return address.model_copy(update={"instead": merge(both)})


def references_of(claim: Claim, paper: PrintedPaper, controls: bool = True) -> set[Reference]:
    """All values of ours that a claim speaks of; none of a claim that nothing can check or a reader decided.

    Borrowed numbers are not among them: they are not run.
    """
    if not claim.checkable or by_reading(claim):
        return set()
    addresses = [*claim.addresses(), *(_controlled(claim) if controls else ())]
    values = [value.at for address in addresses for value in values_at(address, paper)]
    return {value.reference for value in values if value.reference and not value.borrowed}


def _controlled(claim: Claim) -> Iterator[Address]:
    for control in claim.controls if claim.rights else ():
        if control.left:
            yield instead(claim.left, control.left)
        if control.right:
            yield from (instead(address, control.right) for address in claim.rights)
