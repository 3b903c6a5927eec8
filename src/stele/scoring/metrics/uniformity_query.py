"""uniformity_query: how evenly the vectors of the queries lie on the unit sphere (KEPT, table 8); low is even.

Log of the mean, over pairs of a search's vectors, of exp(-2 ||xi - xj||^2): 0 where all are one point, about -4 for
many points in all directions. `stele.scoring.uniformity` has the rule. A search with a single vector does not count
(NaN).
"""

from __future__ import annotations

import numpy as np

from stele.scoring import uniformity
from stele.scoring.case import Case
from stele.scoring.needs import needs

finish = uniformity.finish


@needs("vectors", "uniformity_query")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return uniformity.evaluate_side(case, 0)
