"""KEPT's fine-tuning as it is planned: who mines for whom, what a row reads, what looks at vectors."""

from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.errors import SteleError

SEEDS = "pt0-ft2"


def wildcards(**values):
    return SimpleNamespace(seeds=SEEDS, **values)


def before(plan, output: str) -> list[str]:
    """All fine-tunings and minings that an output waits for, each after what it needs."""
    found: list[str] = []
    kind, model, recipe, *rest = output.removeprefix("work/paper/").split("/")
    if kind == "finetuned":
        made = plan.finetune_input(wildcards(model=model, recipe=recipe))
        inputs = [made["encoder"], *made["negatives"]]
    elif kind == "hard_negatives":
        made = plan.hard_negatives_input(wildcards(model=model, recipe=recipe, training_set=rest[0]))
        inputs = [made["encoder"]]
    else:
        return []
    for name in inputs:
        found += [one for one in before(plan, name) if one not in found]
    return [*found, output.removeprefix("work/paper/").removesuffix(f"/{SEEDS}/record.json")]


def test_mining_goes_between_the_fine_tunings(jobs):
    plan = jobs(scale="paper")
    assert before(plan, plan.final_encoder("mrtydi", "kept", "multilingual_kept", SEEDS)) == [
        "finetuned/kept/marco_kept_random",
        "hard_negatives/kept/marco_kept_random/marco",
        "finetuned/kept/marco_kept",
        "hard_negatives/kept/marco_kept/mrtydi",
        "finetuned/kept/mrtydi_kept",
    ]
    again = plan.finetune_input(wildcards(model="kept", recipe="marco_kept"))
    assert again["encoder"] == plan.encoder("kept", 0)  # anew, not on from the model that mined
    assert plan.chain("mrtydi_kept") == ["marco_kept_random", "marco_kept", "mrtydi_kept"]
    assert plan.chain("mrtydi") == ["marco", "mrtydi"] and plan.chain("xor_kept") == ["nq", "xor_kept"]


def test_the_command_is_told_of_mined_negatives_and_not_of_who_mines(jobs):
    plan = jobs(scale="paper")
    for name in catalogue.load("recipes")["finetuning"]:
        recipe, w = plan.training_recipe(name), wildcards(model="kept", recipe=name)
        mined = recipe.get("negatives") == "mined"
        assert (
            mined == bool(plan.finetune_input(w)["negatives"]) == plan.negatives_argument(w).startswith("--negatives ")
        )
        assert not {"start", "miner"} & set(recipe)
    assert not {"negatives", "hard_negative_ratio"} & set(plan.training_recipe("mrtydi"))


def test_a_row_needs_the_collections_that_are_mined(jobs):
    plan = jobs(scale="paper")
    found = plan.leaves("mrtydi", "mcontriever", "multilingual_kept")
    assert plan.dataset("msmarco_passage_corpus", "all") in found
    assert {plan.dataset("mrtydi_corpus", code) for code in plan.training_languages("mrtydi")} <= found
    assert plan.dataset("msmarco_passage_corpus", "all") not in plan.leaves("mrtydi", "mcontriever", "multilingual")
    groups = plan.data_groups("mrtydi", "mcontriever", "multilingual_kept")
    assert groups["hard negatives of marco"] == ["msmarco_passage", "msmarco_passage_corpus"]
    assert groups["hard negatives of mrtydi"] == ["mrtydi_train", "mrtydi_corpus"]


def test_questions_of_ones_own_are_not_searched_in_a_generated_collection(jobs, tmp_path):
    plan = jobs(scale="miniature", user_data={"msmarco_passage": str(tmp_path)})
    state, reason = plan.row_problem("mrtydi", "infoxlm_base", "multilingual_kept")
    assert state == "unavailable" and "msmarco_passage_corpus would be generated" in reason
    assert plan.row_problem("mrtydi", "infoxlm_base", "multilingual") is None
    whole = {name: str(tmp_path) for name in ("msmarco_passage", "msmarco_passage_corpus")}
    assert jobs(scale="miniature", user_data=whole).row_problem("mrtydi", "infoxlm_base", "multilingual_kept") is None


def test_mining_reads_its_training_set_and_collection_and_nothing_else(jobs):
    plan = jobs(scale="miniature")
    assert {key.partition(":")[0] for key in plan.mining_data("mrtydi")} == {"mrtydi_train", "mrtydi_corpus"}
    assert set(plan.mining_data("marco")) == {"msmarco_passage:all", "msmarco_passage_corpus:all"}
    with pytest.raises(SteleError, match=r"training set squad: training_sets\.yaml names no collection"):
        plan.mining_data("squad")


def test_alignment_and_uniformity_read_gold_passages_and_no_collection(jobs):
    plan, w = jobs(scale="miniature"), wildcards(benchmark="xor_retrieve", model="mbert", setting="align_uniform")
    made = plan.encode_pairs_input(w)
    assert made["encoder"] == plan.encoder("mbert", 0)  # as it is, before any fine-tuning
    assert made["data"] == [plan.dataset("xor_tydi", "all"), plan.dataset("xor_dpr_train", "all")]
    assert plan.score_input(w)["retrieval"].endswith("/xor_retrieve/mbert/align_uniform/pt0-ft2/vectors.json")
    assert plan.protocol("xor_retrieve", "align_uniform")["metrics"][0] == "alignment"
    assert "evaluation.metrics.alignment" in plan.scoring_modules("xor_retrieve", "align_uniform")
    assert not any("enwiki" in name for name in plan.leaves("xor_retrieve", "mbert", "align_uniform"))
    with pytest.raises(SteleError, match=r"ranks nothing; its record is vectors\.json"):
        plan.retrieve_input(w)
    other = wildcards(benchmark="xor_retrieve", model="mbert", setting="zero_shot_nq")
    assert plan.score_input(other)["retrieval"].endswith("/retrieval.json")
    assert plan.protocol("xor_retrieve", "zero_shot_nq") == plan.benchmark("xor_retrieve")
    with pytest.raises(SteleError, match=r"unknown setting of vectors 'zero_shot_nq'\. Valid: align_uniform"):
        plan.encode_pairs_input(other)


def test_without_the_gold_passages_the_row_says_how_to_get_them(jobs):
    state, reason = jobs(scale="paper").row_problem("xor_retrieve", "mbert", "align_uniform")
    assert state == "unavailable" and "user_data: {xor_dpr_train" in reason
