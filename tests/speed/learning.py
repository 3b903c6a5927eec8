"""Steps of pretraining beside a matrix product, beside each other, and scorers that compare words."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.speed import real_sizes
from tests.speed.random_towers import random_examples, random_towers
from tests.speed.real_sizes import ARCHITECTURES, TINY
from tests.speed.table import speed

MINILM = {"vocab_size": 30522, "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12}
MINILM |= {"intermediate_size": 1536}
RECIPE = {"steps": 30, "groups": 1, "mlm_sequences": 16, "mlm_length": 64, "warmup_steps": 5, "learning_rate": 1e-3}
RECIPE |= {"save_every_seconds": 3600, "sampling_alpha": 0.3, "mask_probability": 0.15, "dropout": 0.1}
RECIPE |= {"betas": (0.9, 0.98), "eps": 1e-6, "weight_decay": 0.01, "clip_norm": None}
CONTRAST = {"temperature": 0.1, "projector": "asymmetric", "sentence_length": 16}
OBJECTIVES = {
    "msm": {"documents": 8, "sentences": 8, "layers": 2, "mu": 0.5, **CONTRAST},
    "crop": {"pairs": 32, **CONTRAST},
    "ict": {"pairs": 16, "query_length": 16, "block_length": 62, "width": 32},
    "mlm": {},
    "kept": {"tasks": ["ilk"], "pairs": 16, "length": 62, "temperature": 0.05, "crop_ratio": (0.1, 0.5)},
    "moco": {"pairs": 32, "length": 62, "temperature": 0.05, "crop_ratio": (0.1, 0.5), "queue": 1024, "momentum": 0.99},
    "ccp": {"pairs": 32, "sentence_length": 16, "window": 5, "temperature": 0.1, "l2": True, "languages": ["en"]},
}
OBJECTIVES["ccp"] |= {"batch_norm": "asymmetric", "bank": 512}
PRODUCT = "a matrix product of as many operations"
SEGMENTS = {"msm": [14] * 8, "crop": [14] * 2, "ict": [14, 60], "mlm": [62], "ilk": [14, 60]}  # by store


def parse(objective: str, **changes):
    from stele.recipes.pretraining import parse_recipe

    return parse_recipe({"objective": objective, **RECIPE, **OBJECTIVES[objective], "mlm_share": 0.0, **changes})


def new_model(**sizes):
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM

    torch.manual_seed(0)
    config = AutoConfig.for_model("xlm-roberta", max_position_embeddings=514, **sizes)
    return AutoModelForMaskedLM.from_config(config, attn_implementation="sdpa")


def new_task(folder: Path, name: str, objective, model, segments, examples: int = 256):
    """A task with a store of random examples."""
    from stele.training import tasks
    from stele.training.masking import Vocabulary
    from stele.training.store import Store, write_store

    rng, target, size = np.random.default_rng(0), folder / name, model.config.vocab_size
    if not target.is_dir():
        target.mkdir(parents=True)
        write_store(target, ([rng.integers(5, 2000, n) for n in segments] for _ in range(examples)))
    vocabulary = Vocabulary(size, 0, 2, 1, size - 1, (0, 1, 2, 3, size - 1))
    return tasks.Task(name, objective, {"en": Store(target)}, vocabulary, 0)


def pretraining(folder: Path, recipe, model, segments=SEGMENTS, process=None, examples: int = 256):
    """(module, batches) of a run on random examples, on the CPU without a `process`."""
    from stele.training import run_sizes, tasks

    made = {}
    for name in recipe.all_tasks():
        objective = tasks.MaskedLanguageModelling(recipe) if name == tasks.MLM else recipe.new_objective(name)
        made[name] = new_task(folder, name, objective, model, segments[recipe.store_of(name)], examples)
    module = tasks.Pretraining(model, {name: task.objective for name, task in made.items()}, 0)
    return module, tasks.losses(made, module, recipe, process or on_cpu(), run_sizes.Shape.of(model.config))


def train_on(folder: Path, recipe, model, segments=SEGMENTS, process=None, examples: int = 256, callbacks=()):
    """The outcome of a whole training run, batches and optimiser included."""
    from stele.training.callbacks import AfterStep
    from stele.training.loop import train

    process = process or on_cpu()
    module, batches = pretraining(folder, recipe, model, segments, process, examples)
    options = {"state": folder / "state", "seed": 0, "process": process}
    return train(
        module, batches, recipe, callbacks={"heads": AfterStep(module.after_step), **dict(callbacks)}, **options
    )


def on_cpu():
    import torch

    from stele.training.processes import ProcessContext

    return ProcessContext(torch.device("cpu"))


def product_of(operations: float, width: int, inner: int) -> Callable[[], None]:
    """A function that does a number of operations by products of the shape of feed-forward layers."""
    import torch

    states, weights = torch.randn(1024, width), torch.randn(width, inner)

    def product():
        for _ in range(max(1, round(operations / (2 * 1024 * width * inner)))):
            states @ weights

    return product


def enter_objective(objective: str, name: str, floor: float, rounds: int, **size) -> None:
    tiny = {"sizes": TINY, "steps": 2, "times": 1}

    @speed({PRODUCT: floor}, size, tiny, rounds, name=f"pretraining {objective}, {name}")
    def run(folder, sizes, steps, times):
        """Steps from the draw of examples to the optimiser, in groups `times` as large as the recipe's."""
        recipe, model, numbers, counted = parse(objective, steps=steps), new_model(**sizes), itertools.count(), {}
        key = "mlm_sequences" if objective == "mlm" else recipe.group_key
        recipe = recipe.model_copy(update={key: times * getattr(recipe, key)})

        def ours():
            counted.update(train_on(folder / str(next(numbers)), recipe, model)["counts"])

        def product():
            product_of(counted["flops"], sizes["hidden_size"], sizes["intermediate_size"])()

        return ours, [product], lambda a, b: True


for key in OBJECTIVES:
    enter_objective(key, "miniature", 0.08, 3, sizes=TINY, steps=30, times=1)
    enter_objective(key, "XLM-R base", 0.55, 2, sizes=ARCHITECTURES["xlmr"][1], steps=1, times=4)


@speed({PRODUCT: 0.55}, {"checkpoint": "xlmr", "pairs": 32}, {"checkpoint": "tiny", "pairs": 2}, rounds=2)
def fine_tuning_two_towers(folder, checkpoint, pairs):
    """A step of NQ's recipe: queries of 16 tokens, and twice as many passages of 160."""
    from stele.finetuning.dual_encoder.batches import training_group
    from stele.finetuning.dual_encoder.model import group_loss
    from stele.recipes.finetuning import parse_finetuning
    from stele.recipes.flops import Shape, encode
    from stele.training.loop import MicroBatches, train

    values = real_sizes.jobs().finetuning.recipe("nq").given()
    recipe, numbers = parse_finetuning({**values, "batch": pairs}), itertools.count()
    module, lengths = random_towers(checkpoint, recipe), (16, 160)
    shape = Shape.of(module.tower("query").config)
    data = random_examples(4 * pairs, min(2000, shape.vocabulary), *lengths)
    texts = zip((pairs, 2 * pairs), lengths, strict=True)
    operations = 3 * sum(encode(number, length, shape, first_only=False) for number, length in texts)

    def ours():
        batches = MicroBatches(lambda step: iter([{"nll": (loss_at(step), 1.0)}]), [0])
        train(module, batches, recipe.optimisation(1), state=folder / str(next(numbers)), seed=0, process=on_cpu())

    def loss_at(step: int):
        return group_loss(module, data, training_group(data, recipe, 0, step))

    return ours, [product_of(operations, shape.width, shape.inner)], lambda a, b: True


@speed(
    {"the same step in plain torch": 1 / 1.1},
    {"steps": 3, "pairs": 128, "sizes": MINILM},
    {"steps": 1, "pairs": 8, "sizes": TINY},
)
def adaptation_step(folder, steps, pairs, sizes):
    """Steps of MiniLM on pairs of sentences of 32 tokens: ours from the draw to the optimiser, with its heads."""
    import torch

    recipe = parse("crop", steps=steps, pairs=pairs, sentence_length=64, clip_norm=1.0)
    rounds, targets = iter(range(1000)), torch.arange(pairs)

    def ours():
        train_on(folder / str(next(rounds)), recipe, new_model(**sizes), {"crop": [30, 30]})

    def plain():
        model = new_model(**sizes, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1).base_model.train()
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01)
        for _ in range(steps):
            ids = torch.randint(5, 2000, (2 * pairs, 32))
            states = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[:, 0]
            queries, passages = torch.nn.functional.normalize(states, dim=-1).view(2, pairs, -1)
            torch.nn.functional.cross_entropy(queries @ passages.T / 0.1, targets).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()

    return ours, [plain], lambda a, b: True


@speed({"all last states, all positions of all copies": 1.0}, {"times": 24}, {"times": 1})
def masked_sentence_loss(folder, times):
    """MSM's loss and gradients: ours takes first tokens and the diagonal alone, heads and loss included."""
    import torch

    from stele.training import tasks
    from stele.training.hidden_states import token_states

    model, objective = new_model(**TINY), parse("msm").new_objective("msm")
    task, heads = new_task(folder, "msm", objective, model, SEGMENTS["msm"]), objective.heads(model)
    batch, encoder = tasks.to_device(task.batch(0), torch.device("cpu")), heads["encoders"][0]

    def ours():
        for _ in range(times):
            objective.loss(heads, model, batch).backward()

    def plain():
        for _ in range(times):
            vectors = token_states(model.base_model, batch["ids"], batch["mask"])[:, 0].view(8, 8, 64)
            copies = vectors[:, None].repeat(1, 8, 1, 1)
            copies[:, range(8), range(8)] = encoder.mask
            states = encoder.norm(copies.flatten(0, 1) + encoder.positions.weight)
            states = torch.nn.functional.dropout(states, 0.1)
            for layer in encoder.layers:
                states = layer(states, None)
            states.view(8, 8, 8, 64)[:, range(8), range(8)].sum().backward()

    return ours, [plain], lambda a, b: True


def enter_ccp(pairs: int) -> None:
    @speed({"CROP on as many sentences": 0.87}, {"steps": 60}, {"steps": 1}, name=f"CCP in groups of {pairs}")
    def steps_of_ccp(folder, steps):
        """Whole steps on sentences of the same lengths; CCP draws contexts and has a bank besides."""
        import torch

        from stele.training.processes import ProcessContext

        segments, here = {"crop": SEGMENTS["crop"], "msm": SEGMENTS["msm"]}, ProcessContext(torch.device("cpu"))

        def steps_of(objective):
            recipe = parse(objective, steps=3 * steps, groups=2, pairs=pairs)
            module, batches = pretraining(folder, recipe, new_model(**TINY), segments)
            numbers = itertools.count()  # a round goes on where the one before ended: the heads count groups

            def run():
                optimiser = recipe.optimiser(module)
                for step in itertools.islice(numbers, steps):
                    optimiser.zero_grad(set_to_none=True)
                    for named in batches.loss_at(step):
                        loss, weight = named[objective]
                        (loss * weight).backward()
                    optimiser.step()
                    module.after_step(here)

            return run

        return steps_of("ccp"), [steps_of("crop")], lambda a, b: True


enter_ccp(32)
enter_ccp(128)


# --- scorers that compare words ---------------------------------------------------------------------------------------
TOPICS, VOCABULARY = 10, 30_000
SCORERS = {
    "drmm": {"batch": 10, "learning_rate": 1e-3},
    "knrm": {"batch": 10, "learning_rate": 1e-3},
    "bwe_agg": {"weights": "idf"},
}


def enter_scorer(name: str) -> None:
    limit = "a limit of 300 documents a second"

    @speed({limit: 1.0}, {"documents": 350}, {"documents": 3}, rounds=1, name=f"words compared by {name}")
    def comparing(folder, documents):
        """Documents of 330 words with queries of 15, vectors of 300 numbers, analysis included."""
        from stele.encoders.word_vectors import WordVectors
        from stele.recipes.reranking import parse_recipe
        from stele.reranking.folds.candidates import Candidates
        from stele.reranking.scorers import Sources, load_scorer

        rng, shares = np.random.default_rng(0), 1 / np.arange(1, VOCABULARY + 1)

        def texts(number: int, words: int) -> list[str]:
            drawn = rng.choice(VOCABULARY, (number, words), p=shares / shares.sum())
            return [" ".join(f"w{word}" for word in row) for row in drawn.tolist()]

        def vectors(language, words):
            drawn = np.random.default_rng(1).normal(size=(len(words), 300)).astype(np.float32)
            return WordVectors({word: row for row, word in enumerate(sorted(words))}, drawn, {})

        number, topics = TOPICS * documents, [str(n) for n in range(TOPICS)]
        names, of_topic = [str(n) for n in range(number)], np.repeat(np.arange(TOPICS), documents)
        judged = texts(TOPICS, 15), [{}] * TOPICS, names, texts(number, 330), of_topic, np.arange(number)
        candidates = Candidates(topics, *judged, np.zeros(number, bool), {})
        sources = Sources("en", "de", None, vectors, lambda: iter(candidates.texts))
        recipe = parse_recipe({"scorer": name, **SCORERS[name]})

        def ours():
            scorer = load_scorer(name, candidates, recipe, sources)
            if name == "bwe_agg":
                scorer.scores()

        return ours, [number / 300], lambda a, b: True


for key in SCORERS:
    enter_scorer(key)
