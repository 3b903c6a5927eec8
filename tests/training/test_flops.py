"""The arithmetic of equal compute against PyTorch's own operation counter."""

import numpy as np
import pytest
from tiny_objectives import objective_of, on_cpu
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForMaskedLM, BertConfig, XLMRobertaConfig, XLMRobertaForMaskedLM

from stele.encoders.sliding_window import windowed_config
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import SlidingWindow, parse_recipe
from stele.training import run_sizes, tasks
from stele.training.masking import Vocabulary
from stele.training.objectives import clir
from stele.training.sampling import Group, generator
from stele.training.store import Flat, Store, write_store

SIZES = dict(steps=10, groups=2, mlm_sequences=6, mlm_length=16, mask_probability=0.15, warmup_steps=1, dropout=0.1)
SIZES |= dict(sampling_alpha=0.3, learning_rate=1e-3, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01, clip_norm=None)
OWN = {
    "msm": dict(
        documents=4, sentences=5, sentence_length=12, layers=2, mu=0.5, temperature=0.1, projector="asymmetric"
    ),
    "crop": dict(pairs=10, sentence_length=12, temperature=0.1, projector="asymmetric"),
    "ict": dict(pairs=8, query_length=8, block_length=20, width=16),
    "mlm": dict(),
    "kept": dict(tasks=["ilk"], pairs=8, length=20, temperature=0.05, crop_ratio=(0.1, 0.5), groups=1),
    "moco": dict(pairs=8, length=20, temperature=0.05, crop_ratio=(0.5, 0.5), queue=40, momentum=0.9),
    "ccp": dict(pairs=10, sentence_length=12, window=3, temperature=0.1, l2=True, batch_norm="asymmetric", bank=60),
}
OWN["ccp"] |= dict(languages=["en"])
SHAPES = {"msm": (4, [10] * 5), "crop": (10, [10] * 2), "ict": (8, [6, 18]), "mlm": (6, [14])}
SHAPES |= {"kept": (8, [6, 18]), "moco": (8, [36]), "ccp": (10, [10] * 4)}
SHORT = {"msm": (4, [6, 3, 7, 5]), "crop": (10, [4, 9]), "ict": (8, [2, 11]), "mlm": (6, [9])}
SHORT |= {"kept": (8, [2, 11]), "moco": (8, [9]), "ccp": (10, [4, 9, 3])}
WORDS = Vocabulary(300, 0, 2, 1, 4, (0, 1, 2, 3, 4))
MODEL = dict(vocab_size=300, hidden_size=32, num_hidden_layers=3, num_attention_heads=2, intermediate_size=64)


def small_model():
    return XLMRobertaForMaskedLM(XLMRobertaConfig(**MODEL, max_position_embeddings=64))


# more and longer texts, of very different lengths: they go through the encoder in pieces
UNLIKE = {"sentence_length": 50, "query_length": 30, "block_length": 60, "length": 60, "pairs": 120, "documents": 30}
UNLIKE |= {"queue": 240, "bank": 240}


@pytest.mark.parametrize("shapes", [SHAPES, SHORT, None], ids=["full", "shorter than the recipe allows", "unlike"])
@pytest.mark.parametrize("objective", list(OWN))
def test_equals_what_pytorch_counts(objective, shapes):
    changes = {} if shapes else {key: UNLIKE[key] for key in OWN[objective].keys() & UNLIKE.keys()}
    recipe = parse_recipe({"objective": objective, **SIZES, **OWN[objective], **changes})
    model, chosen, rng = small_model(), objective_of(recipe), np.random.default_rng(0)
    heads = chosen.heads(model)
    examples, lengths = (shapes or SHAPES)[objective]
    examples = examples if shapes else changes.get("pairs") or changes.get("documents") or examples
    lengths = lengths * examples if shapes else rng.integers(1, 60, examples * len(lengths))
    tokens = rng.integers(5, 300, sum(lengths))
    flat = Flat(tokens, np.array(lengths), np.full(examples, len(lengths) // examples))
    made = chosen.batch(flat, WORDS, Group(0, [("en", np.arange(examples))]), generator(1))
    expected = chosen.flops(made, Shape.of(model.config))
    with FlopCounterMode(display=False) as counter:
        chosen.loss(heads, model, on_cpu(made)).backward()
    assert counter.get_total_flops() == pytest.approx(expected, rel=0.06)


def test_recomputed_chunks_cost_one_pass_more():
    assert [passes(n, chunk) for n, chunk in ((8, None), (8, 8), (9, 8))] == [3, 3, 4]


@pytest.fixture
def stores(tmp_path):
    """MSM's documents, much shorter than the recipe allows, and stretches for MLM, hardly so."""
    rng, actual = np.random.default_rng(0), {}
    for method in ("msm", "mlm"):
        (tmp_path / method).mkdir()

        def example(method=method):
            lengths = rng.integers(1, 6, rng.integers(2, 5)) if method == "msm" else rng.integers(13, 15, 1)
            return [rng.integers(5, 300, n) for n in lengths]

        write_store(tmp_path / method, [example() for _ in range(60)])
        actual[method] = {"en": Store(tmp_path / method)}
    return actual


def test_equal_compute_by_the_lengths_of_the_batches(stores):
    """The operations of the groups that both runs train on, added up, are the same to half a step."""
    shape = Shape.of(small_model().config)
    msm = {"objective": "msm", **SIZES, **OWN["msm"], "steps": 20, "warmup_steps": 2, "groups": 3, "mlm_share": 0.25}
    mlm_recipe = {"objective": "mlm", **SIZES, "steps": None, "warmup_steps": 0, "equal_compute_to": msm}
    mlm_recipe["snapshots"] = [10]

    def tasks_of(recipe):
        return tasks.new_tasks(recipe, stores, WORDS, 0)

    def spent(recipe):
        made, total = tasks_of(recipe), 0.0
        for j in range(recipe.steps * recipe.groups):
            second, n = tasks.kind_of(j, recipe.mlm_share) if len(made) > 1 else (False, j)
            task = made["mlm" if second else recipe.objective]
            total += task.objective.flops(task.batch(n), shape)
        return total

    settled, wanted = run_sizes.with_steps(parse_recipe(mlm_recipe), tasks_of, shape)
    assert settled.warmup_steps == round(settled.steps / 10)
    assert settled.snapshots == [round(settled.steps / 2)], "half-way, as the other's step 10 is"
    assert wanted == pytest.approx(spent(parse_recipe(msm)), rel=0.02)
    assert spent(settled) == pytest.approx(wanted, rel=0.02 + 0.5 / settled.steps)
    documents, full = tasks_of(parse_recipe(msm))["msm"], {"ids": np.zeros((20, 12)), "counts": (5,) * 4}
    as_if_full = documents.objective.flops(full, shape)
    assert documents.objective.flops(documents.batch(0), shape) < 0.6 * as_if_full


def test_a_recipe_with_steps_comes_back_as_it_is(stores):
    recipe = parse_recipe({"objective": "mlm", **SIZES})
    assert run_sizes.with_steps(recipe, lambda _: pytest.fail("no need"), None) == (recipe, None)


def test_the_papers_sizes_by_hand():
    """XLM-R base: a full contrastive group is 32,768 tokens; twelve layers of 2 x 7.08 million operations a token, and
    the attention of 64 tokens on top. An MLM batch has as many tokens and the vocabulary besides."""
    shape = Shape(layers=12, width=768, inner=3072, vocabulary=250_002)
    layer = 8 * 768**2 + 4 * 768 * 3072 + 4 * 64 * 768
    whole = 12 * layer * 32_768
    first_only = encode(512, 64, shape, first_only=True)
    assert encode(512, 64, shape, first_only=False) == whole
    assert 0.92 < first_only / whole < 0.95
    recipe = parse_recipe({"objective": "mlm", **SIZES})
    batch = {"ids": np.zeros((128, 256)), "places": np.zeros(4_915)}
    mlm = objective_of(recipe).flops(batch, shape)
    head = 3 * 4_915 * 2 * 768 * (768 + 250_002)
    assert mlm == pytest.approx(3 * (whole + 12 * 4 * (256 - 64) * 768 * 32_768) + head)


# --- pairs in one sequence, through full attention and through windows ------------------------------------------------
def pair_model(window):
    config = BertConfig(**MODEL, max_position_embeddings=128)
    if window:
        config = windowed_config(config, SlidingWindow(window=window, positions=128, global_separators=2))
    return AutoModelForMaskedLM.from_config(config)


@pytest.mark.parametrize("window", [None, 8, 32])
@pytest.mark.parametrize("task", ["rr", "qlm"])
def test_pairs_in_one_sequence_cost_what_pytorch_counts(task, window):
    recipe = parse_recipe(
        {**{name: value for name, value in SIZES.items() if not name.startswith("mlm") and name != "sampling_alpha"}}
        | dict(objective="clir", tasks=["rr", "qlm"], pairs=4, length=120, groups=1)
    )
    model, chosen, rng = pair_model(window), objective_of(recipe, task), np.random.default_rng(0)
    texts = []
    for number, length in ((4, 12), (8 if task == "rr" else 4, 100)):
        tokens = rng.integers(5, 300, number * length)
        texts.append(Flat(tokens, np.full(number, length), np.ones(number, int)))
    taken = clir.Texts(*texts, 0) if task == "rr" else tuple(texts)
    made = chosen.batch(taken, WORDS, Group(0, []), generator(1))
    heads = chosen.heads(model)
    expected = chosen.flops(made, Shape.of(model.config))
    with FlopCounterMode(display=False) as counter:
        chosen.loss(heads, model, on_cpu(made)).backward()
    assert counter.get_total_flops() == pytest.approx(expected, rel=0.06)
