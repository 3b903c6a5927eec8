"""The mining recipe of DS-CLK (KEPT, section 4.7, strategy 3; pairs/methods/ds_clk.py)."""

from __future__ import annotations

from typing import Literal

from stele.recipes.pairs import clk


class Recipe(clk.Recipe):
    """DS-CLK's keys are those of CLK."""

    method: Literal["ds_clk"] = "ds_clk"
