"""What a setting of a benchmark means: its kind of row, its fine-tuning recipe, what it reads and measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue.datasets import module_of
from stele.catalogue.schema.benchmarks import Benchmark
from stele.errors import unknown
from stele.files.strict import Values
from stele.plan.data import Data


@dataclass(frozen=True, eq=False, repr=False)
class Protocols:
    data: Data

    @cached_property
    def settings(self) -> dict[str, dict[str, Values]]:
        """benchmark -> setting -> entry of settings.yaml."""
        return catalogue.load("settings")["settings"]

    def is_known(self, benchmark: str, setting: str) -> bool:
        return setting in self.settings.get(benchmark, {})

    def setting(self, benchmark: str, setting: str) -> Values:
        """The entry of a setting; an unknown name is an error that says the nearest."""
        if benchmark not in self.settings:
            raise unknown("benchmark", benchmark, self.settings)
        if setting not in self.settings[benchmark]:
            raise unknown("setting", setting, catalogue.setting_names(benchmark), f"results/{benchmark}")
        return self.settings[benchmark][setting]

    def recipe(self, benchmark: str, setting: str) -> str | None:
        """The fine-tuning recipe that a model goes through last; None: it is evaluated as it is."""
        return self.setting(benchmark, setting).get("recipe")

    def windows(self, row: RunKey) -> Values | None:
        """The windows in which a setting of its own has documents encoded; None: as the benchmark says."""
        return self.setting(row.benchmark, row.setting).get("windows")

    def protocol(self, benchmark: str, setting: str) -> Benchmark:
        """A benchmark's entry, with what a setting reads and measures in place of it."""
        entry = self.settings.get(benchmark, {}).get(setting, {})
        replaced = {key: entry[key] for key in ("data", "judgments", "metrics") if key in entry}
        return self.data.benchmark(benchmark).model_copy(update=replaced)

    def datasets(self, row: RunKey) -> list[str]:
        """The datasets that a row is evaluated with."""
        entry = self.protocol(row.benchmark, row.setting)
        return list(dict.fromkeys([*entry.data, *entry.judgments]))

    def searched(self, row: RunKey) -> dict[str, str]:
        """`dataset:part` -> record of the queries and the collection of a row, or of the pairs that are encoded."""
        protocol = self.protocol(row.benchmark, row.setting)
        return self.data.records(protocol.data, self.data.read_languages(row.benchmark))

    def records(self, row: RunKey) -> set[str]:
        """The records of all datasets that a row is evaluated with."""
        return {*self.data.records(self.datasets(row), self.data.read_languages(row.benchmark)).values()}

    # --- names in paths -----------------------------------------------------------------------------------------------
    @cached_property
    def aliases(self) -> dict[str, dict[str, str]]:
        """benchmark -> short name of a setting -> setting."""
        return catalogue.load("settings")["aliases"]

    def canonical(self, benchmark: str, alias: str) -> str:
        """The setting that an alias stands for; an alias of another benchmark is an error."""
        names = self.aliases[benchmark]
        if alias not in names:
            raise unknown("setting", alias, catalogue.setting_names(benchmark), f"results/{benchmark}")
        return names[alias]


def benchmark_code(name: str) -> str:
    """The module that reads a benchmark, as the fingerprints of code name it."""
    return f"benchmarks.{module_of(name)}"
