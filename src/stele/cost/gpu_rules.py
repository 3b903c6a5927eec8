"""What jobs do that train or encode: cost formulas `formula(plan, w)` of wildcards `w` (rules.yaml: `cost`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from stele.catalogue.schema.costs import BenchmarkSize, TrainingSetSize
from stele.cost import counts, cpu_rules, finetuning, pretraining
from stele.cost.counts import CHARACTERS, benchmark_size, costs, training_set_size
from stele.cost.finetuning import Texts
from stele.cost.shapes import saved_bytes, shape_of, standin_shape
from stele.cost.work import Work
from stele.plan.plan import Plan
from stele.plan.retrieval import row_of
from stele.recipes.calibration import RotationRecipe
from stele.recipes.encoding import EncodingSpec
from stele.recipes.flops import Shape, encode

Sizes = BenchmarkSize | TrainingSetSize
FLOAT, HALF = 4, 2  # bytes of a number of a vector, as it is kept
SEARCHED_ROWS = 32_768  # passages of a block of a search (retrieval/dense/exact_search.py)
PAIRS = 1000  # of sentences of a language of Tatoeba, at most


def _texts(name: str) -> Texts:
    return Texts(costs().texts[name].mean, costs().texts[name].longest)


def pretrain(plan: Plan, w: Any) -> Work:
    shape = shape_of(plan, w.model).shape
    recipe = plan.pretraining.recipe(w.model)
    number, steps = pretraining.operations(recipe, shape, costs().fill)
    kept = saved_bytes(shape) * (1 + len(recipe.snapshots))
    waited = round(steps * (costs().window_steps if shape.window else 1))
    # weights, gradients' averages and the optimiser's two moments lie in the state folder
    return Work({"training": number}, steps=waited, kept=kept, temporary=3 * saved_bytes(shape))


def finetune(plan: Plan, w: Any) -> Work:
    recipe, (name, dev) = plan.finetuning.recipe(w.recipe), plan.finetuning.train_and_dev(w.recipe)
    entry = training_set_size(name)
    shape, languages = shape_of(plan, w.model).shape, plan.finetuning.languages(w.recipe, name) or None
    examples = counts.total(entry.examples, languages)
    questions = counts.total(training_set_size(dev).dev, plan.finetuning.languages(w.recipe, dev) or None)
    texts = (_texts(entry.query), _texts(entry.passage))
    number, steps = finetuning.operations(recipe, shape, *texts, examples, questions)
    kept = saved_bytes(shape) * (1 if recipe.towers == "shared" else 2)
    read = examples * (1 + recipe.hard_negatives) * costs().passage_characters
    return Work({"training": number}, steps, read / costs().rates.mined_bytes, kept=kept, temporary=3 * kept)


class Search(NamedTuple):
    """Queries and passages that are encoded and compared, and their lengths in tokens."""

    queries: int
    passages: int
    query_length: float
    passage_length: float


def encoded(search: Search, shape: Shape, first_only: bool, half: bool, dimension: int | None = None) -> Work:
    """Encoding texts by length and comparing all queries with all passages, by all numbers of a vector or the first."""
    numbers = dimension or shape.width
    passages = search.passages * encode(1, search.passage_length, shape, first_only)
    queries = search.queries * encode(1, search.query_length, shape, first_only)
    compared = 2.0 * search.queries * search.passages * numbers
    characters = (search.passages + search.queries) * costs().passage_characters
    return Work(
        {"encoding_half" if half else "encoding": passages + queries, "search": compared},
        cpu_seconds=characters / costs().rates.mined_bytes,
        temporary=float(search.passages) * numbers * (HALF if half else FLOAT),
        memory=encoding_memory(shape, search, numbers),
    )


def encoding_memory(shape: Shape, search: Search, numbers: int) -> float:
    """Bytes of a process that encodes and searches on a CPU: weights as they are read, queries, a block of passages.

    Queries lie there in float32 and float64, a block's vectors while they are made, searched and scored again.
    """
    queries = search.queries * numbers * (FLOAT + 2 * FLOAT)
    block = 4 * min(search.passages, SEARCHED_ROWS) * numbers * FLOAT
    return costs().process_bytes + 2 * saved_bytes(shape) + queries + block


def _searched(sizes: Sizes, queries: int, passages: int, encoding: EncodingSpec, shape: Shape) -> Work:
    """Encoding and comparing texts of costs.yaml's kinds, cut as an encoding says."""
    lengths = (_texts(sizes.query).within(encoding.query_length), _texts(sizes.passage).within(encoding.passage_length))
    search = Search(queries, passages, *(texts.mean for texts in lengths))
    return encoded(search, shape, encoding.pooling in ("cls", "pooler"), encoding.half, encoding.dimension)


def retrieve(plan: Plan, w: Any) -> Work:
    """Texts are read as the row's fine-tuning says, else as its protocol does; passages may be encoded before.

    One pool's vectors lie there at a time.
    """
    sizes = benchmark_size(w.benchmark)
    languages = plan.data.languages(w.benchmark)
    queries = counts.of_languages(sizes.queries, w.benchmark, languages)
    work = _row_search(plan, w, queries, languages)
    kept = queries * plan.data.benchmark(w.benchmark).depth * costs().run_bytes
    if plan.retrieval.vectors(w):
        asked = _row_search(plan, w, queries, None)
        return replace(asked, flops={**asked.flops, "search": work.flops["search"]}, kept=kept)
    pools = [_row_search(plan, w, 0, [language]).temporary for language in languages]
    kept += work.temporary if plan.settings.config.keep_index else 0
    return replace(work, kept=kept, temporary=max(pools, default=0))


def encode_collection(plan: Plan, w: Any) -> Work:
    """The passages of one collection; those of the others lie there too, until all are searched."""
    whole = _row_search(plan, w, 0, plan.data.languages(w.benchmark))
    own = _row_search(plan, w, 0, [w.collection])
    if plan.settings.config.keep_index:
        return replace(own, kept=own.temporary, temporary=0)
    return replace(own, temporary=whole.temporary)


def _row_search(plan: Plan, w: Any, queries: int, languages: list[str] | None) -> Work:
    """So many queries of a row in the passages of some languages, or in their windows; None: in nothing."""
    sizes, recipe = benchmark_size(w.benchmark), plan.protocols.recipe(w.benchmark, w.setting)
    encoding = plan.finetuning.recipe(recipe).spec() if recipe else plan.retrieval.encoding(w.benchmark, w.model)
    passages = 0 if languages is None else counts.windows(w.benchmark, languages)
    if plan.protocols.windows(row_of(w)):
        passages = round(sizes.token_windows * passages)
    return _searched(sizes, queries, passages, encoding, shape_of(plan, w.model).shape)


def calibrate(plan: Plan, w: Any) -> Work:
    """Sentences of each language that are encoded, and the rotation of each pair."""
    shape, recipe = shape_of(plan, w.model).shape, plan.calibration.recipe(w.recipe)
    pairs = plan.calibration.pairs(w.recipe)
    used = Counter(language for pair in pairs for language in pair.split("-"))
    sentences = recipe.sentences * len(used)
    encoding = plan.retrieval.encoding(plan.retrieval.calibrated_benchmark(w.recipe), w.model)
    length = _texts("web_sentence").within(encoding.query_length).mean
    below = shape._replace(layers=encoding.layer or shape.layers)
    number, steps = rotation(recipe.rotation, shape.width)
    held = 1 + sum(count > 1 for count in used.values())  # languages whose vectors lie there together
    return Work(
        {"encoding": encode(sentences, length, below, first_only=False), "search": len(pairs) * number},
        cpu_seconds=len(pairs) * steps * costs().small_step_seconds
        + sentences * costs().passage_characters / costs().rates.mined_bytes,
        kept=float(len(pairs)) * shape.width**2 * FLOAT,
        temporary=float(held) * recipe.sentences * shape.width * FLOAT,
    )


def rotation(recipe: RotationRecipe, width: int) -> tuple[float, int]:
    """Operations of learning a rotation of so many dimensions, and the SGD steps of its adversarial start.

    Vectors are compared all with all, and that twice: for the means of CSLS, then for the nearest. A discriminator's
    pass forward is 2 operations a weight and vector, its pass backward twice that.
    """
    epochs = recipe.epochs if recipe.start == "adversarial" else 0
    compared = (1 + epochs + recipe.refinements) * recipe.criterion_vectors**2
    compared += recipe.refinements * recipe.refinement_vectors**2
    widths = [width, *[recipe.discriminator_width] * recipe.discriminator_layers, 1]
    weights = sum(one * other for one, other in pairwise(widths))
    steps = epochs * -(-recipe.epoch_vectors // recipe.batch) * (recipe.discriminator_steps + 1)
    return 2 * 2.0 * width * compared + 3 * 2.0 * 2 * recipe.batch * weights * steps, steps


def hard_negatives(plan: Plan, w: Any) -> Work:
    sizes, languages = training_set_size(w.training_set), plan.data.training_languages(w.training_set) or None
    queries, passages = (counts.total(items, languages) for items in (sizes.examples, sizes.collection))
    encoding = plan.finetuning.recipe(w.recipe).spec()
    work = _searched(sizes, queries, passages, encoding, shape_of(plan, w.model).shape)
    return replace(work, kept=queries * plan.data.training_set(w.training_set).mined.depth * costs().negative_bytes)


def encode_pairs(plan: Plan, w: Any) -> Work:
    """Questions with their gold passages; as many of these. Or parallel texts: each pair is compared twice."""
    shape = shape_of(plan, w.model).shape
    entry, languages = benchmark_size(w.benchmark), plan.data.languages(w.benchmark)
    number = counts.total(entry.queries, None if entry.parallel else languages)
    if entry.parallel:
        texts = number * len({code for pair in languages for code in pair.split("-")})
        length, compared = _texts(entry.query).mean, 2 * len(languages) * 2.0 * number**2 * shape.width
        return Work(
            {"encoding": encode(texts, length, shape, first_only=True), "search": compared},
            cpu_seconds=texts * length * CHARACTERS / costs().rates.mined_bytes,
            kept=2.0 * len(languages) * number * costs().run_bytes,
        )
    search = Search(number, number, _texts(entry.query).mean, _texts(entry.passage).mean)
    work = encoded(search, shape, first_only=False, half=False)
    return replace(work, kept=2.0 * number * shape.width * FLOAT, temporary=0)


def finetune_generator(plan: Plan, w: Any) -> Work:
    """Pairs through an encoder and a decoder; every judged passage of the translations is read."""
    recipe = plan.transfer.generator(w.recipe, w.part)
    shape = shape_of(plan, plan.transfer.model(w.recipe, w.part)).shape
    entry = training_set_size(plan.transfer.translated(w.recipe, w.part))
    source = _texts(entry.passage).within(recipe.source_length).longest
    target = _texts(entry.query).within(recipe.query_length).longest
    number = 3 * recipe.steps * recipe.batch * written(1, source, target, shape)
    read = sum(cpu_rules.dataset_bytes(plan, *name.split(":")) for name in plan.transfer.translations(w.recipe, w.part))
    both = 2 * saved_bytes(shape)  # the decoder is about as large
    return Work({"training": number}, recipe.steps, read / costs().rates.read_bytes, kept=both, temporary=3 * both)


def generate_queries(plan: Plan, w: Any) -> Work:
    """A query for each window that is drawn, by as many beams; the collection is read twice."""
    recipe, benchmark = plan.transfer.generated(w.recipe), plan.transfer.benchmark(w.recipe, w.part)
    shape = shape_of(plan, plan.transfer.model(plan.transfer.generator_of(w.recipe), w.part)).shape
    source = _texts(benchmark_size(benchmark).passage).within(recipe.source_length).mean
    number = min(recipe.windows, counts.windows(benchmark, [w.part]))
    characters = 2 * counts.windows(benchmark, [w.part]) * costs().passage_characters
    return Work(
        {"encoding": number * written(recipe.beams, source, recipe.query_length, shape)},
        cpu_seconds=characters / costs().rates.read_bytes,
        kept=2.0 * number * costs().passage_characters,
    )


def written(beams: int, source: float, target: float, shape: Shape) -> float:
    """Operations of reading a text and writing one with some beams: layers, what is looked up in the source, words."""
    layer = encode(1, target, shape, first_only=False) + shape.layers * 4 * (target + source) * shape.width**2
    words = 2 * target * shape.width * shape.vocabulary
    return encode(1, source, shape, first_only=False) + beams * (layer + words)


def project(plan: Plan, w: Any) -> Work:
    """The sentence pairs of one language."""
    length = _texts("short").mean
    return encoded(Search(PAIRS, PAIRS, length, length), shape_of(plan, w.model).shape, first_only=False, half=False)


def standin(plan: Plan, w: Any) -> Work:
    """A stand-in's training, as if all were masked language modelling."""
    shape, recipe = standin_shape(plan, w.key), plan.world.recipe(w.key)
    masked = recipe.mask_probability * recipe.batch * recipe.length
    head = masked * 2 * shape.width * (shape.width + shape.vocabulary)
    operations = 3 * recipe.steps * (encode(recipe.batch, recipe.length, shape, first_only=False) + head)
    return Work({"training": operations}, kept=saved_bytes(shape))
