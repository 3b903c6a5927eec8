"""Evaluation settings of benchmarks, from settings.yaml: kind of row, fine-tuning recipe, datasets and metrics."""

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

    def is_known(self, row: RunKey) -> bool:
        return row.setting in self.settings.get(row.benchmark, {})

    def setting(self, row: RunKey) -> Values:
        """The entry of a row's setting. Raises SteleError with the nearest known name if a name is unknown."""
        check_known("benchmark", row.benchmark, self.settings)
        of_benchmark = self.settings[row.benchmark]
        if row.setting not in of_benchmark:
            place, short_names = f"results/{row.benchmark}", self.aliases.get(row.benchmark, {})
            if row.setting in short_names:  # short names exist for means over seeds only
                raise unknown("setting", row.setting, of_benchmark, place, short_names)
            raise unknown("setting", row.setting, catalogue.setting_names(row.benchmark), place)
        return of_benchmark[row.setting]

    def recipe(self, row: RunKey) -> str | None:
        """The last fine-tuning recipe of a row's model; None if it is evaluated without fine-tuning."""
        return self.setting(row).get("recipe")

    def protocol(self, row: RunKey) -> Benchmark:
        """A benchmark's entry, with its data, judgments and metrics replaced by those of a setting, if it has any."""
        entry = self.settings.get(row.benchmark, {}).get(row.setting, {})
        replaced = {key: entry[key] for key in ("data", "judgments", "metrics") if key in entry}
        return self.data.benchmark(row.benchmark).model_copy(update=replaced)

    def datasets(self, row: RunKey) -> list[str]:
        """The datasets that the evaluation of a row reads, each once."""
        entry = self.protocol(row)
        return list(dict.fromkeys([*entry.data, *entry.judgments]))

    def searched(self, row: RunKey) -> dict[str, str]:
        """Records, by `dataset:part`, of a row's queries and documents, or of the pairs that it encodes."""
        protocol = self.protocol(row)
        return self.data.records(protocol.data, self.data.read_languages(row.benchmark))

    def records(self, row: RunKey) -> dict[str, str]:
        """Records, by `dataset:part`, of all datasets that the evaluation of a row reads."""
        return self.data.records(self.datasets(row), self.data.read_languages(row.benchmark))

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
