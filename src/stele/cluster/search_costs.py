"""Cost formulas of the rules that encode and search; each takes a plan and a job's wildcards."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from stele.catalogue import whole
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.catalogue.schema.costs import BenchmarkSize, TrainingSetSize
from stele.cluster.sizes import (
    CHARACTERS,
    benchmark_size,
    costs,
    figures,
    of_languages,
    saved_bytes,
    shape_of,
    total,
    windows,
)
from stele.cluster.training_costs import written
from stele.cluster.work import Work, cost_formula
from stele.plan.plan import Plan
from stele.plan.retrieval import row_of
from stele.recipes.encoding import EncodingSpec
from stele.recipes.flops import Shape, encode
from stele.recipes.search import RotationRecipe

Sizes = BenchmarkSize | TrainingSetSize
FLOAT, HALF = 4, 2  # bytes per number of a stored vector
SEARCHED_ROWS = 32_768  # four times this exceeds a block of a search (exact_search.BLOCK_BYTES) from width 512 on
PAIRS = 1000  # most sentence pairs of a language in Tatoeba


class Search(NamedTuple):
    """Numbers of queries and passages that are encoded and compared, and their mean lengths in tokens."""

    queries: int
    passages: int
    query_length: float
    passage_length: float


def encoded(search: Search, shape: Shape, first_only: bool, half: bool, dimension: int | None = None) -> Work:
    """Work of encoding texts and comparing all queries with all passages, on the first `dimension` numbers or all."""
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
        width=shape.width,
    )


def encoding_memory(shape: Shape, search: Search, numbers: int) -> float:
    """Memory in bytes of encoding and searching on a CPU: weights while they are read, queries, a block of passages.

    Queries are held in float32 and float64, a block's vectors while they are made, searched and scored again.
    """
    queries = search.queries * numbers * (FLOAT + 2 * FLOAT)
    block = 4 * min(search.passages, SEARCHED_ROWS) * numbers * FLOAT
    return costs().process_bytes + 2 * saved_bytes(shape) + queries + block


def _searched(sizes: Sizes, queries: int, passages: int, encoding: EncodingSpec, shape: Shape) -> Work:
    """Work of encoding and comparing texts of costs.yaml's kinds, truncated by an encoding's lengths."""
    query = costs().texts[sizes.query].within(encoding.query_length)
    passage = costs().texts[sizes.passage].within(encoding.passage_length)
    search = Search(queries, passages, query.mean, passage.mean)
    options = (shape, encoding.pooling in ("cls", "pooler"), encoding.half, encoding.dimension)
    work = encoded(search, *options)
    if passages and isinstance(sizes, BenchmarkSize) and sizes.both_ways:
        once = encoded(search._replace(queries=0), *options)
        return replace(once, flops={**once.flops, "search": work.flops["search"]}, memory=work.memory)
    return work


@cost_formula
def retrieve(plan: Plan, wildcards: Any) -> Work:
    """Work of a row's retrieval, with the fine-tuning recipe's encoding if it has one; passages may be encoded before.

    The vectors of one language's pool are on the disk at a time.
    """
    sizes = benchmark_size(plan, wildcards.benchmark)
    languages = plan.data.languages(wildcards.benchmark)
    queries = of_languages(sizes.queries, wildcards.benchmark, languages)
    work = _row_search(plan, wildcards, queries, languages)
    kept = queries * plan.data.benchmark(wildcards.benchmark).depth * costs().run_bytes
    if plan.retrieval.vectors(wildcards):
        queries_only = _row_search(plan, wildcards, queries, None)
        flops = {**queries_only.flops, "search": work.flops["search"]}
        return replace(queries_only, flops=flops, kept=kept)
    pools = [_row_search(plan, wildcards, 0, [language]).temporary for language in languages]
    kept += work.temporary if plan.settings.config.keep_index else 0
    return replace(work, kept=kept, temporary=max(pools, default=0))


@cost_formula
def encode_collection(plan: Plan, wildcards: Any) -> Work:
    """Work of encoding one collection; vectors of all collections stay on the disk until all are searched."""
    whole = _row_search(plan, wildcards, 0, plan.data.languages(wildcards.benchmark))
    collection = _row_search(plan, wildcards, 0, [wildcards.collection])
    if plan.settings.config.keep_index:
        return replace(collection, kept=collection.temporary, temporary=0)
    return replace(collection, temporary=whole.temporary)


def _row_search(plan: Plan, wildcards: Any, queries: int, languages: list[str] | None) -> Work:
    """Work of searching a row's queries in passages (or windows) of some languages; None: no passages."""
    sizes = benchmark_size(plan, wildcards.benchmark)
    if recipe := plan.protocols.recipe(wildcards):
        encoding = plan.finetuning.recipe(recipe).spec()
    else:
        encoding = plan.retrieval.encoding(wildcards.benchmark, wildcards.model)
    passages = 0 if languages is None else windows(plan, wildcards.benchmark, languages)
    if plan.protocols.setting(row_of(wildcards)).get("windows"):
        passages = round(sizes.token_windows * passages)
    return _searched(sizes, queries, passages, encoding, shape_of(plan, wildcards.model).shape)


@cost_formula
def hard_negatives(plan: Plan, wildcards: Any) -> Work:
    sizes = figures(costs().training_sets, wildcards.training_set)
    languages = plan.data.training_languages(wildcards.training_set) or None
    queries, passages = total(sizes.examples, languages), total(sizes.collection, languages)
    encoding = plan.finetuning.recipe(wildcards.recipe).spec()
    work = _searched(sizes, queries, passages, encoding, shape_of(plan, wildcards.model).shape)
    depth = plan.data.training_set(wildcards.training_set).mined.depth
    return replace(work, kept=queries * depth * costs().negative_bytes)


@cost_formula
def encode_pairs(plan: Plan, wildcards: Any) -> Work:
    """Work of encoding questions and as many gold passages, or parallel texts, whose pairs are compared twice."""
    shape = shape_of(plan, wildcards.model).shape
    entry, languages = benchmark_size(plan, wildcards.benchmark), plan.data.languages(wildcards.benchmark)
    number = total(entry.queries, None if entry.parallel else languages)
    if entry.parallel:
        texts = number * len({code for pair in languages for code in pair.split("-")})
        length, compared = costs().texts[entry.query].mean, 2 * len(languages) * 2.0 * number**2 * shape.width
        return Work(
            {"encoding": encode(texts, length, shape, first_only=True), "search": compared},
            cpu_seconds=texts * length * CHARACTERS / costs().rates.mined_bytes,
            kept=2.0 * len(languages) * number * costs().run_bytes,
            memory=encoding_memory(shape, Search(number, texts, length, length), shape.width),
            width=shape.width,
        )
    search = Search(number, number, costs().texts[entry.query].mean, costs().texts[entry.passage].mean)
    work = encoded(search, shape, first_only=False, half=False)
    return replace(work, kept=2.0 * number * shape.width * FLOAT, temporary=0)


@cost_formula
def neighbours(plan: Plan, wildcards: Any) -> Work:
    """Work of comparing held-out sentences, as many per language and side as there are candidates."""
    number = whole(AdaptationRules).held_out.candidates * len(plan.adaptation.held_out())
    length = costs().texts["web_sentence"].mean
    return encoded(Search(number, number, length, length), shape_of(plan, wildcards.model).shape, False, False)


@cost_formula
def project(plan: Plan, wildcards: Any) -> Work:
    """Work of encoding the sentence pairs of one language."""
    length = costs().texts["short"].mean
    search = Search(PAIRS, PAIRS, length, length)
    return encoded(search, shape_of(plan, wildcards.model).shape, first_only=False, half=False)


@cost_formula
def calibrate(plan: Plan, wildcards: Any) -> Work:
    """Work of encoding each language's sentences (the recipe's number, or fewer) and learning a rotation per pair."""
    shape, recipe = shape_of(plan, wildcards.model).shape, plan.calibration.recipe(wildcards.recipe)
    pairs = plan.calibration.pairs(wildcards.recipe)
    used = Counter(language for pair in pairs for language in pair.split("-"))
    corpus, characters = plan.calibration.corpus, costs().texts["web_sentence"].mean * CHARACTERS
    numbers = [min(recipe.sentences, plan.corpora.bytes_of_text(corpus, code) / characters) for code in used]
    sentences, most = sum(numbers), max(numbers, default=0.0)
    encoding = plan.retrieval.encoding(plan.calibration.benchmarks(wildcards.recipe)[0], wildcards.model)
    length = costs().texts["web_sentence"].within(encoding.query_length).mean
    below = shape._replace(layers=encoding.layer or shape.layers)
    number, steps = rotation(recipe.rotation, shape.width)
    at_once = 1 + sum(count > 1 for count in used.values())  # languages whose vectors are on the disk together
    return Work(
        {"encoding": encode(sentences, length, below, first_only=False), "search": len(pairs) * number},
        cpu_seconds=len(pairs) * steps * costs().small_step_seconds
        + sentences * costs().passage_characters / costs().rates.mined_bytes,
        kept=float(len(pairs)) * shape.width**2 * FLOAT,
        temporary=at_once * most * shape.width * FLOAT,
        # two languages' vectors, temporarily in float64
        memory=costs().process_bytes + 2 * saved_bytes(shape) + 2 * most * shape.width * 3 * FLOAT,
        width=shape.width,
    )


def rotation(recipe: RotationRecipe, width: int) -> tuple[float, int]:
    """FLOPs of learning a rotation of `width` dimensions, and the SGD steps of its adversarial start.

    All vectors are compared with all others twice: for the means of CSLS, then for the nearest. A discriminator's
    forward pass takes 2 FLOPs per weight and vector, its backward pass twice as many.
    """
    epochs = recipe.epochs if recipe.start == "adversarial" else 0
    compared = (1 + epochs + recipe.refinements) * recipe.criterion_vectors**2
    compared += recipe.refinements * recipe.refinement_vectors**2
    widths = [width, *[recipe.discriminator_width] * recipe.discriminator_layers, 1]
    weights = sum(inputs * outputs for inputs, outputs in pairwise(widths))
    steps = epochs * -(-recipe.epoch_vectors // recipe.batch) * (recipe.discriminator_steps + 1)
    return 2 * 2.0 * width * compared + 3 * 2.0 * 2 * recipe.batch * weights * steps, steps


@cost_formula
def generate_queries(plan: Plan, wildcards: Any) -> Work:
    """Work of generating a query with beam search for each sampled window; the collection is read twice."""
    recipe = plan.transfer.generated(wildcards.recipe)
    benchmark = plan.transfer.benchmark(wildcards.recipe, wildcards.part)
    shape = shape_of(plan, plan.transfer.model(plan.transfer.generator_of(wildcards.recipe), wildcards.part)).shape
    source = costs().texts[benchmark_size(plan, benchmark).passage].within(recipe.source_length).mean
    number = min(recipe.windows, windows(plan, benchmark, [wildcards.part]))
    characters = 2 * windows(plan, benchmark, [wildcards.part]) * costs().passage_characters
    return Work(
        {"encoding": number * written(recipe.beams, source, recipe.query_length, shape)},
        cpu_seconds=characters / costs().rates.read_bytes,
        kept=2.0 * number * costs().passage_characters,
        memory=costs().process_bytes + 2 * 2 * saved_bytes(shape) + characters,
        width=shape.width,
    )
