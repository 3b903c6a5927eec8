"""alignment: mean ||x - y||^2 of the unit vectors of a query and its passage; 0 to 4, lower is closer (KEPT, table 8).

Source: SsnL/align_uniform e256d47 `align_loss` with alpha = 2 (Wang and Isola 2020, section 4.1). It presupposes unit
vectors and does not make them; here vectors are divided by their norms, which leaves unit vectors as they are.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.requires import needs
from stele.evaluation.vectors import l2_normalize


@needs("vectors", "alignment")
def evaluate(case: Case, cut: str) -> np.ndarray:
    values = np.full(len(case.queries), np.nan)
    for name, rows in case.rows_of.items():
        x, y = (l2_normalize(side, f"query set {name!r}") for side in case.vectors[name])
        values[rows.start : rows.stop] = np.square(x - y).sum(axis=1)
    return values
