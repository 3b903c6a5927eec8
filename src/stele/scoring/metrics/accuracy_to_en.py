"""accuracy_to_en: accuracy of the searches `{lang}-en`, foreign sentences against the English side."""

from __future__ import annotations

import numpy as np

from stele.scoring.case import Case
from stele.scoring.metrics.accuracy import first_is_right


def evaluate(case: Case, cut: str) -> np.ndarray:
    counted = np.array([search.name.endswith("-en") for search in case.searches])
    return np.where(counted, first_is_right(case), np.nan)
