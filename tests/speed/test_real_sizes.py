"""Two optimiser steps of every recipe at its real architecture size: random weights and tokens, batch cut.

What a step takes in is cut, what it computes with is not: architecture, layers, heads, optimiser, precision. MSM base
runs always, the others where STELE_ALL_RECIPES is set. Seconds are printed, not asserted.
"""

import os

import numpy as np
import pytest
import torch

from stele import catalogue
from stele.files.strict import validate
from stele.recipes.finetuning import AnsweringRecipe, GeneratorRecipe, parse_finetuning
from stele.recipes.pretraining import parse_recipe
from stele.training.loop import MicroBatches, train
from stele.training.processes import ProcessContext
from tests.speed import real_sizes
from tests.speed.learning import train_on
from tests.speed.random_towers import random_examples, random_towers

CPU = ProcessContext(torch.device("cpu"))
EVERY_RECIPE = pytest.mark.skipif(not os.environ.get(real_sizes.ALL), reason=real_sizes.REASON)
pytestmark = pytest.mark.slow
RECIPES = catalogue.load("recipes")
TOGETHER = {"save_every_seconds": 3600, "threads": 1}  # no state of many GB on disk


@pytest.fixture
def two_steps(tmp_path, capsys):
    """two_steps(name, module, batches, optimisation) -> the outcome of a run of two steps."""

    def run(name, module, batches, optimisation):
        outcome = train(module, batches, optimisation, state=tmp_path / "state", seed=0, process=CPU, label=name)
        return checked(name, outcome)

    def checked(name, outcome):
        with capsys.disabled():
            print(f"\n{name}: {outcome['seconds'] / 2:.1f} s a step, losses {outcome['losses']}")
        assert outcome["steps"] == 2 and all(np.isfinite(value) for value in outcome["losses"].values())
        return outcome

    run.checked = checked
    return run


# --- pretraining ------------------------------------------------------------------------------------------------------
CUT = {"steps": 2, "warmup_steps": 1, "groups": 2, "languages": ["en"], **TOGETHER}
CUT_OBJECTIVES = {
    "msm": {"documents": 2, "sentences": 3, "sentence_length": 8},
    "crop": {"pairs": 3, "sentence_length": 8},
    "ict": {"pairs": 3, "query_length": 8, "block_length": 16},
    "mlm": {"equal_compute_to": None},
    "kept": {"pairs": 3, "length": 16, "equal_compute_to": None},
    "moco": {"pairs": 3, "length": 16},
    "ccp": {"pairs": 3, "step_pairs": None, "sentence_length": 8},  # the whole bank
}
SHORT = {"msm": [6] * 3, "crop": [6] * 2, "ict": [6, 14], "mlm": [14]}
SHORT |= {store: [6, 14] for store in ("ilk", "uhs_ilk", "clk", "ds_clk", "clhed")}
TRAINED = sorted(key for key, model in catalogue.load("models").items() if "recipe" in model)


@pytest.mark.parametrize("name", [pytest.param(key, marks=[EVERY_RECIPE] * (key != "msm")) for key in TRAINED])
def test_pretraining(tmp_path, name, two_steps):
    from transformers import AutoModelForMaskedLM

    plan = real_sizes.jobs()
    values = plan.pretraining.recipe(name).given()
    cut = {**CUT, **CUT_OBJECTIVES[values["objective"]]}
    if values.get("mlm_share") or values["objective"] == "mlm":
        cut |= {"mlm_sequences": 2, "mlm_length": 16}
    if values.get("mlm_share"):
        cut |= {"mlm_share": 0.5}  # one group of each kind in every step
    if values.get("encode_chunk"):
        cut |= {"encode_chunk": 1}
    if "tasks" in values:
        cut |= {"groups": len(values["tasks"])}
    recipe = parse_recipe({**values, **cut}, name)
    torch.manual_seed(0)
    config = real_sizes.config(plan.models.root(name), recipe.dropout)
    model = AutoModelForMaskedLM.from_config(config, attn_implementation="sdpa")
    losses = two_steps.checked(name, train_on(tmp_path, recipe, model, SHORT))["losses"]
    figures = ("_accuracy", "_guess", "_cosine", "_chance", "gradient_norm")  # beside the losses
    named = {key for key in losses if not key.endswith(figures) and not key.startswith("ccp_")}
    assert named == {*recipe.own_tasks()} | ({"mlm"} if recipe.mlm_share else set())
    if "mlm" in losses:  # an untrained model predicts all words alike
        assert losses["mlm"] == pytest.approx(np.log(config.vocab_size), rel=0.1)


# --- fine-tuning ------------------------------------------------------------------------------------------------------
TOWERS = [*((name, "xlmr") for name in RECIPES["finetuning"]), ("mewsli", "mbert"), ("nq_ccp", "xlmr_large")]
CUT_TOWERS = {"batch": 2, "epochs": None, "steps": 2, "warmup_steps": 1, **TOGETHER}


@EVERY_RECIPE
@pytest.mark.parametrize(
    ("name", "checkpoint", "query_length", "passage_length"),
    [*((*pair, 8, 16) for pair in TOWERS), *((name, "mbert", 24, 512) for name in ("nq_shi", "wiki"))],
)
def test_fine_tuning_of_towers(name, checkpoint, query_length, passage_length, two_steps):
    from stele.finetuning.finetune import losses

    lengths = {"query_length": query_length, "passage_length": passage_length}
    recipe = parse_finetuning({**real_sizes.jobs().finetuning.recipe(name).given(), **CUT_TOWERS, **lengths}, name)
    words = real_sizes.ARCHITECTURES[checkpoint][1]["vocab_size"]
    data = random_examples(2 * 2 * recipe.accumulation, words, *lengths.values())
    module = random_towers(checkpoint, recipe)
    two_steps(f"{name} of {checkpoint}", module, losses(module, data, recipe, 0, CPU), recipe.optimisation(2))


class RandomTokens:
    """A tokenizer that makes random tokens: passages of 512, queries of 16."""

    def __call__(self, texts=None, *, text_target=None, **_):
        from transformers import BatchEncoding

        rows, length = (len(texts), 512) if text_target is None else (len(text_target), 16)
        ids = torch.randint(5, 250_000, (rows, length), generator=torch.Generator().manual_seed(length))
        return BatchEncoding({"input_ids": ids, "attention_mask": torch.ones_like(ids)})


@EVERY_RECIPE
def test_fine_tuning_of_a_generator(two_steps):
    """610 million parameters: the default of MBartConfig is mBART-large's shape, its vocabulary cc25's."""
    from transformers import MBartConfig, MBartForConditionalGeneration

    from stele.encoders.generator import Generator
    from stele.finetuning.finetune_generator import losses

    torch.manual_seed(0)
    values = {"training_set": "jsonl", "pairs": 4, "batch": 1, "steps": 2, "learning_rate": 3e-5}
    model = MBartForConditionalGeneration(MBartConfig(vocab_size=250_027))
    recipe = validate(GeneratorRecipe, values, "--recipe")
    assert sum(parameter.numel() for parameter in model.parameters()) // 10**6 == 610
    batches = losses(Generator(model, RandomTokens()), [("a query", "a passage")] * 4, recipe, 0, CPU.device)
    first, second = (row["cross_entropy"] for row in two_steps("mBART-large", model, batches, recipe)["rows"])
    assert second < first, "the same tokens are seen twice"


# --- re-ranking and answering -----------------------------------------------------------------------------------------
def random_tokens(length: int):
    """Four texts of random tokens of mBERT's vocabulary."""
    from stele.encoders.tokens import Tokens

    words = real_sizes.ARCHITECTURES["mbert"][1]["vocab_size"]
    ids = np.random.default_rng(0).integers(5, words, 4 * length).astype(np.int32)
    return Tokens(ids, np.arange(5) * length, None)


@EVERY_RECIPE
def test_a_cross_encoder(tmp_path, two_steps):
    from transformers import AutoModel

    from stele.recipes.reranking import parse_recipe
    from stele.reranking.folds.cross_validation import loss_of
    from stele.reranking.scorers.cross_encoder import Model, encoder_layers, reset

    recipe = parse_recipe({**RECIPES["reranking"]["cv5"], **TOGETHER})
    backbone = AutoModel.from_config(real_sizes.config("mbert", 0.1))
    module = Model(random_tokens(recipe.length), 0, recipe, backbone)
    layers = encoder_layers(backbone, tmp_path)
    backbone.requires_grad_(False)
    for layer in layers[-recipe.tuned_layers :]:
        reset(layer, 0.02)
        layer.requires_grad_(True)
    batches = MicroBatches(lambda step: iter([{"pairwise": loss_of(module(np.arange(4)), "pairwise")}]), [0])
    two_steps("cv5 at mBERT's size", module, batches, recipe.optimisation(2))


@EVERY_RECIPE
def test_a_reader(two_steps):
    from transformers import AutoModel

    from stele.answering.reading.reader import Reader, loss_of
    from stele.answering.reading.windows import Labels, Windows

    recipe = AnsweringRecipe(**RECIPES["answering"]["squad2"], **TOGETHER)
    rows, nothing = np.arange(4), np.zeros((4, 2), np.int64)
    windows = Windows(
        [], random_tokens(recipe.length), rows, np.full(4, 20), nothing, nothing.astype(np.int32), nothing
    )
    right = Labels(rows, np.array([30, 0, 40, 0]), np.array([32, 0, 40, 0]), 0, 0)
    reader = Reader(AutoModel.from_config(real_sizes.config("mbert", 0.1)), 0)
    reader.backbone.embeddings.requires_grad_(False)

    def loss(step):
        return iter([{"span": loss_of(reader, windows, right, np.array([2 * step, 2 * step + 1]))}])

    two_steps("squad2 at mBERT's size", reader, MicroBatches(loss, [0]), recipe.optimisation(2))
