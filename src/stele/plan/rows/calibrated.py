"""Rows of encoders whose vectors are calibrated before they are compared (CCP, section 3.2); of any model."""

from typing import Literal

from pydantic import Field

from stele.artifacts.results import RunKey
from stele.files.strict import Strict
from stele.plan.models import Problem
from stele.plan.paths import Inputs, Reads
from stele.plan.rows.dense import Dense


class Calibrated(Dense):
    class Setting(Strict):
        calibration: str = Field(description="calibration recipe of recipes.yaml")
        operation: Literal["shifted", "scaled", "calibrated"] = Field(
            description="what is done to the vectors: shifted, also scaled, or also rotated (calibrated)"
        )

    def problem(self, row: RunKey) -> Problem | None:
        """The problem of the encoder's row, else `unavailable` if no language has text to calibrate on."""
        problem = super().problem(row)
        if problem is None and not self.rows.calibration.languages(row.benchmark):
            problem = "unavailable", next(iter(self.left_out(row).values()))
        return problem

    def learns(self, row: RunKey) -> bool:
        """True: the seed draws the sentences that the calibration is learnt from."""
        return True

    def left_out(self, row: RunKey) -> dict[str, str]:
        return self.rows.calibration.left_out(row.benchmark)

    def reads(self, row: RunKey) -> Reads:
        """Records of the encoder's row, and of the texts for calibration, which must fit the row's own."""
        texts = self.rows.calibration.reads(self.rows.protocols.setting(row)["calibration"], row.benchmark)
        return {**super().reads(row), "calibration": texts | self.rows.protocols.records(row)}

    def inputs(self, row: RunKey, seeds: str) -> Inputs:
        """Inputs of the job: the encoder, the texts, and the calibration learnt for the encoder."""
        recipe = self.rows.protocols.setting(row)["calibration"]
        return {**super().inputs(row, seeds), "calibration": self.rows.paths.calibration(row.model, recipe, seeds)}


KINDS = {"calibrated": Calibrated}
