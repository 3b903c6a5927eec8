"""Names of metrics: `mrr@100`, `r@2kt`, `accuracy`."""

from __future__ import annotations

import re

from stele.errors import SteleError


def metric_parts(name: str) -> tuple[str, str]:
    """(file of the metric under evaluation/metrics, cut) of a metric's name.

    >>> metric_parts("mrr@100"), metric_parts("r@2kt"), metric_parts("accuracy")
    (('mrr', '100'), ('r_kt', '2kt'), ('accuracy', ''))
    """
    base, at, cut = name.partition("@")
    if not re.fullmatch(r"(@[1-9][0-9]{0,8}(kt)?)?", at + cut):
        raise SteleError(
            f"metric {name!r}: after @ comes a number (at most 9 digits), as in mrr@100, "
            "or thousands of tokens, as in r@2kt"
        )
    return (f"{base}_kt" if cut.endswith("kt") else base), cut
