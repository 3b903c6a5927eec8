"""Rows of encoders whose vectors are calibrated before they are compared (CCP, section 3.2); of any model."""

from typing import Literal

from pydantic import Field

from stele.artifacts.results import RunKey
from stele.files.strict import Strict
from stele.plan.models import Problem
from stele.plan.paths import Inputs
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

    def datasets(self, row: RunKey) -> dict[str, list[str]]:
        """Datasets of the encoder's row and of calibration; real and generated data must not be mixed."""
        read = [self.rows.calibration.corpus, *self.rows.protocols.datasets(row)]
        return {**super().datasets(row), "calibration": read}

    def inputs(self, row: RunKey, seeds: str) -> Inputs:
        """Inputs of the job: the encoder, the texts, and the calibration learnt for the encoder."""
        recipe = self.rows.protocols.setting(row)["calibration"]
        return {**super().inputs(row, seeds), "calibration": self.rows.paths.calibration(row.model, recipe, seeds)}

    def downloads(self, row: RunKey) -> set[str]:
        recipe = self.rows.protocols.setting(row)["calibration"]
        return super().downloads(row) | self.rows.calibration.downloads(recipe)


KINDS = {"calibrated": Calibrated}
