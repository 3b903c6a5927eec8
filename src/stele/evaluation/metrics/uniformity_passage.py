"""uniformity_passage: how evenly the vectors of the passages lie on the unit sphere (KEPT, table 8); low is even.

Log of the mean, over pairs of a query set's vectors, of exp(-2 ||xi - xj||^2): 0 where all are one point, about -4 for
many points in all directions. `stele.evaluation.uniformity` has the rule. A query set with a single vector does not
count (NaN).
"""

from __future__ import annotations

import numpy as np

from stele.evaluation import uniformity
from stele.evaluation.case import Case
from stele.evaluation.requires import needs

finish = uniformity.finish


@needs("vectors", "uniformity_passage")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return uniformity.evaluate_side(case, 1)
