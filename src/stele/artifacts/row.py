"""A row of results: what a result file, a line of a table and a job of the plan are about."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A model under a setting of a benchmark.

    >>> row = Row("mrtydi", "msm", "zero_shot_marco")
    >>> row.path, row.name
    ('mrtydi/msm/zero_shot_marco', 'msm/zero_shot_marco/mrtydi')
    """

    benchmark: str
    model: str
    setting: str

    @property
    def path(self) -> str:
        """Where its results lie in the folder of results, without a suffix."""
        return "/".join(self)

    @property
    def name(self) -> str:
        """What the context of a table calls it."""
        return f"{self.model}/{self.setting}/{self.benchmark}"
