"""How the full attention of a BERT becomes global and sliding-window attention (encoders/sliding_window.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from stele.files.strict import Strict


class SlidingWindow(Strict):
    """Yu et al. 2021, section 4.3: 1,024 positions, a window of 64; Table 8: 32 to 256."""

    window: int = Field(ge=2, description="tokens that one attends to, on both sides together")
    positions: int = Field(ge=1, description="most tokens of an input, special ones included")
    global_separators: Literal[1, 2] = Field(description="of a pair's [SEP]; the paper: both, its code: the first")

    @field_validator("window")
    @classmethod
    def _even(cls, window: int) -> int:
        if window % 2:
            raise ValueError("a window has as many tokens on either side: want an even number")
        return window
