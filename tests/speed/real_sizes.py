"""The paper-scale recipes as the plan gives them to their commands, and the real architecture of each checkpoint."""

from functools import cache

from stele.config.model import parse_config
from stele.plan.plan import Plan

BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
TINY = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 256,
    "vocab_size": 3000,
}
ARCHITECTURES = {  # from the configurations of the public checkpoints: family, sizes
    "xlmr": ("xlm-roberta", {**BASE, "vocab_size": 250_002}),
    "xlmr_large": ("xlm-roberta", {**LARGE, "vocab_size": 250_002}),
    "mbert": ("bert", {**BASE, "vocab_size": 119_547}),
    "mcontriever": ("bert", {**BASE, "vocab_size": 119_547}),
    "ernie2": ("ernie", {**BASE, "vocab_size": 30_522}),
    "tiny": ("xlm-roberta", TINY),  # no public one
}
ALL = "STELE_ALL_RECIPES"
REASON = f"set {ALL}=1 to run every recipe (minutes each, up to 12 GB of memory)"


@cache
def jobs() -> Plan:
    return Plan(parse_config({"scale": "paper"}))


def config(checkpoint: str, dropout: float):
    """A `transformers` configuration of the real size."""
    from transformers import AutoConfig

    family, sizes = ARCHITECTURES[checkpoint]
    rates = dict(hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    return AutoConfig.for_model(family, max_position_embeddings=514, **sizes, **rates)
