"""Datasets: where each comes from, which languages and parts of it are built, and why one is not available."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from stele import catalogue
from stele.benchmarks.load import Reader, load_reader
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
        """The folder that `user_data` gives for a dataset, or for the release that it is published in; else None."""
        together = datasets.dataset(dataset).release
        users = self.settings.config.user_data
        return users.get(dataset) or users.get(together)

    def folder(self, dataset: str) -> str | None:
        """Local folder of a dataset: the user's, or the generated one for data that need a licence; else None."""
        if folder := self.users_folder(dataset):
            return folder
        if self.settings.generated and datasets.dataset(dataset).wall != "none":
            return self.paths.resources(f"user_data/{dataset}")
        return None

    def is_generated(self, dataset: str) -> bool:
        """Whether a dataset comes from the generated internet."""
        return self.settings.generated and not self.users_folder(dataset)

    def of_the_world(self, names: Iterable[str]) -> list[str]:
        """Those of the named datasets that are texts or judgments, real or generated: all but tools, sorted."""
        return sorted({name for name in names if not datasets.dataset(name).tool})

    def is_users(self, names: Iterable[str]) -> bool:
        """Whether the user provides all of these datasets; they are then used in full at every scale."""
        return all(self.users_folder(name) for name in self.of_the_world(names))

    def in_scale(self, names: Iterable[str]) -> list[str] | None:
        """The languages that the scale allows for datasets that are used together; None for all languages."""
        return None if self.is_users(names) else self.settings.sizes.languages

    # --- languages and parts ------------------------------------------------------------------------------------------
    def languages_of(self, dataset: str) -> list[str]:
        if datasets.dataset(dataset).any_language:
            return list(self.settings.documents)
        return datasets.languages_of(datasets.dataset(dataset), self.settings.languages)

    def parts(self, dataset: str, languages: Iterable[str] | None = None) -> list[str]:
        """The parts of a dataset that contain some of the given languages (None: all its languages)."""
        if datasets.dataset(dataset).any_language:
            wanted = None if languages is None else {*languages}
            return [code for code in self.languages_of(dataset) if wanted is None or code in wanted]
        return datasets.parts(datasets.dataset(dataset), languages, self.settings.languages)

    def resolve(self, dataset: str, part: str, languages: Sequence[str], date: str | None = None) -> Part:
        """The files and counts of a part of a dataset, from its catalogue entry, for real or for generated data."""
        generated, table = self.is_generated(dataset), self.settings.languages
        return datasets.resolve(dataset, part, languages, generated=generated, date=date, table=table)

    # --- benchmarks ---------------------------------------------------------------------------------------------------
    def benchmark(self, name: str) -> Benchmark:
        return catalogue.entry(Benchmark, name)

    def of_benchmark(self, name: str) -> list[str]:
        """The datasets that a benchmark reads for retrieval or for scoring, each once."""
        entry = self.benchmark(name)
        return list(dict.fromkeys([*entry.data, *entry.judgments]))

    @cached_method
    def languages(self, benchmark: str) -> list[str]:
        """The languages of a benchmark that are in scale (all, if the user provides its data) and in `languages`."""
        entry, read = self.benchmark(benchmark), self.of_benchmark(benchmark)
        if not read:  # a count of parameters has no language; a count of pairs has the languages that are built
            built = (self.settings.sizes.languages, self.settings.config.languages)
            return [c for c in entry.languages if "-" not in c or all(_is_among(c, chosen) for chosen in built)]
        users, sizes = self.is_users(read), self.settings.sizes
        # an adaptation names its languages itself
        all_of_it = users or self.settings.config.adapt is not None
        in_scale = None if all_of_it else sizes.benchmarks.get(benchmark, sizes.languages)
        # real data in all their languages, generated data in the languages of the papers' tables
        real = users or not self.settings.generated
        codes = datasets.evaluated_in(entry, self.settings.languages) if real else entry.languages
        return [c for c in codes if _is_among(c, in_scale) and _is_among(c, self.settings.config.languages)]

    def language_problem(self, benchmark: str) -> str | None:
        """The reason why no language of a benchmark is built; None if some language is."""
        chosen, entry = self.settings.config.languages, self.benchmark(benchmark)
        if self.languages(benchmark):
            return None
        codes = datasets.evaluated_in(entry, self.settings.languages)
        if not chosen or any(_is_among(code, chosen) for code in codes):
            among = f" among `languages`: {', '.join(chosen)}" if chosen else ""
            return f"the scale {self.settings.scale} has no language of {benchmark}{among}"
        listed = ", ".join(codes[:NAMED]) + (", ..." if len(codes) > NAMED else "")
        return f"{benchmark} is in {listed}; none of them is among `languages`: {', '.join(chosen)}"

    def read_languages(self, benchmark: str) -> list[str]:
        """The languages of the documents that a benchmark reads: those built, or always all of a multilingual pool."""
        return self.benchmark(benchmark).documents_in or self.languages(benchmark)

    # --- parts --------------------------------------------------------------------------------------------------------
    def records(self, names: Iterable[str], languages: Iterable[str]) -> dict[str, str]:
        """Records by `dataset:part`, for the parts of the named datasets that contain the given languages."""
        languages = list(languages)
        return {
            f"{name}:{part}": self.paths.dataset(name, part) for name in names for part in self.parts(name, languages)
        }

    def evaluated(self, benchmark: str) -> dict[str, str]:
        """Records by `dataset:part` of all data that a benchmark reads."""
        return self.records(self.of_benchmark(benchmark), self.read_languages(benchmark))

    @cached_method
    def part_languages(self, dataset: str, part: str) -> list[str]:
        """The languages whose files are taken of a part: its own; of a single part those in scale, or all of a user's.

        If each language has its own files, only those that a benchmark or a training set reads.
        """
        if part != datasets.ALL:
            return [part]
        entry = datasets.dataset(dataset)
        codes = self.languages_of(dataset)
        in_scale = None if self.users_folder(dataset) else self.settings.sizes.languages
        read = self._languages_read(dataset) if datasets.chosen_by_language(entry) else None
        return [c for c in codes if (in_scale is None or c in in_scale) and (read is None or c in read)]

    def _languages_read(self, dataset: str) -> set[str] | None:
        """The languages of a dataset that benchmarks and training sets read; None if nothing reads it."""
        benchmarks = [name for name in catalogue.entries(Benchmark) if dataset in self.of_benchmark(name)]
        sets = [name for name, entry in catalogue.entries(TrainingSet).items() if dataset in entry.data]
        read = [*map(self.languages, benchmarks), *map(self.training_languages, sets)]
        return {code for codes in read for pair in codes for code in (pair, *pair.split("-"))} if read else None

    def all_records(self, dataset: str) -> dict[str, str]:
        """Records by `dataset:part` of all parts of a dataset that are in scale."""
        in_scale = self.in_scale([dataset])
        have = self.languages_of(dataset)
        return self.records([dataset], [code for code in have if in_scale is None or code in in_scale])

    # --- training sets ------------------------------------------------------------------------------------------------
    def training_set(self, name: str) -> TrainingSet:
        return catalogue.entry(TrainingSet, name)

    @cached_method
    def training_languages(self, name: str) -> list[str]:
        """The languages of a training set that are in scale; `languages` of config.yaml restricts evaluation only."""
        entry = self.training_set(name)
        in_scale = self.in_scale(entry.data) if entry.data else self.settings.sizes.languages
        return [c for c in entry.languages or [] if in_scale is None or c in in_scale]

    # --- what cannot be had -------------------------------------------------------------------------------------------
    def problem(self, names: Iterable[str]) -> str | None:
        """The reason why one of the datasets is not available, such as a licence; None if all of them are."""
        reasons = (
            datasets.availability(name, datasets.dataset(name), self.users_folder(name))
            for name in names
            # the generated internet has every dataset, licensed ones in a separate folder
            if not self.is_generated(name)
        )
        return next((reason for reason in reasons if reason), None)

    def mixture_problem(self, reader: str, names: Iterable[str]) -> str | None:
        """The reason why datasets cannot be read together (some are the user's, others are generated), else None."""
        users = [name for name in self.of_the_world(names) if self.users_folder(name)]
        lacking = [name for name in self.of_the_world(names) if name not in users]
        if not (self.settings.generated and users and lacking):
            return None
        wanted = ", ".join(f"{name}: YOUR_FOLDER" for name in lacking)
        return (
            f"{reader}: {', '.join(users)} is your own data, but {', '.join(lacking)} would be generated, and "
            f"generated texts do not fit real ones. Add to config.yaml: user_data: {{{wanted}}}"
        )


def reader_of(name: str, kind: type[Reader]) -> Reader | None:
    """Reader of a benchmark or training set; None if it needs packages that only the jobs' environments have.

    Raises SteleError if its file in stele/benchmarks reads nothing of this `kind`.
    """
    with suppress(ImportError):
        return load_reader(name, kind)
    return None


def _is_among(code: str, languages: Sequence[str] | None) -> bool:
    """Whether a language or a pair is chosen (None: all are). A pair is also chosen if both of its languages are.

    >>> _is_among("fr-de", ["de", "fr"]), _is_among("fr-de", ["fr-de"]), _is_among("fr-de", ["fr"])
    (True, True, False)
    """
    return languages is None or code in languages or ("-" in code and all(c in languages for c in code.split("-")))
