"""The catalogue's pretraining recipes: valid for every model at every scale; at the paper's scale, the papers' values.

The values are written out here once more, from the papers and the authors' code, so that a slip in recipes.yaml shows.
MSM: Zhang et al., section 4.2 and tables 4 to 8, and run_msm.sh of the released code. ICT: Lee et al. 2019 and
google-research/language, orqa (BERT's optimizer). KEPT: sections 3.3, 3.4, 4.3 and 4.5, tables 7 and 9; what it leaves
open and mContriever's objective: contriever's mcontriever.sh, src/data.py and src/moco.py.
"""

import pytest

from stele import catalogue

TRAINED = sorted(key for key, model in catalogue.load("models").items() if "recipe" in model)
OF_MSM = sorted(key for key in TRAINED if catalogue.load("models")[key]["recipe"] == "msm")


@pytest.mark.parametrize("scale", catalogue.scale_names())
@pytest.mark.parametrize("model", TRAINED)
def test_every_model_s_recipe_is_valid(jobs, scale, model):
    recipe_read = jobs(scale=scale).pretraining.recipe(model)
    settled = recipe_read.to_equal() or recipe_read
    assert settled.steps >= 1 and settled.warmup_steps <= settled.steps


# what MSM, CROP and MLM at equal compute have in common
RUN = {
    **{"sampling_alpha": 0.3, "mixing": "one_language", "groups": 16, "mlm_sequences": 128, "mlm_length": 256},
    **{"mask_probability": 0.15, "dropout": 0.1, "learning_rate": 4e-5, "schedule": "linear", "betas": (0.9, 0.98)},
    **{"eps": 1e-6, "weight_decay": 0.01, "decay_all": True, "clip_norm": None, "precision": "bfloat16"},
    **{"threads": 8, "encode_chunk": None, "snapshots": []},
}
MSM = RUN | {
    **{"objective": "msm", "steps": 200_000, "warmup_steps": 10_000, "mlm_share": 0.2857142857, "documents": 16},
    **{"sentences": 32, "sentence_length": 64, "layers": 2, "mu": 0.5, "temperature": 0.1, "intra_negatives": True},
    **{"projector": "asymmetric", "document_encoder": "shared", "heads": "shared", "mask_duplicates": False},
}
FROM_CONTRIEVER = {
    **{"mixing": "all_languages", "temperature": 0.05, "crop_ratio": (0.1, 0.5), "mlm_share": 0.0, "dropout": 0.1},
    **{"steps": 300_000, "learning_rate": 2e-5, "warmup_steps": 12_000, "schedule": "linear", "betas": (0.9, 0.98)},
    **{"eps": 1e-6, "weight_decay": 0.01, "decay_all": True, "clip_norm": None, "precision": "bfloat16"},
    **{"threads": 8, "encode_chunk": None, "snapshots": []},
}
KEPT = FROM_CONTRIEVER | {
    **{"objective": "kept", "tasks": ["crop", "ilk", "clk"], "sampling_alpha": 0.3, "groups": 3, "pairs": 512},
    **{"length": 128, "mask_duplicates": True, "encode_chunk": 64},
}
PAPER = {
    "msm": MSM,
    "msm_en": MSM,
    "msm_large": MSM | {"documents": 8, "mlm_sequences": 64, "groups": 32},
    "msm_sep_doc": MSM | {"document_encoder": "separate_english"},
    "msm_sep_doc_head": MSM | {"document_encoder": "separate_english", "heads": "separate_english"},
    "msm_cross_doc": MSM | {"intra_negatives": False},
    "msm_no_bias": MSM | {"mu": 0.0},
    "msm_mu_0.3": MSM | {"mu": 0.3},
    "msm_mu_0.7": MSM | {"mu": 0.7},
    "msm_neg_256": MSM | {"documents": 8, "mlm_sequences": 64, "groups": 32},
    "msm_neg_1024": MSM | {"documents": 32, "mlm_sequences": 256, "groups": 8, "encode_chunk": 128},
    "msm_neg_4096": MSM | {"documents": 128, "mlm_sequences": 1024, "groups": 2, "encode_chunk": 128},
    "msm_no_pl": MSM | {"projector": "none"},
    "msm_shared_pl": MSM | {"projector": "shared"},
    "msm_layers_1": MSM | {"layers": 1},
    "msm_layers_4": MSM | {"layers": 4},
    "msm_layers_6": MSM | {"layers": 6},
    "crop": RUN
    | {
        **{"objective": "crop", "steps": 200_000, "warmup_steps": 10_000, "mlm_share": 0.2857142857, "pairs": 512},
        **{"sentence_length": 64, "temperature": 0.1, "projector": "asymmetric", "mask_duplicates": True},
    },
    "ict": {
        **{"objective": "ict", "sampling_alpha": 0.3, "mixing": "one_language", "steps": 100_000, "groups": 1},
        **{"pairs": 4096, "query_length": 64, "block_length": 288, "width": 128, "temperature": 1.0},
        **{"mask_duplicates": True, "mlm_share": 0.0, "dropout": 0.1, "learning_rate": 1e-4, "warmup_steps": 10_000},
        **{"schedule": "linear", "betas": (0.9, 0.999), "eps": 1e-6, "weight_decay": 0.01, "decay_all": False},
        **{"clip_norm": 1.0, "precision": "bfloat16", "threads": 8, "encode_chunk": 256, "snapshots": []},
    },
    "mlm_equal_compute": RUN | {"objective": "mlm", "steps": None},
    "kept": KEPT,
    "kept_no_crop": KEPT | {"tasks": ["ilk", "clk"], "groups": 2},
    "kept_no_ilk": KEPT | {"tasks": ["crop", "clk"], "groups": 2},
    "kept_no_clk": KEPT | {"tasks": ["crop", "ilk"], "groups": 2},
    "kept_uhs_ilk": KEPT | {"tasks": ["crop", "uhs_ilk", "clk"]},
    "kept_ds_clk": KEPT | {"tasks": ["crop", "ilk", "ds_clk"]},
    "kept_clhed": KEPT | {"tasks": ["crop", "ilk", "clk", "clhed"], "groups": 4},
    "crop_equal_compute": KEPT | {"tasks": ["crop"], "groups": 1, "steps": None},
    "mcontriever_continued": FROM_CONTRIEVER
    | {
        **{"objective": "moco", "sampling_alpha": 0.0, "groups": 8, "pairs": 256, "length": 130, "queue": 32_768},
        **{"momentum": 0.999},
    },
}
# Wu et al. 2022, section 4 and Table 6; docs/ccp.md says where each other value is from
CCP = {name: RUN[name] for name in RUN.keys() - {"groups", "mlm_sequences", "learning_rate"}} | {
    **{"objective": "ccp", "pairs": 32, "step_pairs": 2048, "groups": 64, "mlm_sequences": 32, "mlm_share": 0.5},
    **{"sentence_length": 64, "window": 5, "window_counts": "sentences", "temperature": 0.1, "l2": True},
    **{"candidates": "other_side", "batch_norm": "asymmetric", "statistics": "all", "output_norm": False},
    **{"bank": 32_768, "bank_per": "all", "bank_languages": "own", "bank_sides": "context"},
    **{"learning_rate": 3e-5, "steps": 200_000, "warmup_steps": 10_000},
}
EN_FR = CCP | {"pairs": 64, "groups": 32, "mlm_sequences": 64, "steps": 20_000, "warmup_steps": 1000}
TABLE_5 = {  # MB / L2 norm / ABN
    "_no_l2_no_abn": {"l2": False, "batch_norm": "none"},
    "_no_abn": {"batch_norm": "none"},
    "_no_l2": {"l2": False},
    "": {},
    "_no_bank": {"bank": 0},
    "_plain_bn": {"batch_norm": "plain"},
}
PAPER |= {"ccp": CCP, "ccp_shared_bank": CCP | {"bank_languages": "shared"}}
PAPER |= {
    f"ccp_en_fr{name}{column}": EN_FR | row | temperature
    for name, row in TABLE_5.items()
    for column, temperature in {
        "": {},
        **{f"_tau_{value}": {"temperature": value} for value in (0.001, 0.01, 1.0)},
    }.items()
}
PAPER |= {
    f"ccp_en_fr{name}{column}": EN_FR | {"window": window} | batch
    for name, window in (("_window_2", 2), ("_window_3", 3), ("", 5))
    for column, batch in {
        "": {},
        **{f"_batch_{n}": {"pairs": n, "groups": 2048 // n, "mlm_sequences": n} for n in (8, 16, 32)},
    }.items()
}
PAPER["mlm_ccp_compute"] = PAPER["mlm_equal_compute"]
PAPER["crop_ccp_compute"] = {name: value for name, value in PAPER["crop"].items() if name != "steps"}
# Yu et al. 2021, sections 4.2 and 4.3; "code" in recipes.yaml: PxYu/Pretraining-CLIR
CLIR = {
    **{"objective": "clir", "mixing": "rounds", "sampling_alpha": 0.0, "groups": 1, "pairs": 32, "length": 512},
    **{"tasks": ["rr", "qlm"], "mask": "query", "mask_probability": 0.3, "ranking": "pairwise", "dropout": 0.1},
    **{"steps": 240_000, "snapshots": [60_000, 120_000, 180_000], "learning_rate": 1e-5, "warmup_steps": 0},
    **{"schedule": "constant", "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0, "decay_all": True},
    **{"clip_norm": 5.0, "precision": "bfloat16", "threads": 8},
}
ONE = CLIR | {"tasks": ["qlm"], "steps": 120_000, "snapshots": [30_000, 60_000, 90_000]}
GSW = RUN | {
    **{"objective": "mlm", "sampling_alpha": 1.0, "groups": 1, "mlm_sequences": 32, "mlm_length": 1024},
    **{"learning_rate": 3e-5, "steps": 2000, "warmup_steps": 500, "schedule": "constant", "betas": (0.9, 0.999)},
    **{"clip_norm": 5.0, "encode_chunk": 8},
}
PAPER |= {
    "mbert_qlm_rr": CLIR,
    "mbert_gsw_qlm_rr": CLIR | {"length": 1024, "encode_chunk": 8},
    "mbert_qlm": ONE,
    "mbert_rr": ONE | {"tasks": ["rr"]},
    "mbert_qlm_p_0.15": ONE | {"mask_probability": 0.15},
    "mbert_qlm_p_0.45": ONE | {"mask_probability": 0.45},
    "mbert_qlm_document": ONE | {"mask": "document"},
    "mbert_qlm_both": ONE | {"mask": "both"},
    "mlm_clir_compute": CLIR
    | {"objective": "mlm", "mixing": "one_language", "mlm_sequences": 32, "mlm_length": 512, "mask_probability": 0.15}
    | {"steps": None, "snapshots": []},
}
for _window in (32, 64, 128, 256):
    _windows = {"sliding_window": {"window": _window, "positions": 1024, "global_separators": 2}}
    PAPER["mbert_gsw" if _window == 64 else f"mbert_gsw_w{_window}"] = GSW | _windows
    PAPER[f"mbert_gsw_qlm_rr_en_fr_w{_window}"] = CLIR | {
        **{"length": 1024, "encode_chunk": 8, "steps": 40_000, "snapshots": []}
    }
for _name in ("pairs", "length", "tasks", "mask", "ranking"):
    PAPER["mlm_clir_compute"].pop(_name)
SAID_ELSEWHERE = {"languages", "power", "save_every_seconds", "equal_compute_to", "mlm_share", "warmup_steps"}


@pytest.mark.parametrize("model", TRAINED)
def test_the_values_are_the_papers(jobs, model):
    recipe_read = jobs(scale="paper").pretraining.recipe(model).model_dump()
    assert {name: recipe_read[name] for name in PAPER[model]} == PAPER[model]
    used = {name for name, value in recipe_read.items() if value is not None}
    assert used - set(PAPER[model]) <= SAID_ELSEWHERE, "a key without its value here"
    assert len(recipe_read["languages"]) == languages_of(model, recipe_read["objective"])


def languages_of(model, objective):
    if model == "msm_en" or (model.startswith("mbert_gsw") and objective == "mlm"):
        return 1
    if "_en_fr" in model:
        return 2
    return 28 if objective in ("kept", "moco") else 4 if objective == "clir" or model == "mlm_clir_compute" else 108
