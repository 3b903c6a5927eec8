"""What a run draws of its stores: the arithmetic against the objectives' own and against a schedule that is counted."""

from collections import Counter
from functools import partial
from types import SimpleNamespace

import pytest

from stele.recipes.pretraining import parse_recipe
from stele.training import run_sizes
from stele.training.tasks import scheduled

MODELS = ("msm", "crop", "ict", "mlm_equal_compute", "kept", "mcontriever_continued", "msm_neg_4096")


@pytest.mark.parametrize("model", MODELS)
def test_a_run_draws_of_all_stores_that_it_reads(paper, model):
    recipe = paper().pretraining.recipe(model)
    assert set(run_sizes.drawn(recipe)) == recipe.stores_read()


@pytest.mark.parametrize("model", ["msm", "crop", "kept"])
def test_draws_are_those_of_the_schedule(miniature, model):
    recipe = parse_recipe({**miniature().pretraining.recipe(model).given(), "steps": 70})
    counted: Counter[str] = Counter()
    for j in range(recipe.steps * recipe.groups):
        name, _ = scheduled(j, recipe)
        counted[name] += recipe.examples(name)
    assert run_sizes.drawn(recipe) == pytest.approx({recipe.store_of(name): n for name, n in counted.items()}, rel=0.02)


def test_a_model_of_the_catalogue_reads_the_store_of_its_tokenizer(plan):
    """Also the model that draws most, by which the store is cut."""
    for model in MODELS:
        tokenizer, records = plan.models.tokenizer(model), plan.stores.pairs(SimpleNamespace(model=model))
        assert records and all(f"/{tokenizer}/" in record for record in records.values()), model


def test_a_model_that_draws_more_than_the_catalogue_s_has_a_store_of_its_own(paper):
    """Larger shared stores would be mined again, and all models trained again that read them."""
    plain = paper().stores
    models = {
        "long": {"recipe": "mlm_equal_compute", "base": "xlmr_large", "override": {"mlm_sequences": 512}},
        "short": {"recipe": "mlm_equal_compute", "base": "xlmr", "override": {"mlm_sequences": 64}},
    }
    added = paper(models=models).stores
    assert added.shared_caps == plain.shared_caps
    read = {model: added.pairs(SimpleNamespace(model=model))["mlm:en"] for model in ("long", "short", "msm")}
    assert read["short"] == read["msm"] != read["long"]
    name = added.name("mlm", "long", "en")
    assert f"pairs/mlm/{name}/en" in read["long"] and added.tokenizer(name) == "xlmr"
    assert added.cap("mlm", name, "en") == pytest.approx(4 * plain.cap("mlm", "xlmr", "en"), rel=0.2)


@pytest.mark.parametrize("model", ["msm", "later"])
def test_a_model_of_a_user_changes_no_store_of_others(paper, model):
    """Whether it is added or a changed one of the catalogue, and with models that copy its compute."""
    entry = {"recipe": "msm", "base": "xlmr", "override": {"steps": 900_000, "mlm_sequences": 512}}
    plain, changed = paper().stores, paper(models={model: entry}).stores
    assert changed.shared_caps == plain.shared_caps
    others = [key for key in plain.pretraining.models.all if plain.pretraining.models.is_trained(key)]
    drawing_more = {model, "mlm_equal_compute", "crop_equal_compute"} if model == "msm" else {model}
    for other in {*others} - drawing_more:
        assert changed.pairs(SimpleNamespace(model=other)) == plain.pairs(SimpleNamespace(model=other)), other
    assert changed.pairs(SimpleNamespace(model=model))["mlm:en"] != plain.pairs(SimpleNamespace(model="msm"))["mlm:en"]


def test_the_store_of_an_added_model_stays_when_another_one_goes(jobs):
    """Also in a language that no model of the catalogue has."""
    override = {"mlm_sequences": 512, "languages": ["en", "qq"]}
    entry = {"recipe": "msm", "base": "xlmr", "override": override}
    language = {"name": "Q", "script": "Latin", "script_kind": "alphabet", "family": "f", "cc100": "qq"}
    plan_of = partial(jobs, scale="paper", add_languages={"qq": language})
    both = plan_of(models={"first": entry, "second": {**entry, "base": "xlmr_large"}}).stores
    alone = plan_of(models={"second": {**entry, "base": "xlmr_large"}}).stores
    stores = [stores.pairs(SimpleNamespace(model="second")) for stores in (both, alone)]
    assert stores[0] == stores[1] == both.pairs(SimpleNamespace(model="first")) and "mlm:qq" in stores[0]


def test_an_added_model_reads_the_store_of_an_earlier_one_that_draws_more(paper):
    models = {
        name: {"recipe": "mlm_equal_compute", "base": "xlmr", "override": {"mlm_sequences": sequences}}
        for name, sequences in (("most", 1024), ("more", 512), ("even_more", 2048))
    }
    stores = paper(models=models).stores
    names = {model: stores.name("mlm", model, "en") for model in models}
    assert names["more"] == names["most"] != names["even_more"]


def test_every_cap_is_above_what_its_language_is_drawn(plan):
    """By texts' sizes at the papers' scale; over all languages they are a few times what is drawn in all."""
    drawn = run_sizes.drawn(plan.pretraining.recipe("mlm_equal_compute"))["mlm"]
    caps = [cap for (mining, model, _), cap in plan.stores.shared_caps.items() if (mining, model) == ("mlm", "xlmr")]
    assert len(caps) == 108 and run_sizes.MARGIN * drawn <= sum(caps) < 2 * run_sizes.MARGIN * drawn


@pytest.mark.parametrize("scale", ["miniature", "small"])
def test_no_cap_binds_at_a_generated_scale_and_a_small_change_of_a_recipe_changes_none(jobs, scale):
    caps = jobs(scale=scale).stores.shared_caps
    longer = {"base": "xlmr", "recipe": "msm", "override": {"steps": 2000}}
    stores = jobs(scale=scale, models={"longer": longer}).stores
    assert min(caps.values()) >= run_sizes.LEAST and stores.shared_caps == caps
    assert stores.pairs(SimpleNamespace(model="longer")) == stores.pairs(SimpleNamespace(model="msm"))


def test_unknown_sizes_are_capped_by_all_that_is_drawn(paper, tmp_path):
    """The size of a user's texts is unknown; CCP draws most: a document for each pair of half its groups."""
    plan = paper(user_data={"cc100": str(tmp_path)})
    shared = plan.stores.shared_caps
    caps = {cap for (mining, model, _), cap in shared.items() if (mining, model) == ("msm", "xlmr")}
    assert len(caps) == 1 and 1 <= caps.pop() / (200_000 * 2048 / 2) < 1.25
