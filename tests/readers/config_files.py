"""Configurations, specs, recipes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stele.catalogue import read_yaml
from stele.cluster import settings
from stele.config import model, scale
from stele.config.model import parse_config
from stele.papers import figure, table
from stele.recipes import finetuning, mining, pretraining
from stele.tables.values import context
from tests.readers.files import Reader

CONFIG = b"""scale: miniature
papers: [msm, kept]
languages: [sw, th]
models:
  mine: {label: Mine, base: xlmr, recipe: msm, override: {mu: 0.5, steps: 10}, tables: [msm/2]}
seeds: {pretraining: [0], finetuning: [0, 1]}
mirrors: [/data, "https://example.org"]
user_data: {lareqa: /data/lareqa}
dump_date: 20220801
offline: true
"""
SCALE = b"""title: mine
generated: true
languages: [en, sw]
world: {entities: 60, web_documents: 60, dials: {loan: 0.5}}
pretraining: {msm: {steps: 10}}
"""
TABLE = Path("paper_tables/clir_lm/table_01.yaml")
FIGURE = Path("paper_tables/clir_lm/figure_01.yaml")
MSM = {
    "objective": "msm",
    "steps": 5,
    "documents": 4,
    "sentences": 3,
    "sentence_length": 9,
    "layers": 1,
    "mu": 0.5,
    "temperature": 0.1,
    "projector": "none",
    "sampling_alpha": 0.5,
    "groups": 2,
    "dropout": 0.1,
    "learning_rate": 1e-4,
    "betas": [0.9, 0.99],
    "eps": 1e-6,
    "weight_decay": 0.01,
    "clip_norm": 1.0,
    "languages": ["en"],
}
TUNING = {
    "training_set": "nq",
    "towers": "shared",
    "pooling": "mean",
    "query_length": 32,
    "passage_length": 64,
    "batch": 8,
    "hard_negatives": 1,
    "epochs": 3,
    "learning_rate": 2e-5,
    "warmup_steps": 10,
}


def configuration(path: Path) -> Any:
    values = read_yaml(path)
    return parse_config(values, model.Sources([(str(path), values)]))


def cluster_names(path: Path) -> Any:
    settings._read.cache_clear()
    return settings.read(path)


def argument(parse: Callable[[Any], Any]) -> Callable[[Path], Any]:
    """What a command is given as JSON text; the error names the argument."""
    from stele.files.reading import parse_object

    def read(path: Path) -> Any:
        text = path.read_bytes().decode("utf-8", "replace")
        return parse(parse_object(text, "--recipe"))

    return read


CONFIGURATIONS: dict[str, Reader] = {
    "config.yaml": ("config.yaml", CONFIG, configuration),
    "scale": ("tiny.yaml", SCALE, lambda path: scale.load_scale(str(path))),
    "table": (TABLE.name, TABLE.read_bytes(), table.load_spec),
    "figure": (FIGURE.name, FIGURE.read_bytes(), figure.load_figure),
    "context of tables": (
        "context.json",
        json.dumps({"scale": "miniature", "failed": {"a/b/c": "log"}, "extra_rows": [{"model": "m"}]}).encode(),
        lambda path: context.context_of(path.parent, path),
    ),
    "cluster.yaml": ("cluster.yaml", b"partitions: {cpu: short, gpu: long}\nhours: {cpu: 4}\n", cluster_names),
    "pretraining recipe": ("recipe.json", json.dumps(MSM).encode(), argument(pretraining.parse_recipe)),
    "fine-tuning recipe": ("recipe.json", json.dumps(TUNING).encode(), argument(finetuning.parse_finetuning)),
    "mining recipe": (
        "recipe.json",
        b'{"method": "ict", "block_tokens": 64, "query_tokens": 16, "queries_per_block": 1, "removal": 0.9}',
        argument(mining.parse_recipe),
    ),
}
