"""Evaluation settings of benchmarks, from settings.yaml: kind of row, fine-tuning recipe, datasets and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue.datasets import module_of
from stele.catalogue.schema.benchmarks import Benchmark
from stele.errors import check_known, unknown
from stele.files.strict import Values
from stele.plan.data import Data


@dataclass(frozen=True, eq=False, repr=False)
class Protocols:
    data: Data

    @cached_property
    def settings(self) -> dict[str, dict[str, Values]]:
        """Entries of settings.yaml by benchmark and setting."""
        return catalogue.load("settings")["settings"]

    def is_known(self, benchmark: str, setting: str) -> bool:
        return setting in self.settings.get(benchmark, {})

    def setting(self, benchmark: str, setting: str) -> Values:
        """The entry of a setting. Raises SteleError with the nearest known name if a name is unknown."""
        check_known("benchmark", benchmark, self.settings)
        if setting not in self.settings[benchmark]:
            raise unknown("setting", setting, catalogue.setting_names(benchmark), f"results/{benchmark}")
        return self.settings[benchmark][setting]

    def recipe(self, benchmark: str, setting: str) -> str | None:
        """The last fine-tuning recipe of a setting's models; None if they are evaluated without fine-tuning."""
        return self.setting(benchmark, setting).get("recipe")

    def windows(self, row: RunKey) -> Values | None:
        """The windows in which documents are encoded, if the setting has its own; None for those of the benchmark."""
        return self.setting(row.benchmark, row.setting).get("windows")

    def protocol(self, benchmark: str, setting: str) -> Benchmark:
        """A benchmark's entry, with its data, judgments and metrics replaced by those of a setting, if it has any."""
        entry = self.settings.get(benchmark, {}).get(setting, {})
        replaced = {key: entry[key] for key in ("data", "judgments", "metrics") if key in entry}
        return self.data.benchmark(benchmark).model_copy(update=replaced)

    def datasets(self, row: RunKey) -> list[str]:
        """The datasets that the evaluation of a row reads, each once."""
        entry = self.protocol(row.benchmark, row.setting)
        return list(dict.fromkeys([*entry.data, *entry.judgments]))

    def searched(self, row: RunKey) -> dict[str, str]:
        """Records, by `dataset:part`, of a row's queries and documents, or of the pairs that it encodes."""
        protocol = self.protocol(row.benchmark, row.setting)
        return self.data.records(protocol.data, self.data.read_languages(row.benchmark))

    def records(self, row: RunKey) -> set[str]:
        """Records of all datasets that the evaluation of a row reads."""
        return {*self.data.records(self.datasets(row), self.data.read_languages(row.benchmark)).values()}

    # --- names in paths -----------------------------------------------------------------------------------------------
    @cached_property
    def aliases(self) -> dict[str, dict[str, str]]:
        """Settings by benchmark and short name (alias)."""
        return catalogue.load("settings")["aliases"]

    def canonical(self, benchmark: str, alias: str) -> str:
        """The setting that an alias stands for. Raises SteleError if the benchmark has no such alias."""
        names = self.aliases[benchmark]
        if alias not in names:
            raise unknown("setting", alias, catalogue.setting_names(benchmark), f"results/{benchmark}")
        return names[alias]


def benchmark_code(name: str) -> str:
    """The module that reads a benchmark, named as in code fingerprints."""
    return f"benchmarks.{module_of(name)}"
