"""Datasets: whose they are, which of their languages and parts are built, and why one cannot be had."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stele import catalogue
from stele.catalogue import datasets
from stele.catalogue.schema.benchmarks import Benchmark, TrainingSet
from stele.catalogue.schema.datasets import Part
from stele.plan.paths import Paths
from stele.plan.settings import Settings, cached_method

NAMED = 12  # languages of a benchmark that a message lists


@dataclass(frozen=True, eq=False, repr=False)
class Data:
    settings: Settings
    paths: Paths

    # --- whose they are -----------------------------------------------------------------------------------------------
    def users_folder(self, dataset: str) -> str | None:
        """The user's own folder of a dataset, or of the one that is published together with it."""
        together = datasets.dataset(dataset).release
        users = self.settings.config.user_data
        return users.get(dataset) or users.get(together)

    def folder(self, dataset: str) -> str | None:
        """The local folder of a dataset: the user's; for walled generated data, the generated one."""
        if folder := self.users_folder(dataset):
            return folder
        if self.settings.generated and datasets.dataset(dataset).wall != "none":
            return self.paths.resources(f"user_data/{dataset}")
        return None

    def is_generated(self, dataset: str) -> bool:
        """Whether a dataset comes from the generated internet."""
        return self.settings.generated and not self.users_folder(dataset)

    def of_the_world(self, names: Iterable[str]) -> list[str]:
        """The datasets among these that tell of the world, real or generated: all but tools."""
        return sorted({name for name in names if not datasets.dataset(name).tool})

    def is_users(self, names: Iterable[str]) -> bool:
        """Whether the user has given all of these datasets: they are then used whole, at every scale."""
        return all(self.users_folder(name) for name in self.of_the_world(names))

    def in_scale(self, names: Iterable[str]) -> list[str] | None:
        """The languages that a scale allows for some datasets that are used together; None: all."""
        return None if self.is_users(names) else self.settings.sizes.languages

    # --- languages and parts ------------------------------------------------------------------------------------------
    def languages_of(self, dataset: str) -> list[str]:
        """The languages that a dataset has."""
        if datasets.dataset(dataset).any_language:
            return list(self.settings.documents)
        return datasets.languages_of(datasets.dataset(dataset), self.settings.languages)

    def parts(self, dataset: str, languages: Iterable[str] | None = None) -> list[str]:
        """The parts of a dataset that some languages (all of them when None) are in."""
        if datasets.dataset(dataset).any_language:
            wanted = None if languages is None else {*languages}
            return [code for code in self.languages_of(dataset) if wanted is None or code in wanted]
        return datasets.parts(datasets.dataset(dataset), languages, self.settings.languages)

    def resolve(self, dataset: str, part: str, languages: Sequence[str], date: str | None = None) -> Part:
        """What a part of a dataset is made of, real or generated."""
        generated, table = self.is_generated(dataset), self.settings.languages
        return datasets.resolve(dataset, part, languages, generated=generated, date=date, table=table)

    # --- benchmarks ---------------------------------------------------------------------------------------------------
    def benchmark(self, name: str) -> Benchmark:
        return catalogue.entry(Benchmark, name)

    def of_benchmark(self, name: str) -> list[str]:
        """The datasets that a benchmark reads, to retrieve or to score."""
        entry = self.benchmark(name)
        return list(dict.fromkeys([*entry.data, *entry.judgments]))

    @cached_method
    def languages(self, benchmark: str) -> list[str]:
        """The languages of a benchmark that are built: in scale (all, when the user gave its data) and chosen."""
        entry, read = self.benchmark(benchmark), self.of_benchmark(benchmark)
        if not read:  # a count of parameters is of no language, one of pairs of those that are built
            built = (self.settings.sizes.languages, self.settings.config.languages)
            return [c for c in entry.languages if "-" not in c or all(_is_among(c, chosen) for chosen in built)]
        users, sizes = self.is_users(read), self.settings.sizes
        # an adaptation says its languages itself
        all_of_it = users or self.settings.config.adapt is not None
        in_scale = None if all_of_it else sizes.benchmarks.get(benchmark, sizes.languages)
        # a benchmark's own list is what the papers' tables show; real data are taken with all their languages
        whole = entry.whole and (users or not self.settings.generated)
        codes = self.languages_of(entry.judgments[0]) if whole else entry.languages
        return [c for c in codes if _is_among(c, in_scale) and _is_among(c, self.settings.config.languages)]

    def language_problem(self, benchmark: str) -> str | None:
        """Why no language of a benchmark is built; None where some are."""
        chosen, entry = self.settings.config.languages, self.benchmark(benchmark)
        if self.languages(benchmark):
            return None
        if not chosen:
            return f"no language of {benchmark} is built"
        codes = self.languages_of(entry.judgments[0]) if entry.whole and entry.judgments else entry.languages
        listed = ", ".join(codes[:NAMED]) + (", ..." if len(codes) > NAMED else "")
        return f"{benchmark} is in {listed}; none of them is among `languages`: {', '.join(chosen)}"

    def read_languages(self, benchmark: str) -> list[str]:
        """The languages of the parts that a benchmark reads: those that are built, but of one pool always all."""
        return self.benchmark(benchmark).documents_in or self.languages(benchmark)

    # --- parts --------------------------------------------------------------------------------------------------------
    def records(self, names: Iterable[str], languages: Iterable[str]) -> dict[str, str]:
        """`dataset:part` -> record, for the parts that some languages need."""
        languages = list(languages)
        return {
            f"{name}:{part}": self.paths.dataset(name, part) for name in names for part in self.parts(name, languages)
        }

    def evaluated(self, benchmark: str) -> dict[str, str]:
        """`dataset:part` -> record of all that a benchmark reads."""
        return self.records(self.of_benchmark(benchmark), self.read_languages(benchmark))

    @cached_method
    def dataset_languages(self, dataset: str) -> list[str]:
        """The languages whose files a dataset of one part has: those in scale, of the user's own all.

        Where each language has files of its own, only those of the languages that are read.
        """
        entry = datasets.dataset(dataset)
        codes = self.languages_of(dataset)
        in_scale = None if self.users_folder(dataset) else self.settings.sizes.languages
        read = self._languages_read(dataset) if datasets.chosen_by_language(entry) else None
        return [c for c in codes if (in_scale is None or c in in_scale) and (read is None or c in read)]

    def _languages_read(self, dataset: str) -> set[str] | None:
        """The languages that benchmarks and training sets read of a dataset; None where nothing reads it."""
        benchmarks = [name for name in catalogue.entries(Benchmark) if dataset in self.of_benchmark(name)]
        sets = [name for name, entry in catalogue.entries(TrainingSet).items() if dataset in entry.data]
        read = [*map(self.languages, benchmarks), *map(self.training_languages, sets)]
        return {code for codes in read for pair in codes for code in (pair, *pair.split("-"))} if read else None

    def all_records(self, dataset: str) -> dict[str, str]:
        """`dataset:part` -> record of all parts of a dataset that are in scale."""
        in_scale = self.in_scale([dataset])
        have = self.languages_of(dataset)
        return self.records([dataset], [code for code in have if in_scale is None or code in in_scale])

    # --- training sets ------------------------------------------------------------------------------------------------
    def training_set(self, name: str) -> TrainingSet:
        return catalogue.entry(TrainingSet, name)

    @cached_method
    def training_languages(self, name: str) -> list[str]:
        """The languages of a training set's parts; everything in scale, whatever `languages:` evaluates."""
        entry = self.training_set(name)
        in_scale = self.in_scale(entry.data) if entry.data else self.settings.sizes.languages
        return [c for c in entry.languages or [] if in_scale is None or c in in_scale]

    # --- what cannot be had -------------------------------------------------------------------------------------------
    def problem(self, names: Iterable[str]) -> str | None:
        """Why a dataset cannot be had (a licence, a drive), None when all can."""
        reasons = (
            datasets.availability(name, datasets.dataset(name), self.users_folder(name))
            for name in names
            # the generated internet has all, licensed ones in a folder of their own
            if not self.is_generated(name)
        )
        return next((reason for reason in reasons if reason), None)

    def mixture_problem(self, reader: str, names: Iterable[str]) -> str | None:
        """Why datasets that are read together do not fit: some are the user's, the others of a generated world."""
        users = [name for name in self.of_the_world(names) if self.users_folder(name)]
        lacking = [name for name in self.of_the_world(names) if name not in users]
        if not (self.settings.generated and users and lacking):
            return None
        wanted = ", ".join(f"{name}: YOUR_FOLDER" for name in lacking)
        return (
            f"{reader}: {', '.join(users)} is yours, but {', '.join(lacking)} would be generated, which is about "
            f"another world. Add to config.yaml: user_data: {{{wanted}}}"
        )


def _is_among(code: str, languages: Sequence[str] | None) -> bool:
    """Whether a language is one of those chosen (None: all); a pair, whether it is or both of its languages are.

    >>> _is_among("fr-de", ["de", "fr"]), _is_among("fr-de", ["fr-de"]), _is_among("fr-de", ["fr"])
    (True, True, False)
    """
    return languages is None or code in languages or ("-" in code and all(c in languages for c in code.split("-")))
