"""What a setting of a benchmark means: its kind of row, its fine-tuning recipe, what it reads and measures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.benchmarks import module_of
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

    def of_kind(self, kind: str, benchmark: str) -> dict[str, Values]:
        """The settings of a benchmark whose rows are of a kind."""
        own = self.settings.get(benchmark, {})
        return {name: entry for name, entry in own.items() if entry["kind"] == kind}

    def recipe(self, benchmark: str, setting: str) -> str | None:
        """The fine-tuning recipe that a model goes through last; None: it is evaluated as it is."""
        return self.setting(benchmark, setting).get("recipe")

    def windows(self, row: RunKey) -> Values | None:
        """The windows in which a setting of its own has documents encoded; None: as the benchmark says."""
        return self.setting(row.benchmark, row.setting).get("windows")

    def protocol(self, benchmark: str, setting: str) -> Benchmark:
        """A benchmark's entry, with what a setting reads and measures in place of it."""
        own = self.settings.get(benchmark, {}).get(setting, {})
        replaced = {key: own[key] for key in ("data", "judgments", "metrics") if key in own}
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

    def constraint(self, *kinds: str) -> str:
        """What the wildcard `benchmark` may be in rules of some kinds of row: it looks ahead to the setting."""
        return _one_of((b, s) for b, own in self.settings.items() for s in own if own[s]["kind"] in kinds)

    def other_than(self, *kinds: str) -> str:
        """What it may be in rules of all other kinds; names that nothing knows are theirs, to be explained there."""
        return f"(?!{self.constraint(*kinds)})[a-z0-9_]+"

    def default_of(self, *kinds: str) -> str:
        """What it may be in the rule of some kinds which explains names that nothing knows."""
        others = {entry["kind"] for own in self.settings.values() for entry in own.values()} - {*kinds}
        return self.other_than(*sorted(others))

    @property
    def alias_benchmark(self) -> str:
        """What it may be where a setting goes by its short name."""
        return _one_of((b, alias) for b, names in self.aliases.items() for alias in names)

    @property
    def canonical_benchmark(self) -> str:
        """What it may be where a setting goes by its own name, and its rows have seeds."""
        return f"(?!{self.alias_benchmark}|{self.constraint('statistics')})[a-z0-9_]+"


def benchmark_code(name: str) -> str:
    """The module that reads a benchmark, as the fingerprints of code name it."""
    return f"benchmarks.{module_of(name)}"


def _one_of(pairs: Iterable[tuple[str, str]]) -> str:
    """A regular expression for the benchmark in `benchmark/model/setting`, followed by "/" or a suffix.

    >>> re.fullmatch(_one_of([("nq", "direct")]) + "/.*", "nq/msm/direct/pt0-ft0") is not None
    True
    """
    settings: dict[str, list[str]] = {}
    for benchmark, setting in pairs:
        settings.setdefault(benchmark, []).append(re.escape(setting))
    return "|".join(f"{b}(?=/[^/]+/(?:{'|'.join(sorted(names))})[/.])" for b, names in sorted(settings.items()))
