"""Cost formulas of the rules that train; each takes a plan and a job's wildcards and counts by the recipe."""

from dataclasses import replace
from typing import Any

from stele.catalogue.schema.costs import Fill, JudgedSize, Text
from stele.cluster.sizes import (
    NUMBER,
    costs,
    figures,
    judged_collection,
    saved_bytes,
    shape_of,
    standin_shape,
    total,
)
from stele.cluster.text_costs import dataset_bytes
from stele.cluster.work import Work, cost_formula
from stele.evaluation.folds import FOLDS
from stele.plan.plan import Plan
from stele.plan.retrieval import row_of
from stele.plan.rows.answered import Answered
from stele.plan.rows.reranked import Reranked
from stele.recipes.finetuning import FinetuningRecipe
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe
from stele.recipes.reranking import CrossEncoder, RerankingRecipe, Trained

# attention heads: a small encoder has as many as a base model, a larger one has a head per 64 dimensions
HEADS, HEAD = 12, 64


# --- pretraining ------------------------------------------------------------------------------------------------------
@cost_formula
def pretrain(plan: Plan, wildcards: Any) -> Work:
    shape = shape_of(plan, wildcards.model).shape
    recipe = plan.pretraining.recipe(wildcards.model)
    number, steps = pretraining_operations(recipe, shape, costs().fill)
    kept = saved_bytes(shape) * (1 + len(recipe.snapshots))
    waited = round(steps * (costs().window_steps if shape.window else 1))
    encoder = max(states(shape, *group) for group in recipe.encoded_at_a_time())
    *sequences, layers = recipe.read_by_heads()
    heads = states(shape._replace(layers=layers), *sequences)
    memory = training_memory(shape, encoder + heads, recipe.hidden_tokens())
    # weights, gradients' averages and the optimiser's two moments lie in the state folder
    temporary, width = 3 * saved_bytes(shape), shape.width
    return Work({"training": number}, waited, kept=kept, temporary=temporary, memory=memory, width=width)


def states(shape: Shape, sequences: float, length: float) -> float:
    """Bytes of the activations, with attention, that some sequences keep for the backward pass."""
    each, heads = costs().training_memory, max(HEADS, shape.width // HEAD)
    return sequences * length * shape.layers * (each.state * shape.width + each.attention * heads * length)


def training_memory(shape: Shape, state_bytes: float, hidden_tokens: float = 0.0, encoders: int = 1) -> float:
    """Memory in bytes of a training on a CPU: weights, gradients, moments, `state_bytes` and vocabulary logits."""
    each = costs().training_memory
    weights = encoders * each.weight * saved_bytes(shape) / NUMBER
    scores = each.score * hidden_tokens * shape.vocabulary
    return costs().process_bytes + weights + state_bytes + scores


def pretraining_operations(recipe: PretrainingRecipe, shape: Shape, fill: Fill) -> tuple[float, int]:
    """FLOPs and steps of a whole pretraining; the steps are the recipe's, or match another recipe's FLOPs."""
    number, other, steps = pretraining_step(recipe, shape, fill), recipe.to_equal(), recipe.steps
    if other is not None:
        steps = max(1, round(pretraining_step(other, shape, fill) * other.steps / number))
    return number * steps, steps


def pretraining_step(recipe: PretrainingRecipe, shape: Shape, fill: Fill) -> float:
    """FLOPs of an average optimiser step of pretraining."""
    group = recipe.flops(shape, *recipe.group_sizes(fill.tokens, fill.sentences))
    mlm_group = recipe.mlm_flops(shape, *recipe.mlm_sizes()) if recipe.mlm_share else 0.0
    return recipe.groups * ((1 - recipe.mlm_share) * group + recipe.mlm_share * mlm_group)


@cost_formula
def standin(plan: Plan, wildcards: Any) -> Work:
    """Work of a stand-in's training, counted as masked language modelling."""
    shape, recipe = standin_shape(plan, wildcards.key), plan.world.recipe(wildcards.key)
    masked = recipe.mask_probability * recipe.batch * recipe.length
    head = masked * 2 * shape.width * (shape.width + shape.vocabulary)
    operations = 3 * recipe.steps * (encode(recipe.batch, recipe.length, shape, first_only=False) + head)
    return Work({"training": operations}, kept=saved_bytes(shape), width=shape.width)


# --- fine-tuning ------------------------------------------------------------------------------------------------------
@cost_formula
def finetune(plan: Plan, wildcards: Any) -> Work:
    recipe, (name, dev) = plan.finetuning.recipe(wildcards.recipe), plan.finetuning.train_and_dev(wildcards.recipe)
    entry = figures(costs().training_sets, name)
    shape, languages = shape_of(plan, wildcards.model).shape, plan.finetuning.languages(wildcards.recipe, name) or None
    examples = total(entry.examples, languages)
    questions = total(figures(costs().training_sets, dev).dev, plan.finetuning.languages(wildcards.recipe, dev) or None)
    texts = (costs().texts[entry.query], costs().texts[entry.passage])
    number, steps = finetuning_operations(recipe, shape, *texts, examples, questions)
    kept = saved_bytes(shape) * (1 if recipe.towers == "shared" else 2)
    read = examples * (1 + recipe.hard_negatives) * costs().passage_characters
    work = Work({"training": number}, steps, read / costs().rates.mined_bytes, kept=kept, temporary=3 * kept)
    return replace(work, memory=finetuning_memory(recipe, shape), width=shape.width)


def finetuning_memory(recipe: FinetuningRecipe, shape: Shape) -> float:
    """Memory in bytes of a fine-tuning on a CPU, which keeps the activations of a batch, or of one chunk of texts."""
    passages = recipe.batch * (1 + recipe.hard_negatives)
    chunk = recipe.encode_chunk
    sides = ((recipe.batch, recipe.query_length), (passages, recipe.passage_length))
    of_sides = [states(shape, min(number, chunk or number), length) for number, length in sides]
    waiting = max(of_sides) if chunk else sum(of_sides)
    return training_memory(shape, waiting, encoders=1 if recipe.towers == "shared" else 2)


def finetuning_operations(
    recipe: FinetuningRecipe, shape: Shape, query: Text, passage: Text, examples: int, questions: int
) -> tuple[float, int]:
    """FLOPs and steps of a whole fine-tuning, of at least one step."""
    examples = max(examples, recipe.batch * recipe.accumulation)
    steps = recipe.total_steps(examples)
    training = steps * finetuning_step(recipe, shape, query, passage)
    return training + finetuning_dev(recipe, shape, query, passage, examples, questions), steps


def finetuning_step(recipe: FinetuningRecipe, shape: Shape, query: Text, passage: Text) -> float:
    """FLOPs of an optimiser step of fine-tuning: both towers forward and backward, and the scores."""
    chunk, first = recipe.encode_chunk, recipe.pooling != "mean"
    queries = recipe.batch
    passages = queries * (1 + recipe.hard_negatives * recipe.hard_negative_ratio)
    sides = ((queries, query.within(recipe.query_length)), (passages, passage.within(recipe.passage_length)))
    encoder = sum(
        passes(number, chunk) * encode(number, texts.padded(number, chunk), shape, first) for number, texts in sides
    )
    return recipe.accumulation * (encoder + 3 * 2 * shape.width * queries * passages)


def finetuning_dev(
    recipe: FinetuningRecipe, shape: Shape, query: Text, passage: Text, examples: int, questions: int
) -> float:
    """FLOPs of choosing a checkpoint: encoding the dev texts at each evaluation."""
    if not recipe.needs_dev:
        return 0.0
    an_epoch = recipe.steps_per_epoch(examples)
    every = recipe.evaluate_every or an_epoch
    number, ranked = recipe.total_steps(examples) // every, 0
    if recipe.rank_from_epoch is not None:
        ranked = max(0, number - recipe.rank_from_epoch * an_epoch // every)
    questions = questions if recipe.dev_limit is None else min(questions, recipe.dev_limit)
    by_rank, by_nll = 1 + recipe.dev_negatives, 1 + recipe.hard_negatives  # passages of a question
    first = recipe.pooling != "mean"
    queries = number * questions * encode(1, query.within(recipe.query_length).mean, shape, first)
    passage_work = encode(1, passage.within(recipe.passage_length).mean, shape, first)
    return queries + (ranked * by_rank + (number - ranked) * by_nll) * questions * passage_work


@cost_formula
def finetune_generator(plan: Plan, wildcards: Any) -> Work:
    """Work of fine-tuning an encoder-decoder on pairs; every judged passage of the translations is read."""
    recipe = plan.transfer.generator(wildcards.recipe, wildcards.part)
    shape = shape_of(plan, plan.transfer.model(wildcards.recipe, wildcards.part)).shape
    entry = figures(costs().training_sets, plan.transfer.translated(wildcards.recipe, wildcards.part))
    source = costs().texts[entry.passage].within(recipe.source_length).longest
    target = costs().texts[entry.query].within(recipe.query_length).longest
    number = 3 * recipe.steps * recipe.batch * written(1, source, target, shape)
    translations = plan.transfer.translations(wildcards.recipe, wildcards.part)
    read = sum(dataset_bytes(plan, *name.split(":")) for name in translations)
    both = 2 * saved_bytes(shape)  # the decoder is about as large
    work = Work({"training": number}, recipe.steps, read / costs().rates.read_bytes, kept=both, temporary=3 * both)
    waiting = states(shape, recipe.batch, recipe.source_length) + states(shape, recipe.batch, recipe.query_length)
    memory = training_memory(shape, waiting, recipe.batch * recipe.query_length, encoders=2)
    return replace(work, memory=memory, width=shape.width)


def written(beams: int, source: float, target: float, shape: Shape) -> float:
    """FLOPs of encoding a `source` and generating a `target` with beams: layers, cross-attention, vocabulary."""
    layer = encode(1, target, shape, first_only=False) + shape.layers * 4 * (target + source) * shape.width**2
    words = 2 * target * shape.width * shape.vocabulary
    return encode(1, source, shape, first_only=False) + beams * (layer + words)


# --- re-ranking, answering --------------------------------------------------------------------------------------------
@cost_formula
def rerank(plan: Plan, wildcards: Any) -> Work:
    """Work of re-ranking documents with a cross-encoder, or by matching words and their vectors."""
    row, size = row_of(wildcards), figures(costs().judged, wildcards.benchmark)
    kind: Reranked = plan.rows.kind(row)
    recipe = kind.recipe(row)
    if isinstance(recipe, CrossEncoder):
        return _cross_encoder_work(plan, wildcards.model, recipe, size)
    read = sum(dataset_bytes(plan, *key.split(":")) for key in kind.vectors(row, wildcards.part))
    return _word_matching_work(recipe, size, read, 2 * judged_collection(wildcards.benchmark))


def _cross_encoder_work(plan: Plan, model: str, recipe: CrossEncoder, size: JudgedSize) -> Work:
    """Work of a cross-encoder in five folds: three train, one is scored after each selectable epoch, one at the end."""
    shape = shape_of(plan, model).shape
    text = costs().texts[size.pair].within(recipe.length)
    pairs, judged = _pairs(recipe, size), size.topics * (size.relevant + size.negative)
    backward = 2 * (recipe.tuned_layers or shape.layers) / shape.layers  # in forward passes; 0 for frozen layers
    training = 2 * pairs * (1 + backward) * encode(1, text.longest, shape, first_only=False)
    scored = (1 + recipe.epochs - recipe.dev_from_epoch + 1) * judged  # over all folds: each tests a fifth
    characters = judged * costs().passage_characters
    return Work(
        {"training": training, "encoding": scored * encode(1, text.mean, shape, first_only=False)},
        steps=round(pairs / recipe.batch),
        cpu_seconds=characters / costs().rates.mined_bytes,
        kept=judged * costs().run_bytes,
        temporary=2 * saved_bytes(shape),
        memory=training_memory(shape, states(shape, recipe.batch, recipe.length)),
        width=shape.width,
    )


def _word_matching_work(recipe: RerankingRecipe, size: JudgedSize, vector_bytes: float, characters: float) -> Work:
    """Work of word matching: the collection and word vectors are read, words compared, a small network trained."""
    rates, judged = costs().rates, size.topics * (size.relevant + size.negative)
    seconds = characters / rates.read_bytes + vector_bytes / rates.vector_bytes + judged / rates.matched_documents
    if isinstance(recipe, Trained):
        seconds += costs().small_step_seconds * _pairs(recipe, size) / recipe.batch
    return Work(cpu_seconds=seconds, kept=judged * costs().run_bytes)


def _pairs(recipe: Trained, size: JudgedSize) -> float:
    """Number of document pairs in training, summed over folds and epochs."""
    return recipe.epochs * FOLDS * 3 / 5 * size.topics * size.relevant


@cost_formula
def answer(plan: Plan, wildcards: Any) -> Work:
    """Work of answering: all questions in training, dev questions after each selectable epoch, test questions once."""
    shape, size = shape_of(plan, wildcards.model).shape, figures(costs().answered, wildcards.benchmark)
    row = row_of(wildcards)
    kind: Answered = plan.rows.kind(row)
    recipe, entry = kind.recipe(row), figures(costs().training_sets, kind.training_set(row))
    pairs, examples = len(plan.data.languages(wildcards.benchmark)), total(entry.examples, None)
    text = costs().texts[size.pair].within(recipe.length)
    dev = (1 + recipe.epochs - recipe.dev_from_epoch) * size.dev
    read = (examples + pairs * (size.dev + size.test)) * costs().passage_characters
    query = round(costs().texts[entry.query].mean)  # attended globally with sliding windows
    forward = encode(1, text.mean, shape, first_only=False, global_tokens=query)
    return Work(
        {
            "training": 3 * recipe.epochs * examples * encode(1, text.longest, shape, False, global_tokens=query),
            "encoding": pairs * (dev + size.test) * forward,
        },
        steps=recipe.epochs * -(-examples // recipe.batch),
        cpu_seconds=read / costs().rates.mined_bytes,
        kept=pairs * size.test * costs().run_bytes,
        temporary=(3 + recipe.epochs) * saved_bytes(shape),
        memory=training_memory(shape, states(shape, recipe.batch, recipe.length)),
        width=shape.width,
    )
