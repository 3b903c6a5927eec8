"""Sizes of collections and training sets (costs.yaml, datasets.yaml) and of models, from which costs are estimated."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from stele import catalogue
from stele.benchmarks._beir_files import role_of
from stele.catalogue import datasets, whole
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.costs import AnsweredSize, BenchmarkSize, Checkpoint, Costs, JudgedSize, TrainingSetSize
from stele.catalogue.user_data import listing
from stele.plan.corpora import text_a_byte
from stele.plan.plan import Plan
from stele.recipes import standins
from stele.recipes.flops import Shape

CHARACTERS = 4.5  # characters per token
Size = TypeVar("Size", AnsweredSize, BenchmarkSize, JudgedSize, TrainingSetSize)


class NoFigures(LookupError):
    """Error of a benchmark or training set without figures in costs.yaml; the cost of its jobs is unknown."""


def costs() -> Costs:
    """Figures and rates of costs.yaml."""
    return whole(Costs)


def benchmark_size(plan: Plan, name: str) -> BenchmarkSize:
    """Numbers of a benchmark's queries and passages; for a user's own set, estimated from the bytes of its files.

    Raises NoFigures if costs.yaml has none, and for a user's own set in another layout than BEIR's or MTEB's.
    """
    folder = plan.settings.config.user_data.get(name)
    if name not in catalogue.added("benchmarks") or not folder or not Path(folder).expanduser().is_dir():
        return figures(costs().benchmarks, name)
    sizes: Counter[str] = Counter()
    for path in listing(folder):
        sizes[role_of(Path(path))[1]] += text_a_byte(path) * Path(folder, path).expanduser().stat().st_size
    if not sizes["corpus"]:
        raise NoFigures(name)
    queries, passages = (
        1 + round(sizes[role] / (costs().texts[kind].mean * CHARACTERS))
        for role, kind in (("queries", "question"), ("corpus", "w100"))
    )
    return BenchmarkSize(queries=[queries], passages=[passages], query="question", passage="w100")


def judged_collection(name: str) -> float:
    """Number of characters in all documents of a judged collection."""
    size = figures(costs().judged, name)
    return size.documents * costs().texts[size.pair].mean * CHARACTERS


def windows(plan: Plan, benchmark: str, languages: Sequence[str]) -> int:
    """Number of encoded texts in a benchmark's collections: windows of documents, or passages."""
    entry = benchmark_size(plan, benchmark)
    return round(entry.windows * of_languages(entry.passages, benchmark, languages))


def of_languages(items: Iterable[int | str], benchmark: str, languages: Sequence[str]) -> int:
    """Sum of a benchmark's items in `languages`; a plain number is multiplied by their share of its languages."""
    chosen, every = _codes(languages), _codes(catalogue.entry(Benchmark, benchmark).languages)
    share = min(1.0, len(chosen) / len(every)) if every else 1.0
    return sum(round(share * item) if isinstance(item, int) else total([item], languages) for item in items)


def _codes(pairs: Iterable[str]) -> set[str]:
    return {code for pair in pairs for code in pair.split("-")}


def figures(known: Mapping[str, Size], name: str) -> Size:
    """Sizes of a benchmark or training set in a section of costs.yaml. Raises NoFigures if it has none."""
    if name not in known:
        raise NoFigures(name)
    return known[name]


def total(items: Iterable[int | str], languages: Sequence[str] | None) -> int:
    """Sum of numbers and of `dataset.count` items, in some languages (None: all) of datasets divided by language.

    >>> total([3, "squad.dev"], None)
    10573
    """
    codes = None if languages is None else tuple(languages)
    return sum(item if isinstance(item, int) else pinned(*item.split("."), codes) for item in items)


@cache
def pinned(dataset: str, count: str, languages: tuple[str, ...] | None) -> int:
    """Expected number of a dataset's `count` in the catalogue, summed over parts."""
    entry = datasets.dataset(dataset)
    sources = [datasets.resolve(dataset, part, languages) for part in datasets.parts(entry, languages)]
    numbers = [counted.expect for source in sources for counted in source.counts[count]]
    return sum(sum(number.values()) if isinstance(number, dict) else number for number in numbers)


# --- models -----------------------------------------------------------------------------------------------------------
UNKNOWN = "xlmr"  # assumed for a user's checkpoint
NUMBER = 4  # bytes of a saved weight, float32


class Known(NamedTuple):
    shape: Shape
    known: bool  # False: estimated


def shape_of(plan: Plan, model: str) -> Known:
    """Shape of a model's encoder: of its base checkpoint, with the model's own attention."""
    root, window = plan.models.root(model), plan.pretraining.attention_window(model)
    key = plan.world.standin(root)
    if key:
        return Known(standin_shape(plan, key)._replace(window=window), True)
    known = catalogue.entries(Checkpoint)
    sizes = known.get(root, known[UNKNOWN])
    users_folder = plan.models.checkpoint_source(root).get("path")
    shapes = map(Shape.in_folder, plan.pretraining.settings_folders(root))
    if (users_folder or root not in known) and (stated := next(filter(None, shapes), None)):
        return Known(stated._replace(window=window), True)
    return Known(Shape(sizes.layers, sizes.width, sizes.inner, sizes.vocabulary, window), root in known)


def standin_shape(plan: Plan, key: str) -> Shape:
    """Shape of a stand-in: its recipe's sizes, and its base's for the rest."""
    recipe = plan.world.recipe(key)
    if isinstance(recipe, standins.Trained | standins.Causal):
        sizes = recipe.architecture
        return Shape(sizes.layers, sizes.width, sizes.inner, recipe.tokenizer.size)
    shape = standin_shape(plan, recipe.bases[0])
    if isinstance(recipe, standins.Contrastive) and recipe.architecture:
        sizes = recipe.architecture
        return Shape(sizes.layers, sizes.width, sizes.inner, shape.vocabulary)
    if isinstance(recipe, standins.Retokenised):
        shape = shape._replace(vocabulary=recipe.tokenizer.size)
    return shape._replace(layers=recipe.own_layers or shape.layers)


def saved_bytes(shape: Shape) -> float:
    """Bytes of an encoder's float32 weights: embeddings and layers, without positions, biases and norms (about 1 %)."""
    layer = 4 * shape.width**2 + 2 * shape.width * shape.inner
    return NUMBER * (shape.vocabulary * shape.width + shape.layers * layer)
