"""accuracy_from_en: accuracy of the searches `en-{lang}`, the one direction that XTREME's script measures."""

from __future__ import annotations

import numpy as np

from stele.scoring.case import Case
from stele.scoring.metrics.accuracy import first_is_right


def evaluate(case: Case, cut: str) -> np.ndarray:
    counted = np.array([search.name.startswith("en-") for search in case.searches])
    return np.where(counted, first_is_right(case), np.nan)
