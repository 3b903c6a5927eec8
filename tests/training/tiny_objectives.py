"""Small recipes of every objective, a small model, and stores to train it on."""

import numpy as np
import torch
from tiny_sections import random_sections
from transformers import AutoConfig, AutoModelForMaskedLM

from stele.recipes.flops import Shape
from stele.recipes.pretraining import parse_recipe
from stele.training import tasks
from stele.training.callbacks import AfterStep, Snapshots
from stele.training.loop import train
from stele.training.masking import Vocabulary
from stele.training.objectives._msm import hierarchical_scores
from stele.training.processes import ProcessContext
from stele.training.store import Store, write_store

HERE = ProcessContext(torch.device("cpu"))
WORDS = Vocabulary(size=90, cls=0, sep=2, pad=1, mask=4, special=(0, 1, 2, 3, 4))
SMALL = dict(steps=4, groups=5, mlm_share=0.4, mlm_sequences=3, mlm_length=12)
SMALL |= dict(warmup_steps=1, learning_rate=1e-3, dropout=0.0)
SMALL |= dict(sampling_alpha=0.3, mask_probability=0.15, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01, clip_norm=None)
OWN = {
    "msm": dict(documents=3, sentences=4, sentence_length=8, layers=2, mu=0.5, temperature=0.1, projector="asymmetric"),
    "crop": dict(pairs=4, sentence_length=8, temperature=0.1, projector="asymmetric"),
    "ict": dict(pairs=4, query_length=6, block_length=12, width=8),
    "mlm": {},
    "kept": dict(tasks=["crop", "ilk", "clk"], pairs=4, length=8, temperature=0.05, groups=3),
    "moco": dict(pairs=4, length=8, temperature=0.05, groups=2, queue=24, momentum=0.9),
    "ccp": dict(pairs=4, sentence_length=8, window=5, temperature=0.1, l2=True, batch_norm="asymmetric", bank=40),
}
OWN["ccp"] |= dict(languages=["en", "sw"])
OWN["clir"] = dict(tasks=["rr", "qlm"], pairs=4, length=24, groups=1, mlm_share=0.0, mask_probability=0.3)
OWN["clir"] |= dict(sampling_alpha=0.0, steps=12)
for _mixed in ("kept", "moco"):
    OWN[_mixed] |= dict(mixing="all_languages", crop_ratio=(0.1, 0.5), mlm_share=0.0)
SHAPE = Shape(layers=2, width=16, inner=24, vocabulary=90)
SHAPES = {"msm": (4, 6), "crop": (2, 6), "ict": (2, 10), "mlm": (1, 10), "ilk": (2, 10), "clk": (2, 10)}
PARTS = {"clk": ("en-sw", "en-th", "sw-th"), "section": ("en-sw", "en-th", "sw-th")}  # of the others: en, sw


def recipe(objective, **changes):
    return parse_recipe({"objective": objective, **SMALL, **OWN[objective], **changes})


def hierarchical_loss(*vectors, **how):
    scores = hierarchical_scores(*vectors, **how)
    return torch.nn.functional.cross_entropy(scores, torch.arange(len(scores)))


class WithHeads(torch.nn.Module):
    """An objective with its heads as one callable: (model, batch) -> the group's loss."""

    def __init__(self, objective, model):
        super().__init__()
        self.objective, self.heads = objective, objective.heads(model)

    def forward(self, model, batch, processes=None):
        return self.objective.loss(self.heads, model, batch, processes)


def objective_of(settled, task=None):
    return settled.new_objective(task or settled.own_tasks()[0])


def module_of(made, encoder, seed=3):
    return tasks.Pretraining(encoder, {name: task.objective for name, task in made.items()}, seed)


def model(family="xlm-roberta"):
    config = AutoConfig.for_model(
        family,
        **dict(vocab_size=90, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24),
        **dict(max_position_embeddings=40, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, pad_token_id=1),
    )
    torch.manual_seed(2)
    made = AutoModelForMaskedLM.from_config(config, attn_implementation="sdpa")
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return made


def on_cpu(batch):
    return tasks.to_device(batch, HERE.device)


def setup(objective, stores, seed=3, **changes):
    """A recipe, its tasks, and their module with a small BERT before the first step."""
    settled = recipe(objective, **changes)
    made = tasks.new_tasks(settled, stores, WORDS, seed)
    return settled, made, module_of(made, model("bert"), seed)


def fit(objective, folder, stores, on=HERE, at_step=None, seed=3, before=None, **changes):
    """The module of a run and its outcome; `before` may change the module, `at_step` is called after its steps."""
    settled, made, module = setup(objective, stores, seed, **changes)
    if before:
        before(module)
    callbacks = {"heads": AfterStep(module.after_step), "at_step": Snapshots(at_step or {})}
    options = {"state": folder, "seed": seed, "process": on, "callbacks": callbacks}
    options["stop_at_nonfinite"] = made[settled.own_tasks()[0]].objective.MAY_DIVERGE
    return module, train(module, tasks.losses(made, module, settled, on, SHAPE), settled, **options)


def new_stores(folder):
    """method -> part -> store, for every method in en and sw, or in pairs of languages."""
    rng = np.random.default_rng(0)

    def store(method, language):
        place = folder / method / language
        place.mkdir(parents=True)
        segments, longest = SHAPES[method]

        def example():
            count = rng.integers(2, segments + 1) if method == "msm" else segments
            return [rng.integers(5, 90, rng.integers(2, longest + 1)) for _ in range(count)]

        write_store(place, [example() for _ in range(20)])
        return Store(place)

    made = {method: {part: store(method, part) for part in PARTS.get(method, ("en", "sw"))} for method in SHAPES}
    sections = {part: random_sections(folder / "section" / part, n) for n, part in enumerate(PARTS["section"])}
    return made | {"section": sections}
