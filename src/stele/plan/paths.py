"""The paths of the files that rules make, each defined once, and values as text for params and command lines."""

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stele.artifacts.results import RunKey
from stele.plan.settings import Settings

Inputs = dict[str, str | list[str]]  # a job's inputs by their names in the rule
Reads = dict[str, dict[str, str]]  # records by `dataset:part`, by the step that reads them, in which all must fit
TRAINING, HELD_OUT = "training", "held_out"  # the two sides of a corpus with held-out documents


@dataclass(frozen=True, eq=False, repr=False)
class Paths:
    settings: Settings

    # --- folders ------------------------------------------------------------------------------------------------------
    def resources(self, path: str) -> str:
        return f"resources/{self.settings.scale_folder}/{path}"

    def work(self, path: str) -> str:
        return f"work/{self.settings.scale_folder}/{path}"

    def state(self, path: str) -> str:
        return f"state/{self.settings.scale_folder}/{path}"

    def results(self, path: str) -> str:
        return f"{self.settings.config.results_dir}/{path}"

    @property
    def logs(self) -> str:
        return f"logs/{self.settings.scale_folder}"

    def log(self, path: str) -> str:
        return f"{self.logs}/{path}.log"

    def benchmark_file(self, path: str) -> str:
        """The file of a job's time and memory as Snakemake measures them, next to its log."""
        return f"{self.logs}/{path}.benchmark.tsv"

    # --- what comes from outside --------------------------------------------------------------------------------------
    @property
    def manifest(self) -> str:
        return self.resources("mirror/manifest.json")

    def dataset(self, dataset: str, part: str) -> str:
        return self.resources(f"datasets/{dataset}/{part}/record.json")

    def checkpoint(self, model: str) -> str:
        return self.resources(f"checkpoints/{model}/record.json")

    def standin(self, key: str) -> str:
        return self.resources(f"standins/{key}/record.json")

    # --- what is built ------------------------------------------------------------------------------------------------
    def documents(self, corpus: str, part: str) -> str:
        """Record of the documents of a part of a corpus; a part of Wikipedia is a language and a shard ("en/3")."""
        return self.work(f"documents/{corpus}/{part}/record.json")

    def split(self, side: str, corpus: str, part: str) -> str:
        """Record of the documents for training, or of those held out (`side`), of a part of a corpus."""
        return self.work(f"{side}/{corpus}/{part}/record.json")

    def neighbours(self, model: str, seed: int | str) -> str:
        """Record of how often a model finds a sentence's neighbour in the held-out documents."""
        return self.work(f"neighbours/{model}/pt{seed}/record.json")

    def leakage(self, benchmark: str, model: str) -> str:
        """Record of a benchmark's texts that occur in a model's training documents."""
        return self.work(f"leakage/{benchmark}/{model}/record.json")

    @property
    def page_entities(self) -> str:
        return self.work("page_entities/record.json")

    def knowledge_base(self, language: str) -> str:
        return self.work(f"knowledge_base/{language}/record.json")

    def knowledge_pairs(self, mining: str, part: str) -> str:
        return self.work(f"knowledge_pairs/{mining}/{part}/record.json")

    def pairs(self, mining: str, tokenizer: str, part: str) -> str:
        """Record of the store of mined examples."""
        return self.work(f"pairs/{mining}/{tokenizer}/{part}/record.json")

    def pretrained(self, model: str, seed: int | str) -> str:
        return self.work(f"encoders/{model}/pt{seed}/record.json")

    def finetuned(self, model: str, recipe: str, seeds: str) -> str:
        return self.work(f"finetuned/{model}/{recipe}/{seeds}/record.json")

    def vectors(self, file: str) -> str:
        """A file, with wildcards in its path, of an encoder's vectors of a collection that several benchmarks share."""
        return self.work(f"vectors/{{benchmark}}/{{model}}/{{setting}}/{{seeds}}/{{collection}}/{file}")

    def calibration(self, model: str, recipe: str, seeds: str) -> str:
        """Record of the statistics and rotations that calibrate an encoder's vectors."""
        return self.work(f"calibrations/{model}/{recipe}/{seeds}/record.json")

    def generator(self, recipe: str, language: str) -> str:
        """Record of a model that was fine-tuned to generate queries."""
        return self.work(f"generators/{recipe}/{language}/record.json")

    def transfer_set(self, rule: str, recipe: str, language: str) -> str:
        """Record of a training set that the rule title_queries or generate_queries makes."""
        return self.work(f"{rule}/{recipe}/{language}/record.json")

    def hard_negatives(self, model: str, recipe: str, training_set: str, seeds: str) -> str:
        """Record of the hard negatives that a model fine-tuned with a recipe mined for a training set."""
        return self.work(f"hard_negatives/{model}/{recipe}/{training_set}/{seeds}/record.json")

    # --- results ------------------------------------------------------------------------------------------------------
    def result(self, row: RunKey) -> str:
        return self.results(f"{row.path}.json")

    def seed_result(self, row: RunKey, seeds: str) -> str:
        return self.results(f"{row.path}/{seeds}.json")

    @property
    def context(self) -> str:
        """The context file: what tables need besides the results, such as why a row cannot be built."""
        return self.results("tables/context.json")

    def table(self, table: str, ending: str = "md") -> str:
        """The file of a table; `table` is PAPER/NUMBER, e.g. "msm/09"."""
        return self.results(f"tables/{table.replace('/', '/table_')}.{ending}")

    @property
    def verdict(self) -> str:
        return self.results("verdict.json")

    @property
    def adaptation_card(self) -> str:
        return self.results("card.md")

    def card(self, model: str) -> str:
        return self.results(f"cards/{model}.md")


def seed_names(pretraining: list[int], finetuning: list[int]) -> list[str]:
    """Names of the seed pairs, as in the file names of results.

    >>> seed_names([0], [0, 1])
    ['pt0-ft0', 'pt0-ft1']
    """
    return [f"pt{p}-ft{f}" for p in pretraining for f in finetuning]


def pretraining_seed(seeds: str) -> str:
    """The pretraining seed in "pt0-ft1": "0"."""
    return seeds.removeprefix("pt").partition("-")[0]


def finetuning_seed(seeds: str) -> str:
    """The fine-tuning seed in "pt0-ft1": "1"."""
    return seeds.rpartition("ft")[2]


# --- values as texts --------------------------------------------------------------------------------------------------
def as_json(value: Any) -> str:
    """A value as compact JSON with sorted keys, so that equal values give equal params."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def assignments(values: Mapping[str, str | Iterable[str]]) -> list[str]:
    """Formats values by name as `name=path`, or `name=path,path`, for the command line.

    >>> assignments({"en": "a", "sw": ["b", "c"]})
    ['en=a', 'sw=b,c']
    """
    return [f"{name}={value if isinstance(value, str) else ','.join(value)}" for name, value in values.items()]


def flags(values: Mapping[str, Any]) -> str:
    """Formats named values as command-line flags, quoted for a shell; empty and false values are left out.

    >>> flags({"user_data": "my folder", "mirrors": [], "offline": True, "first": 5})
    "--user-data 'my folder' --offline --first 5"
    """
    words = []
    for name, value in values.items():
        texts = [] if value is True else value if isinstance(value, list) else [value]
        words += [f"--{name.replace('_', '-')}", *texts] if value else []
    return shlex.join(map(str, words))
