"""Recipes: the catalogue's are the papers', and errors name the key."""

import pytest

from stele import catalogue
from stele.errors import SteleError
from stele.recipes.finetuning import FinetuningRecipe, parse_finetuning

# The papers' values once more, so that a slip in recipes.yaml shows. DPR's: MSM, A.1; CCP, section 4.3; the scripts of
# MSM's authors (mDPR/scripts: 8 GPUs, batch_size is a GPU's) and the defaults of mDPR/dpr/options.py.
DPR = {
    **{"towers": "separate", "pooling": "cls", "normalize": False, "query_length": 256, "passage_length": 256},
    **{"passage_format": "title_text_pair", "segments": False, "strip_question_mark": True, "dropout": 0.1},
    **{"batch": 128, "accumulation": 1, "hard_negatives": 1, "negatives": "given", "hard_negative_ratio": 1.0},
    **{"temperature": 1.0, "scale": None, "epochs": 40.0, "steps": None, "learning_rate": 2e-5, "warmup_steps": 1237},
    **{"schedule": "linear", "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0, "clip_norm": 2.0},
    **{"precision": "bfloat16", "threads": 8, "selection": "average_rank_from_epoch_30", "evaluate_every": None},
    **{"dev_batch": 512, "dev_negatives": 60, "dev_limit": 15_000},
}
# CCP, section 4.3; run-ccp.sh has fewer dev questions on a GPU than mDPR
CCP = DPR | {"batch": 48, "dev_batch": 256, "epochs": 20.0, "learning_rate": 1e-5, "selection": "dev_nll"}
# XTREME-R's: MSM, A.1; train_mewslix.sh and train_lareqa.sh, third_party/bert.py BertForRetrieval
XTREME = DPR | {
    **{"towers": "shared", "pooling": "pooler", "normalize": True, "strip_question_mark": False, "accumulation": 4},
    **{"hard_negatives": 0, "scale": 100.0, "warmup_steps": 0, "clip_norm": 1.0},
}
PAPER = {
    "marco": DPR | {"batch": 64, "epochs": 3.0, "selection": "last"},
    "nq": DPR | {"pooling": "mean"},
    "nq_ccp": CCP,
    "xor_ccp": CCP,
    "mrtydi": DPR | {"learning_rate": 1e-5},
    "xor": DPR | {"pooling": "mean"},
    "mewsli": XTREME
    | {
        **{"passage_format": "text", "query_length": 64, "passage_length": 64, "batch": 16, "epochs": 2.0},
        **{"selection": "last"},
    },
    "squad": XTREME
    | {
        **{"query_length": 96, "passage_length": 256, "batch": 4, "epochs": 3.0, "selection": "dev_nll"},
        **{"evaluate_every": 1000, "dev_batch": 8},
    },
}
# KEPT, sections 3.1 and 4.3; what Izacard et al. (2022), A.2 and B.2, say of MS MARCO
KEPT = DPR | {
    **{"towers": "shared", "pooling": "mean", "temperature": 0.05, "batch": 1024, "hard_negatives": 0},
    **{"epochs": None, "steps": 20_000, "learning_rate": 1e-5, "warmup_steps": 1000, "selection": "last"},
}
PAPER |= {
    "marco_kept_random": KEPT,
    "marco_kept": KEPT | {"hard_negatives": 1, "negatives": "mined", "hard_negative_ratio": 0.1},
    "miracl": PAPER["mrtydi"],
    "mrtydi_kept": PAPER["mrtydi"] | {"towers": "shared", "pooling": "mean", "temperature": 0.05, "negatives": "mined"},
    "xor_kept": PAPER["xor"] | {"learning_rate": 1e-5},
    "mewsli_mean": PAPER["mewsli"] | {"pooling": "mean"},
}
# Shi et al., section 3: two towers, CLS, the inner product, as DPR, whose is what is not stated. Section 5: 512 tokens
PAPER |= {
    "nq_shi": DPR | {"passage_length": 512},
    "marco_shi": PAPER["marco"] | {"passage_length": 512},
}
# Section 4.2: on from MARCO; the numbers are ours
PAPER["wiki"] = PAPER["marco_shi"] | {"learning_rate": 1e-5, "warmup_steps": 234}
PAPER["qgen"] = PAPER["wiki"] | {"hard_negatives": 0}
SETS = {  # what each goes on from, trains on and chooses by
    "marco": (None, "marco", None),
    "nq": (None, "nq", "nq"),
    "nq_ccp": (None, "nq", "nq"),
    "xor_ccp": ("nq_ccp", "xor_retrieve", "xor_retrieve"),
    "mrtydi": ("marco", "mrtydi", "nq"),
    "miracl": ("marco", "miracl", "nq"),
    "xor": ("nq", "xor_retrieve", "xor_retrieve"),
    "mewsli": (None, "mewsli_x", None),
    "mewsli_mean": (None, "mewsli_x", None),
    "squad": (None, "squad", "squad"),
    "marco_kept_random": (None, "marco", None),
    "marco_kept": (None, "marco", None),
    "mrtydi_kept": ("marco_kept", "mrtydi", "nq"),
    "xor_kept": ("nq", "xor_retrieve", "xor_retrieve"),
    "nq_shi": (None, "nq", "nq"),
    "marco_shi": (None, "marco", None),
    "wiki": ("marco_shi", "wiki", None),
    "qgen": ("marco_shi", "qgen", None),
}
MINERS = {"marco_kept": "marco_kept_random", "mrtydi_kept": "marco_kept"}


def test_every_recipe_of_the_papers_is_here(jobs):
    """A recipe that no row of the papers uses, such as the example in docs/adding, may have other values."""
    plan = jobs(scale="paper")
    named = {str(plan.protocols.recipe(row)).partition("-")[0] for row in plan.requested.all_rows}
    recipes = named & set(catalogue.load("recipes")["finetuning"])
    assert len(recipes) > 8 and recipes <= set(PAPER) == set(SETS)


@pytest.mark.parametrize("name", list(PAPER))
def test_the_values_are_the_papers(jobs, name):
    whole = jobs(scale="paper").finetuning.recipe(name)
    found = whole.model_dump()
    assert {key: found[key] for key in PAPER[name]} == PAPER[name]
    changed = {key for key, value in found.items() if value != FinetuningRecipe.model_fields[key].default}
    assert changed - set(PAPER[name]) <= {"training_set", "dev_set", "encode_chunk", "save_every_seconds"}
    dev_set = whole.dev_set and whole.dev_set.entry
    assert (whole.start, whole.training_set.entry, dev_set) == SETS[name]
    assert whole.miner == MINERS.get(name)
    assert (found["negatives"] == "mined") == (name in MINERS)


def test_the_smaller_scales_keep_what_a_recipe_is_about(jobs):
    for scale in ("miniature", "small"):
        found = {name: jobs(scale=scale).finetuning.recipe(name) for name in PAPER}
        assert found["marco_kept"].hard_negative_ratio == 0.1 and found["marco_kept_random"].hard_negatives == 0
        assert {found[name].temperature for name in ("marco_kept_random", "marco_kept", "mrtydi_kept")} == {0.05}
        assert found["xor_kept"].learning_rate == found["xor"].learning_rate / 2
        data = {"training_set", "dev_set"}
        same = found["nq_ccp"].model_dump(exclude=data)
        assert found["xor_ccp"].model_dump(exclude=data) == same, "the same hyperparameters"


SHORT = {"training_set": "nq", "towers": "shared", "pooling": "mean", "query_length": 9, "passage_length": 9}
SHORT |= {"batch": 4, "hard_negatives": 1, "learning_rate": 1e-3, "warmup_steps": 0, "epochs": 3}


def test_steps_of_an_epoch_are_whole_groups():
    recipe = parse_finetuning({**SHORT, "accumulation": 4})
    assert recipe.steps_per_epoch(87_599) == 87_599 // 4 // 4
    assert recipe.total_steps(87_599) == 3 * (87_599 // 4 // 4)
    assert parse_finetuning({**SHORT, "batch": 128, "epochs": 0.5}).total_steps(1_280) == 5
    assert parse_finetuning({**SHORT, "epochs": 2.3}).total_steps(400) == 230  # 229.99999999999997 in floats
    with pytest.raises(SteleError, match="15 usable examples, but one optimiser step takes 4 x 4"):
        recipe.steps_per_epoch(15)


@pytest.mark.parametrize("key", sorted({*SHORT} - {"epochs"}))
def test_the_keys_that_a_finetuning_recipe_must_have(key):
    with pytest.raises(SteleError, match=f"{key}: Field required"):
        parse_finetuning({name: value for name, value in SHORT.items() if name != key})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learningrate": 1}, r"unknown key 'learningrate'; did you mean 'learning_rate'"),
        ({"steps": 5}, "epochs, steps: want exactly one"),
        ({"epochs": None}, "epochs, steps: want exactly one"),
        ({"selection": "best"}, "want last, dev_nll or average_rank_from_epoch_N, found 'best'"),
        ({"selection": "dev_nll", "dev_set": None}, "needs `dev_set`"),
        ({"batch": 1, "hard_negatives": 0}, "one query alone has no negative"),
        ({"batch": 0}, "batch: "),
        ({"hard_negatives": 0, "negatives": "mined"}, "hard_negatives: found 0"),
        ({"hard_negatives": 0, "hard_negative_ratio": 0.5}, "hard_negatives: found 0"),
        ({"batch": 1, "hard_negative_ratio": 0.5}, "one query may have no negative"),
        ({"hard_negative_ratio": 0}, "hard_negative_ratio"),
        ({"negatives": "random"}, "negatives"),
        ({"pooling": None}, "pooling"),
    ],
)
def test_wrong_recipes_of_a_finetuning_are_refused(change, message):
    with pytest.raises(SteleError, match=message):
        parse_finetuning({**SHORT, **change})
