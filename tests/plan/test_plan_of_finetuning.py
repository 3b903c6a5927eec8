"""KEPT's fine-tuning as it is planned: who mines for whom, what a row reads, what looks at vectors."""

from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue import recipes
from stele.errors import SteleError
from stele.plan.data import Data
from stele.plan.paths import flags

SEEDS = "pt0-ft2"


def wildcards(**values):
    return SimpleNamespace(seeds=SEEDS, **values)


def before(plan, output: str) -> list[str]:
    """All fine-tunings and minings that an output waits for, each after what it needs."""
    found: list[str] = []
    kind, model, recipe, *rest = output.removeprefix("work/paper/").split("/")
    if kind == "finetuned":
        made = plan.finetuning.inputs(wildcards(model=model, recipe=recipe))
        inputs = [made["encoder"], *made["negatives"]]
    elif kind == "hard_negatives":
        assert plan.finetuning.mining_data(rest[0])
        inputs = [plan.paths.finetuned(model, recipe, SEEDS)]
    else:
        return []
    for name in inputs:
        found += [one for one in before(plan, name) if one not in found]
    return [*found, output.removeprefix("work/paper/").removesuffix(f"/{SEEDS}/record.json")]


def test_mining_goes_between_the_fine_tunings(plan):
    assert before(plan, plan.rows.inputs(RunKey("mrtydi", "kept", "multilingual_kept"), SEEDS)["encoder"]) == [
        "finetuned/kept/marco_kept_random",
        "hard_negatives/kept/marco_kept_random/marco",
        "finetuned/kept/marco_kept",
        "hard_negatives/kept/marco_kept/mrtydi",
        "finetuned/kept/mrtydi_kept",
    ]
    again = plan.finetuning.inputs(wildcards(model="kept", recipe="marco_kept"))
    assert again["encoder"] == plan.models.encoder("kept", 0)  # anew, not on from the model that mined
    assert plan.finetuning.chain("mrtydi_kept") == ["marco_kept_random", "marco_kept", "mrtydi_kept"]
    assert plan.finetuning.chain("mrtydi") == ["marco", "mrtydi"]
    assert plan.finetuning.chain("xor_kept") == ["nq", "xor_kept"]
    assert plan.finetuning.chain("xor_ccp") == ["nq_ccp", "xor_ccp"]
    settings = {
        name: plan.protocols.recipe(RunKey("xor_retrieve", "ccp", f"{name}_ccp"))
        for name in ("zero_shot_nq", "multilingual")
    }
    assert settings == {"zero_shot_nq": "nq_ccp", "multilingual": "xor_ccp"}


def test_the_command_is_told_of_mined_negatives_and_not_of_who_mines(plan):
    for name in catalogue.load("recipes")["finetuning"]:
        recipe, w = plan.finetuning.recipe(name).given(), wildcards(model="kept", recipe=name)
        mined = recipe.get("negatives") == "mined"
        assert mined == bool(plan.finetuning.inputs(w)["negatives"])
        assert flags({"negatives": plan.finetuning.mined_negatives(w)}).startswith("--negatives ") == mined
        assert not {"start", "miner"} & set(recipe)
    assert not {"negatives", "hard_negative_ratio"} & set(plan.finetuning.recipe("mrtydi").given())


def test_a_recipe_whose_training_set_has_no_languages_ends_in_none(plan):
    with pytest.raises(SteleError, match=r"training set nq has .*: unknown fine-tuning recipe 'nq-shi'; .* 'nq_shi'"):
        plan.finetuning.recipe("nq-shi")
    assert plan.finetuning.recipe("mrtydi-sw") == plan.finetuning.recipe("mrtydi")
    whole = catalogue.load("recipes")
    wrong = {**whole, "finetuning": {**whole["finetuning"], "wiki-long": whole["finetuning"]["wiki"]}}
    with pytest.raises(SteleError, match=r"recipes.yaml: finetuning.wiki-long: .* write wiki_long"):
        recipes.check_recipes(wrong, "recipes.yaml")


@pytest.mark.parametrize("keys", [{"start": "mine"}, {"start": None, "miner": "other"}])
def test_a_recipe_does_not_start_from_itself(keys):
    whole = catalogue.load("recipes")
    of_all = whole["finetuning"]
    own = {"mine": {**of_all["mrtydi"], **keys}, "other": {**of_all["nq"], "start": "mine"}}
    with pytest.raises(SteleError, match=r"recipes.yaml: finetuning: .* in a circle: .*mine"):
        recipes.check_recipes({**whole, "finetuning": {**of_all, **own}}, "recipes.yaml")


@pytest.mark.parametrize(
    ("keys", "missing"), [({"miner": "marco"}, "negatives: mined"), ({"negatives": "mined"}, "miner")]
)
def test_mined_negatives_and_who_mines_them_are_named_together(plan, monkeypatch, keys, missing):
    of_all = catalogue.load("recipes")["finetuning"]
    monkeypatch.setitem(of_all, "mine", {**of_all["mrtydi"], **keys})
    with pytest.raises(SteleError, match=f"fine-tuning recipe 'mine': `{missing}` is missing"):
        plan.finetuning.recipe("mine")


def test_a_training_set_of_another_kind_is_refused(plan, monkeypatch):
    whole = catalogue.load("recipes")
    monkeypatch.setitem(whole["finetuning"], "mine", {**whole["finetuning"]["nq"], "training_set": "squad2"})
    with pytest.raises(SteleError, match="training set squad2 has no training examples"):
        plan.finetuning.recipe("mine")
    monkeypatch.setitem(whole["answering"], "squad2", {**whole["answering"]["squad2"], "training_set": "squad"})
    with pytest.raises(SteleError, match="training set squad has no questions with answers in paragraphs"):
        plan.rows.problem(RunKey("mlqa", "mbert_qlm_rr_10", "zero_shot"))


def test_a_row_needs_the_collections_that_are_mined(plan):
    row = RunKey("mrtydi", "mcontriever", "multilingual_kept")
    found = plan.rows.downloads(row)
    assert plan.paths.dataset("msmarco_passage_corpus", "all") in found
    assert {plan.paths.dataset("mrtydi_corpus", code) for code in plan.data.training_languages("mrtydi")} <= found
    unmined = plan.rows.downloads(row._replace(setting="multilingual"))
    assert plan.paths.dataset("msmarco_passage_corpus", "all") not in unmined
    reads = plan.rows.kind(row).reads(row)
    for mined in ("marco", "mrtydi"):
        assert reads[f"hard negatives of {mined}"] == plan.finetuning.mining_data(mined)


def test_mining_reads_its_training_set_and_collection_and_nothing_else(miniature):
    plan = miniature()
    assert {key.partition(":")[0] for key in plan.finetuning.mining_data("mrtydi")} == {"mrtydi_train", "mrtydi_corpus"}
    assert set(plan.finetuning.mining_data("marco")) == {"msmarco_passage:all", "msmarco_passage_corpus:all"}
    with pytest.raises(SteleError, match=r"training_sets\.yaml: squad: no `mined`; name the collection"):
        plan.finetuning.mining_data("squad")


def test_a_set_whose_module_reads_no_collection_is_refused_before_the_miner_is_trained(plan, monkeypatch):
    mined = plan.data.training_set("squad").model_copy(update={"mined": plan.data.training_set("mrtydi").mined})
    monkeypatch.setattr(Data, "training_set", lambda self, name: mined)
    with pytest.raises(SteleError, match="benchmark squad has no collection"):
        plan.finetuning.mining_data("squad")


def test_alignment_and_uniformity_read_gold_passages_and_no_collection(miniature):
    plan, w = miniature(), wildcards(benchmark="xor_retrieve", model="mbert", setting="align_uniform")
    made = plan.retrieval.pair_inputs(w)
    assert made["encoder"] == plan.models.encoder("mbert", 0)  # as it is, before any fine-tuning
    assert made["data"] == [plan.paths.dataset("xor_tydi", "all"), plan.paths.dataset("xor_dpr_train", "all")]
    assert plan.scoring.inputs(w)["retrieval"].endswith("/xor_retrieve/mbert/align_uniform/pt0-ft2/vectors.json")
    assert plan.protocols.protocol(w).metrics[0] == "alignment"
    assert not any("enwiki" in name for name in plan.rows.downloads(RunKey("xor_retrieve", "mbert", "align_uniform")))
    with pytest.raises(SteleError, match=r"in pairs; ask for vectors\.json"):
        plan.retrieval.inputs(w)
    other = wildcards(benchmark="xor_retrieve", model="mbert", setting="zero_shot_nq")
    assert plan.scoring.inputs(other)["retrieval"].endswith("/retrieval.json")
    assert plan.protocols.protocol(other) == plan.data.benchmark("xor_retrieve")
    with pytest.raises(SteleError, match=r"unknown setting of vectors 'zero_shot_nq'\. Valid: align_uniform"):
        plan.retrieval.pair_inputs(other)


def test_a_recipe_encodes_as_its_start_does_or_is_not_planned(jobs, paper, miniature, monkeypatch):
    """Stand-ins have unit vectors: a recipe of docs/adding/training_set.md, which is silent, trains on with them."""
    entry = {"start": "nq", "training_set": "nq", "towers": "separate", "pooling": "mean", "query_length": 64}
    entry |= {"passage_length": 64, "batch": 8, "hard_negatives": 0, "learning_rate": 1e-5, "epochs": 1}
    recipes = catalogue.load("recipes")["finetuning"]
    monkeypatch.setitem(recipes, "mine", {**entry, "warmup_steps": 0})
    for scale, unit in ("miniature", True), ("paper", False):
        plan = jobs(scale=scale)
        assert plan.finetuning.recipe("mine").normalize is unit
        assert plan.availability.finetuning_problem("mine") is None
    monkeypatch.setitem(recipes, "mine", {**entry, "warmup_steps": 0, "normalize": False})
    reason = "fine-tuning recipe mine: its start nq has normalize: True, but the recipe says False"
    assert miniature().availability.finetuning_problem("mine") == ("not built", reason)
    assert paper().availability.finetuning_problem("mine") is None
