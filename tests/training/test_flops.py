"""The arithmetic of equal compute against PyTorch's own operation counter."""

import numpy as np
import pytest
from tiny_objectives import OWN, WORDS, objective_of, on_cpu, recipe
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModelForMaskedLM, BertConfig

from stele.encoders.sliding_window import windowed_config
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import SlidingWindow
from stele.training import run_sizes, tasks
from stele.training.sampling import Group, generator
from stele.training.store import Flat, Store, write_store

SIZES = {"ict": dict(pairs=8, block_length=20), "kept": dict(pairs=8, length=20)}  # too much padding for one pass
# examples in a group and their lengths, as long as the recipe allows; then shorter
SHAPES = {"msm": (3, [6] * 4), "crop": (4, [6] * 2), "ict": (8, [4, 18]), "mlm": (3, [10]), "kept": (8, [6, 18])}
SHAPES |= {"moco": (4, [14]), "ccp": (4, [6] * 4)}
SHORT = {"msm": (3, [4, 1, 5, 3]), "crop": (4, [2, 5]), "ict": (8, [2, 11]), "mlm": (3, [7]), "kept": (8, [2, 11])}
SHORT |= {"moco": (4, [9]), "ccp": (4, [2, 5, 3])}
# more and longer texts, of very different lengths: they go through the encoder in pieces
UNLIKE = {"sentence_length": 50, "query_length": 30, "block_length": 60, "length": 60, "pairs": 120, "documents": 30}
UNLIKE |= {"queue": 240, "bank": 360}


def model(window=None):
    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(**sizes, vocab_size=WORDS.size, max_position_embeddings=128)
    if window:
        config = windowed_config(config, SlidingWindow(window=window, positions=128, global_separators=2))
    return AutoModelForMaskedLM.from_config(config)


def check_operations(objective, encoder, batch):
    heads, expected = objective.heads(encoder), objective.flops(batch, Shape.of(encoder.config))
    with FlopCounterMode(display=False) as counter:
        objective.loss(heads, encoder, on_cpu(batch)).backward()
    assert counter.get_total_flops() == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("shapes", [SHAPES, SHORT, None], ids=["full", "shorter than the recipe allows", "unlike"])
@pytest.mark.parametrize("name", list(SHAPES))
def test_equals_what_pytorch_counts(name, shapes):
    changes = SIZES.get(name, {}) if shapes else {key: UNLIKE[key] for key in OWN[name].keys() & UNLIKE.keys()}
    objective, rng = objective_of(recipe(name, **changes)), np.random.default_rng(0)
    examples, lengths = (shapes or SHAPES)[name]
    examples = changes.get("pairs", changes.get("documents", examples))
    lengths = lengths * examples if shapes else rng.integers(1, 60, examples * len(lengths))
    flat = Flat(rng.integers(5, 90, sum(lengths)), np.array(lengths), np.full(examples, len(lengths) // examples))
    group = Group(0, [("en", np.arange(examples))])
    check_operations(objective, model(), objective.batch(flat, WORDS, group, generator(1)))


@pytest.mark.parametrize("window", [None, 8, 32])
@pytest.mark.parametrize("task", ["rr", "qlm"])
def test_pairs_in_one_sequence_cost_what_pytorch_counts(task, window):
    objective, rng, texts = objective_of(recipe("clir", length=120), task), np.random.default_rng(0), []
    for number, length in ((4, 12), (8 if task == "rr" else 4, 100)):
        texts.append(Flat(rng.integers(5, 90, number * length), np.full(number, length), np.ones(number, int)))
    taken = (*texts, 0) if task == "rr" else tuple(texts)
    check_operations(objective, model(window), objective.batch(taken, WORDS, Group(0, []), generator(1)))


def test_recomputed_chunks_cost_one_pass_more():
    assert [passes(n, chunk) for n, chunk in ((8, None), (8, 8), (9, 8))] == [3, 3, 4]


@pytest.fixture
def stores(tmp_path):
    """MSM's documents, much shorter than the recipe allows, and stretches for MLM, hardly so."""
    rng, actual = np.random.default_rng(0), {}
    for method in ("msm", "mlm"):
        (tmp_path / method).mkdir()

        def example(method=method):
            lengths = rng.integers(1, 4, rng.integers(2, 4)) if method == "msm" else rng.integers(9, 11, 1)
            return [rng.integers(5, 90, n) for n in lengths]

        write_store(tmp_path / method, [example() for _ in range(60)])
        actual[method] = {"en": Store(tmp_path / method)}
    return actual


def test_equal_compute_by_the_lengths_of_the_batches(stores):
    shape = Shape.of(model().config)
    msm = recipe("msm", steps=20, warmup_steps=2, groups=3, mlm_share=0.25)
    mlm = recipe("mlm", steps=None, warmup_steps=0, mlm_share=0.0, equal_compute_to=msm.given(), snapshots=[10])

    def tasks_of(settled):
        return tasks.new_tasks(settled, stores, WORDS, 0)

    def spent(settled):
        made, total = tasks_of(settled), 0.0
        for j in range(settled.steps * settled.groups):
            name, n = tasks.scheduled(j, settled)
            total += made[name].objective.flops(made[name].batch(n), shape)
        return total

    settled, wanted = run_sizes.with_steps(mlm, tasks_of, shape)
    assert settled.warmup_steps == round(settled.steps / 10)
    assert settled.snapshots == [round(settled.steps / 2)], "half-way, as the other's step 10 is"
    assert wanted == pytest.approx(spent(msm), rel=0.02)
    assert spent(settled) == pytest.approx(wanted, rel=0.02 + 0.5 / settled.steps)
    documents, full = tasks_of(msm)["msm"], {"ids": np.zeros((12, 8)), "counts": (4,) * 3}
    assert documents.objective.flops(documents.batch(0), shape) < 0.6 * documents.objective.flops(full, shape)


def test_a_recipe_with_steps_comes_back_as_it_is():
    settled = recipe("mlm")
    assert run_sizes.with_steps(settled, lambda _: pytest.fail("no need"), None) == (settled, None)


def test_the_papers_sizes_by_hand():
    """XLM-R base: a full contrastive group is 32,768 tokens; twelve layers of 2 x 7.08 million operations a token, and
    the attention of 64 tokens on top. An MLM batch has as many tokens and the vocabulary besides."""
    shape = Shape(layers=12, width=768, inner=3072, vocabulary=250_002)
    layer = 8 * 768**2 + 4 * 768 * 3072 + 4 * 64 * 768
    whole = 12 * layer * 32_768
    first_only = encode(512, 64, shape, first_only=True)
    assert encode(512, 64, shape, first_only=False) == whole
    assert 0.92 < first_only / whole < 0.95
    mlm = objective_of(recipe("mlm")).flops({"ids": np.zeros((128, 256)), "places": np.zeros(4_915)}, shape)
    head = 3 * 4_915 * 2 * 768 * (768 + 250_002)
    assert mlm == pytest.approx(3 * (whole + 12 * 4 * (256 - 64) * 768 * 32_768) + head)
