"""What holds between the catalogue's pretraining recipes, at every scale: sizes that are alike, epochs, lengths."""

import pytest

from stele import catalogue
from stele.catalogue.schema.models import Model
from stele.config.model import parse_config
from stele.plan.plan import Plan
from tests.pretraining.test_catalogue_recipes import OF_MSM, TRAINED


def jobs(scale):
    return Plan(parse_config({"scale": scale}))


def recipe(model, scale="paper"):
    return jobs(scale).pretraining.recipe(model)


@pytest.mark.parametrize("scale", catalogue.scale_names())
def test_an_epoch_of_clir_has_as_many_steps_of_each_pair_of_languages_and_task_in_every_model(scale):
    """And all have as many epochs: what tables and figures vary is something else. 20 of 32,000 pairs at paper size."""
    plan, seen = jobs(scale), set()
    for model in (m for m in TRAINED if recipe(m, scale).objective == "clir"):
        settled, epoch = recipe(model, scale), plan.pretraining.recipe(model).epoch_steps
        pairs = len(plan.mining.parts("section_pairs", settled.languages))
        seen.add((settled.steps / epoch, epoch / (pairs * len(settled.tasks)) * settled.pairs))
    assert len(seen) == 1 and (scale != "paper" or seen == {(20, 32_000)})


@pytest.mark.parametrize("scale", catalogue.scale_names())
def test_snapshots_are_taken_at_the_epochs_that_models_say(scale):
    plan = jobs(scale)
    for key, model in catalogue.entries(Model).items():
        if model.snapshot_of:
            step, settled = plan.models.snapshot_step(key), recipe(model.snapshot_of, scale)
            assert (step or settled.steps) / settled.steps == model.epoch / 20, key
            assert step is None or step in settled.snapshots


@pytest.mark.parametrize(
    ("model", "other", "stores"),
    [
        ("mlm_equal_compute", "msm", {"mlm": "mlm", "msm": "msm"}),
        ("crop_equal_compute", "kept", {"mlm": "chunks", "ilk": "ilk", "clk": "clk"}),
    ],
)
def test_equal_compute_is_to_the_paper_s_own_model_with_its_stores(model, other, stores):
    assert recipe(model).to_equal().given() == recipe(other).given()
    assert jobs("paper").pretraining.stores(model) == stores


def test_a_standin_s_layers_are_those_of_its_own_architecture():
    world, seen = jobs("miniature").world, set()
    for key in catalogue.load("standins"):
        settled = world.recipe(key)
        if getattr(settled, "architecture", None):
            seen.add(settled.kind)
            assert settled.own_layers == settled.architecture.layers
    assert {"trained", "contrastive", "causal"} <= seen


@pytest.mark.parametrize("scale", catalogue.scale_names())
def test_rows_of_kept_differ_in_their_tasks_and_mcontriever_in_its_objective(scale):
    """Tables 7 and 9: every task has a group as large as KEPT's; "+ continue pre-train" has as many steps."""
    kept, continued = recipe("kept", scale), recipe("mcontriever_continued", scale)
    for model in TRAINED:
        if model.startswith("kept_"):
            recipe_read = recipe(model, scale)
            assert recipe_read.groups == len(recipe_read.tasks)
            same = recipe_read.model_dump(exclude={"tasks", "groups"})
            assert same == kept.model_dump(exclude={"tasks", "groups"})
    assert (continued.steps, continued.warmup_steps) == (kept.steps, kept.warmup_steps)
    assert continued.languages == kept.languages and continued.temperature == kept.temperature


# `laptop` is what `stele adapt` trains by, and no row of a table
@pytest.mark.parametrize("scale", sorted({*catalogue.scale_names()} - {"laptop"}))
def test_rows_of_msm_see_as_much_in_a_step_and_in_all(scale):
    """Table 6 of MSM varies the negatives alone: documents and MLM sequences a step are the same in every row."""
    recipe_read = {model: recipe(model, scale) for model in OF_MSM}
    rows = recipe_read.values()
    assert len({(r.documents * r.groups, r.mlm_sequences * r.groups, r.mlm_share, r.steps) for r in rows}) == 1
    sizes = [recipe_read[name].documents for name in ("msm_neg_256", "msm", "msm_neg_1024", "msm_neg_4096")]
    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize("scale", catalogue.scale_names())
def test_crop_has_as_many_vectors_as_msm(scale):
    crop, msm = recipe("crop", scale), recipe("msm", scale)
    assert crop.pairs == msm.documents * msm.sentences
    assert (crop.groups, crop.mlm_sequences, crop.steps) == (msm.groups, msm.mlm_sequences, msm.steps)


@pytest.mark.parametrize("scale", catalogue.scale_names())
def test_mined_sequences_are_as_long_as_their_recipe_reads(scale):
    plan = jobs(scale)
    assert plan.mining.recipe("msm").sentence_tokens == recipe("msm", scale).sentence_length
    assert plan.mining.recipe("crop").sentence_tokens == recipe("crop", scale).sentence_length
    assert plan.mining.recipe("mlm").length == recipe("msm", scale).mlm_length
    kept = recipe("kept", scale)
    for method in ("ilk", "clk", "uhs_ilk", "ds_clk", "clhed"):
        mined = plan.mining.recipe(method)
        assert (mined.query_tokens, mined.passage_tokens) == (kept.length, kept.length), method
    longest = (plan.mining.recipe("chunks").length - 2) * kept.crop_ratio[1]
    assert longest <= kept.length and longest + 2 <= recipe("mcontriever_continued", scale).length
    mined, read = plan.mining.recipe("ict"), recipe("ict", scale)
    assert (mined.query_tokens, mined.block_tokens) == (read.query_length, read.block_length)


def test_mining_at_the_papers_scale():
    plan = jobs("paper")
    shared = {"unit": "sentences", "sentence_words": 64, "sentence_tokens": 64, "sentences": 32, "sentences_min": 2}
    assert plan.mining.recipe("msm").given() == {"method": "msm", **shared}
    assert plan.mining.recipe("crop").given() == {"method": "crop", **shared, "window": 5}
    ict = {"method": "ict", "query_tokens": 64, "block_tokens": 288, "removal": 0.9, "queries_per_block": 1}
    assert plan.mining.recipe("ict").given() == ict
    assert plan.mining.recipe("mlm").given() == {"method": "mlm", "length": 256, "least": 16}
    blocks = {"unit": "blocks", "block_tokens": 64, "sentences": 32, "sentences_min": None}
    assert plan.mining.recipe("msm_blocks").given() == {"method": "msm", **blocks}


def test_what_a_run_is_expected_to_take_is_no_value_of_its_recipe():
    """It would enter the command and its fingerprint, and a better source would rerun the training."""
    assert "expect" in catalogue.load("recipes")["pretraining"]["kept"]
    values = jobs("paper").pretraining.recipe("kept").given()
    assert "expect" not in values and values["steps"] == 300_000
