"""What the fusion of two rankings may say: how their scores are made comparable."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.files.strict import Strict


class Fusion(Strict):
    """Shi et al., section 3: a weight for the scores of term matching, the rest of 1 for those of dense retrieval."""

    scores: Literal["raw", "min_max"] = Field(
        "raw", description="min_max: those of each list are brought to 0..1, query by query; the paper says nothing"
    )
