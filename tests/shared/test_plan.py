"""Every recipe of every scale is one that its command takes; shared jobs are shared; nothing is planned for nothing."""

import pytest

from stele import catalogue, config
from stele.jobs import Jobs, as_json
from stele.plan import make_plan


def jobs(**values):
    found = make_plan(config.parse(values))
    return Jobs(found.config, found.scale, found.why, found.sizes)


@pytest.fixture(params=["miniature", "small", "paper"])
def plan(request):
    return jobs(scale=request.param)


def trained(plan):
    return [key for key in plan.models if plan.is_trained(key)]


def test_every_pretraining_recipe_is_valid(plan):
    from stele.training.recipe import parse_recipe

    for key in trained(plan):
        recipe = parse_recipe(plan.objective_recipe(key), key)
        assert recipe.languages


def test_every_fine_tuning_recipe_is_valid(plan):
    from stele.finetuning.recipe import parse_recipe

    for name in catalogue.load("recipes")["finetuning"]:
        recipe = parse_recipe(plan.training_recipe(name), name)
        assert recipe.total_steps(100_000) >= 1
        assert recipe.threads == plan.sizes["threads"]


def test_every_mining_recipe_is_valid_and_no_longer_than_its_objective(plan):
    from stele.pairs._recipe import parse_recipe

    for key in trained(plan):
        recipe = plan.pretraining_recipe(key)
        for mining in recipe["mining"].values():
            parse_recipe(as_json(plan.pairs_recipe(mining)))
        if recipe["objective"] == "msm":
            assert plan.pairs_recipe("msm")["sentences"] <= recipe["sentences"]


def test_every_stand_in_and_world_is_valid(plan):
    from stele.world.sizes import world_sizes
    from stele.world.standins._recipe import parse

    if not plan.generated:
        pytest.skip("the papers' scale has no generated data")
    assert world_sizes(plan.sizes["world"]).entities == plan.sizes["world"]["entities"]
    for key, entry in catalogue.load("standins").items():
        _, recipe = parse(plan.standin_recipe(key), key)
        assert recipe.kind == entry["kind"]


def test_the_global_batch_of_the_msm_rows_is_one(plan):
    if plan.generated:
        pytest.skip("a small group has few ways to be cut")
    sizes = {
        r["documents"] * r["groups"] for r in map(plan.pretraining_recipe, trained(plan)) if r["objective"] == "msm"
    }
    assert sizes == {256}


def test_models_of_one_family_share_their_mined_examples():
    plan = jobs(scale="paper")
    assert plan.tokenizer("msm_large") == plan.tokenizer("msm") == plan.tokenizer("crop") == "xlmr"
    assert plan.tokenizer("msm_en") == "ernie2"


def test_one_nq_fine_tuning_serves_three_benchmarks():
    plan = jobs(scale="paper")
    encoders = {
        plan.final_encoder("mrtydi", "msm", "zero_shot_nq", "pt0-ft0"),
        plan.final_encoder("xor_retrieve", "msm", "zero_shot_nq", "pt0-ft0"),
        plan.final_encoder("nq", "msm", "supervised", "pt0-ft0"),
    }
    assert len(encoders) == 1


def test_seeds_multiply_results_and_a_public_checkpoint_has_no_pretraining_seed():
    plan = jobs(scale="paper", seeds={"pretraining": [0, 1], "finetuning": [0, 1, 2]})
    assert len(plan.seeds("msm")) == 6
    assert plan.seeds("xlmr") == ["pt0-ft0", "pt0-ft1", "pt0-ft2"]


def test_a_wall_without_a_copy_is_unavailable_with_the_way_to_get_it():
    state, reason = jobs(scale="paper").row_problem("xor_retrieve", "msm", "multilingual")
    assert state == "unavailable" and "user_data: {xor_dpr_train" in reason
    assert jobs(scale="miniature").row_problem("xor_retrieve", "msm", "multilingual") is None


def test_what_nobody_builds_is_not_built():
    plan = jobs(scale="paper")
    assert plan.row_problem("nq", "bm25", "supervised")[0] == "not built"
    assert plan.row_problem("clef", "msm", "cv5")[0] == "not built"


def test_the_users_data_are_taken_whole(tmp_path):
    plan = jobs(scale="miniature", user_data={"tatoeba": str(tmp_path)})
    assert len(plan.languages("tatoeba")) == 112
    assert plan.languages("lareqa") == ["ar", "en", "es", "ru", "th"]
    asked = jobs(scale="miniature", user_data={"tatoeba": str(tmp_path)}, languages=["sw"])
    assert asked.languages("tatoeba") == ["sw"]
