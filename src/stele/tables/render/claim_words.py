"""Words on a claim's line: its rival and its part as the paper prints them, and the limits of the comparison.

Verdicts name parts by the keys of specs: `no_ilk`, `xor_5k`, `ja: labse`, `table 5 all/mu_0.3/value/xor_2k`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stele.papers.addresses import Address, PrintedPaper, PrintedValue, printed_at
from stele.papers.claims import Claim
from stele.papers.table import Table

ROW = 2
BY_IMPORTANCE = (ROW, 0, 1, 4, 3)  # the row of a table's cell, its table, its group, its column, its line
_PLACE = re.compile(r"^(table|figure) \d+ ")
_IN_BRACKETS = re.compile(r" \(.*\)$")  # a citation or an explanation in a label


def against(claim: Claim, row: Mapping[str, Any], paper: PrintedPaper, tables: Mapping[int, Table]) -> str:
    """Words for the comparison behind a verdict's `row`: "against w/o ILK, by XOR R@5K".

    If another part of the claim has a smaller difference, it is named too. "" if nothing tells the sides apart.
    """
    words = comparison(row.get("rival", ""), claim, row, paper, tables)
    closest = row.get("closest")
    if closest and closest["name"] != row.get("rival", ""):
        smallest = comparison(closest["name"], claim, row, paper, tables)
        words += f" (smallest difference: {closest['mean']:+.3g}, {smallest})"
    return words


def comparison(
    name: str, claim: Claim, row: Mapping[str, Any], paper: PrintedPaper, tables: Mapping[int, Table]
) -> str:
    """Words for a part that a verdict names; "" is the name of an only part."""
    labels = _labels(tables[address.table] for address in claim.addresses() if address.table)
    left = _keys([claim.left] if claim.left else [], paper, ())
    right = _keys(claim.rights, paper, row.get("left_out", ()))
    ours, rivals, parts = [], [], []
    for key in _named(name):
        kind, label = labels.get(key, ("", key))
        if kind != "row":
            parts.append(f"{kind} {label}".strip() if label else "")
        elif key in right[ROW] and key not in left[ROW]:
            rivals.append(label)
        elif not claim.points:  # a trend is called by its first point
            ours.append(label)
    only = "" if rivals else _differing_key(left, right)
    if only:
        rivals.append(labels.get(only, ("", only.capitalize()))[1])
    return ", ".join(filter(None, [*ours, *(f"against {rival}" for rival in rivals), *parts]))


def notes(row: Mapping[str, Any], covered: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Notes on the parts of the paper's comparison that ours lacks, and on the smallest difference ours could detect.

    covered: (our number of languages, the paper's) of each compared average that covers fewer.
    """
    shares = sorted(set(covered))
    if len(shares) == 1:
        yield "ours over {} of the paper's {} languages".format(*shares[0])
    elif shares:
        yield f"ours over {' and '.join(f'{ours} of {printed}' for ours, printed in shares)} of the paper's languages"
    rivals = row.get("rivals")
    if rivals and rivals["ran"] < rivals["printed"]:
        yield f"{rivals['ran']} of {rivals['printed']} printed rivals ran"
    if row.get("detectable") is not None:
        yield f"smallest detectable difference {row['detectable']:.3g}"


def other_reasons(row: Mapping[str, Any]) -> str:
    """Reason of a verdict, without the parts that its line already names in the paper's words."""
    on_line = ("decided by ", "the smallest difference is ")
    return "; ".join(text for text in row.get("reason", "").split("; ") if not text.startswith(on_line))


def could_be_seen(row: Mapping[str, Any]) -> str:
    """Words for the smallest detectable difference, beside the printed one; "" for claims that are decided."""
    detectable, printed = row.get("detectable"), row.get("printed_difference")
    if detectable is None:
        return ""
    if printed is None:
        return f"a difference of {detectable:.3g}"
    outcome = ": too small to be decided here" if abs(printed) < detectable else ""
    return f"a difference of {detectable:.3g}; the paper prints {printed:+.3g}{outcome}"


def _named(name: str) -> Iterator[str]:
    """Yields the keys in a part's name: `ja: labse`, `msm/recall`, the address of a cell, `the one after`."""
    for piece in filter(None, name.split(": ")):
        yield from _PLACE.sub("", piece).split("/")


def _labels(tables: Iterable[Table]) -> dict[str, tuple[str, str]]:
    """Printed labels by key, each with "row" (rows), "by" (parts with a metric) or "in" (languages and averages)."""
    labels: dict[str, tuple[str, str]] = {}
    for table in tables:
        for group in table.groups:
            labels[group.key] = ("by", _without_brackets(group.label))
        for line in table.lines:
            labels[line.key] = ("by", line.label)
        for column in table.columns:
            header = f"{column.group} {column.header}".strip()
            labels[column.key] = ("by" if column.target.metric else "in", header)
        for _, row in table.rows():
            label = _without_brackets(row.label)
            labels[row.key] = ("row", label if re.search("[A-Za-z]", label) else f"{table.stub} {label}")
    return labels


def _without_brackets(label: str) -> str:
    return _IN_BRACKETS.sub("", label)


def _keys(addresses: Sequence[Address], paper: PrintedPaper, left_out: Sequence[str]) -> list[set[str]]:
    """Keys of the addressed cells, by part of the address: table, group, row, line, column (one less in a figure)."""
    keys: list[set[str]] = [set() for _ in BY_IMPORTANCE]
    for value in (value for address in addresses for value in printed_at(address, paper)):
        if not _is_left_out(value, left_out):
            for place, key in enumerate((value.place, *value.parts)):
                keys[place].add(key)
    return keys


def _is_left_out(value: PrintedValue, left_out: Sequence[str]) -> bool:
    """Whether a verdict leaves out a value, by its name or because its result lacks the value's language."""
    source = value.reference
    starts = [f"{value.name}: ", *([f"{source.result.path} has no {', '.join(source.languages)}"] if source else [])]
    return any(reason.startswith(tuple(starts)) for reason in left_out)


def _differing_key(left: Sequence[set[str]], right: Sequence[set[str]]) -> str:
    """The key by which the right differs from the left, in the most important part that differs; "" if several do."""
    for place in BY_IMPORTANCE:
        different = right[place] - left[place]
        if different:
            return different.pop() if len(different) == 1 else ""
    return ""
