"""What pretraining reads, as it is planned: stores of tasks, parts, shards, corpora, and the knowledge base."""

from itertools import chain
from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.errors import SteleError
from tests.sealed import write_sealed

WIKIS = 28  # of mContriever's 29 languages


def own(jobs, scale="paper", recipe="kept", **override):
    """The plan with one model of one's own."""
    return jobs(scale=scale, models={"mine": {"base": "mcontriever", "recipe": recipe, "override": override}})


def stores(plan, model):
    """store -> its parts, of what a model's pretraining is given."""
    found = {}
    for name in plan.stores.pairs(SimpleNamespace(model=model)):
        store, part = name.split(":")
        found.setdefault(store, []).append(part)
    return found


def scale_file(tmp_path, text):
    path = tmp_path / "own.yaml"
    path.write_text(f"title: mine\n{text}\n")
    return str(path)


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("kept", {"mlm", "ilk", "clk"}),
        ("kept_no_crop", {"ilk", "clk"}),
        ("kept_no_ilk", {"mlm", "clk"}),
        ("kept_no_clk", {"mlm", "ilk"}),
        ("kept_uhs_ilk", {"mlm", "uhs_ilk", "clk"}),
        ("kept_ds_clk", {"mlm", "ilk", "ds_clk"}),
        ("kept_clhed", {"mlm", "ilk", "clk", "clhed"}),
        ("crop_equal_compute", {"mlm", "ilk", "clk"}),  # what KEPT costs is in the lengths of its texts
        ("mcontriever_continued", {"mlm"}),
    ],
)
def test_only_the_stores_of_a_model_s_tasks_are_built(plan, model, wanted):
    found = stores(plan, model)
    assert set(found) == wanted
    for store, parts in found.items():
        across = store in ("clk", "ds_clk", "clhed")
        assert len(parts) == (WIKIS * (WIKIS - 1) // 2 if across else WIKIS)
        assert len(set(parts)) == len(parts)
    mined = {recipe for recipe, _ in plan.pretraining.knowledge_pairs(model)}
    assert mined == wanted - {"mlm"}


def test_mlm_beside_other_tasks_reads_its_store(jobs):
    mlm = {"mlm_share": 0.25, "mlm_sequences": 8, "mlm_length": 32, "mask_probability": 0.15}
    assert set(stores(own(jobs, tasks=["ilk", "clk"], **mlm), "mine")) == {"mlm", "ilk", "clk"}


def test_a_pair_of_languages_is_named_once_and_in_order(jobs, plan):
    assert plan.mining.parts("clk", ["sw", "en", "de"]) == ["de-en", "de-sw", "en-sw"]
    assert plan.mining.parts("ilk", ["sw", "en"]) == plan.mining.parts("chunks", ["sw", "en"]) == ["sw", "en"]
    assert plan.mining.parts("clk", ["en"]) == []
    single = ["sw", "en"]
    assert stores(own(jobs, languages=single), "mine") == {"mlm": single, "ilk": single, "clk": ["en-sw"]}


def test_a_part_of_another_shape_is_an_error_that_shows_the_right_one(plan):
    assert plan.mining.part_codes("clk", "en-fr") == ["en", "fr"] and plan.mining.part_codes("ilk", "en") == ["en"]
    for mining, part, wanted in (
        ("clk", "fr-en", "pairs/clk/fr-en: no such part; want en-fr"),
        ("clk", "en", "pairs/clk/en: no such part; want two languages"),
        ("clk", "en-en", "pairs/clk/en-en: no such part; want two languages"),
        ("ilk", "en-fr", "pairs/ilk/en-fr: no such part; want en or fr"),
        ("ilk", "enn", "pairs/ilk/enn: unknown language 'enn'; did you mean"),
    ):
        with pytest.raises(SteleError, match=wanted):
            plan.mining.part_codes(mining, part)


def test_pairs_are_mined_from_the_knowledge_bases_and_all_shards_of_their_languages(miniature):
    plan, w = miniature(), SimpleNamespace(method="clk", part="en-ru")
    bases = {code: f"work/miniature/knowledge_base/{code}/record.json" for code in ("en", "ru")}
    shards = {c: [f"work/miniature/documents/wikipedia/{c}/{n}/record.json" for n in (1, 2)] for c in ("en", "ru")}
    assert (plan.mining.knowledge_bases(w), plan.mining.knowledge_documents(w)) == (bases, shards)


def test_a_row_of_kept_needs_wikipedia_and_wikidata(paper, plan):
    row = RunKey("mrtydi", "kept", "multilingual_kept")
    found = plan.rows.downloads(row)
    assert {plan.paths.dataset("wikipedia", code) for code in ("en", "zh", "km")} <= found
    assert plan.paths.dataset("wikidata_items", "all") in found and plan.paths.checkpoint("mcontriever") in found
    assert not any("/cc100/" in leaf for leaf in found)
    reads = plan.rows.kind(row).reads(row)["pretraining of kept"]
    assert {name.partition(":")[0] for name in reads} == {"wikidata_items", "wikipedia"}
    ((step, reads),) = plan.pretraining.reads("mcontriever_continued").items()
    assert step == "pretraining of mcontriever_continued" and all(name.startswith("wikipedia:") for name in reads)
    downloads = paper(papers=["kept"]).requested.downloads()
    assert {plan.paths.dataset("wikidata_items", "all"), plan.paths.dataset("wikipedia", "sw")} <= {*downloads}


def test_crops_come_from_wikipedia_or_from_web_text(jobs, plan, tmp_path):
    assert plan.mining.documents("chunks", "sw") == plan.corpora.documents("wikipedia", "sw")
    assert plan.mining.documents("mlm", "sw") == ["work/paper/documents/cc100/sw/record.json"]
    assert plan.mining.documents("mlm", "als") == plan.corpora.documents("wikipedia", "als")  # CC-100 lacks it
    switched = jobs(scale=scale_file(tmp_path, "generated: false\npairs: {chunks: {corpus: cc100}}"))
    assert switched.mining.documents("chunks", "sw") == ["work/own/documents/cc100/sw/record.json"]
    assert {("cc100", "sw"), ("wikipedia", "sw")} <= {*switched.pretraining.texts("kept")}
    assert ("wikipedia", "sw") not in switched.pretraining.texts("mcontriever_continued")
    assert "corpus" not in switched.mining.recipe("chunks").given()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("pairs: {chunks: {corpus: wikipdia}}", r"pairs\.chunks\.corpus: .*did you mean 'wikipedia'"),
        ("pairs: {ilk: {parts: language_pairs}}", r"pairs\.ilk\.parts: it cannot be set here"),
        ("finetuning: {nq: {threads: 2}}", r"finetuning\.nq\.threads: it cannot be set here; give .* own `threads`"),
        ("standins: {xlmr: {threads: 2}}", r"standins\.xlmr\.threads: it cannot be set here"),
        ("models: {msm_large: {threads: 2}}", r"models\.msm_large\.threads: it cannot be set here"),
        ("pairs: {ilk: {pasages: 3}}", r"unknown key 'pairs\.ilk\.pasages'"),
    ],
)
def test_a_wrong_value_of_a_scale_is_named(checked, tmp_path, text, wanted):
    with pytest.raises(SteleError, match=wanted):
        checked(scale=scale_file(tmp_path, f"generated: false\n{text}"))


@pytest.mark.parametrize("name", ["ilk", "uhs_ilk", "clk", "ds_clk", "clhed"])
def test_each_key_of_a_knowledge_recipe_is_told_to_the_command_that_reads_it(plan, name):
    text, token = plan.mining.text_recipe(name), plan.mining.token_recipe(name)
    assert set(token) == {"method", "query_tokens", "passage_tokens"}
    assert text | token == plan.mining.recipe(name).given() and set(text) & set(token) == {"method"}
    assert "parts" not in text


def test_lengths_in_tokens_are_those_of_the_pretraining(jobs):
    for scale in ("miniature", "small", "paper"):
        plan = jobs(scale=scale)
        lengths = {plan.mining.token_recipe(name)["passage_tokens"] for name in plan.mining.by_rule["knowledge_pairs"]}
        assert lengths == {plan.pretraining.recipe("kept").length}


def test_every_mining_recipe_has_one_rule(paper):
    found = paper().mining.by_rule
    assert found["knowledge_pairs"] == ["clhed", "clk", "ds_clk", "ilk", "uhs_ilk"]
    assert found["section_pairs"] == ["section_pairs"]
    assert sorted(chain.from_iterable(found.values())) == sorted(catalogue.load("recipes")["pairs"])


def test_the_pairs_that_are_counted_are_those_of_the_chosen_tables(miniature):
    plan = miniature(papers=["kept"])
    counted = plan.requested.knowledge_pairs()
    assert {recipe for recipe, _ in counted} == {"ilk", "uhs_ilk", "clk", "ds_clk", "clhed"}
    assert len(counted) == len({record for _, record in counted}) == 2 * 10 + 3 * 45
    assert plan.requested.statistics() == ["results/statistics/knowledge_pairs.md"]
    assert miniature(papers=["msm"]).requested.statistics() == []


@pytest.mark.parametrize(
    ("override", "wanted"),
    [
        ({"tasks": ["crop", "ikl"]}, "tasks.1: .*'ilk'"),
        ({"tasks": 3}, "tasks: Input should be a valid list"),
        ({"mining": {"mlm": "mlm", "clk": "clk"}}, "override.mining: no mining recipe for ilk, which kept reads"),
        ({"mining": {"ilk": "ilk", "clk": "clkk"}}, "unknown mining recipe 'clkk'; did you mean 'clk'"),
        ({"mining": {"mlm": "mlm", "ilk": "uhs_ilk", "clk": "clk"}}, "ilk: uhs_ilk is .*; want one of ilk"),
        ({"length": 256}, r"override\.length: 256, but ilk mines at most 128 tokens"),
        ({"languages": ["ltg"]}, r"unknown language 'ltg'; .*\(docs/adding/language\.md\)"),
        ({"languages": ["en"]}, r"override\.languages: clk needs two languages \(found en\); give more lang"),
        ({"languages": None}, r"override\.languages: want codes, e.g. \[en, sw\], or the name of a set \(found None\)"),
        ({"languages": [False, "da"]}, r"languages\.0: .*YAML reads an unquoted no or off so: put it in quotes"),
        ({"languages": []}, r"override\.languages: chunks needs at least one language \(found none\)"),
        ({"languages": ["en", "ber"]}, r"override\.languages: unknown language of wikipedia 'ber'"),
    ],
)
def test_a_wrong_override_of_kept_is_refused_before_anything_runs(checked, override, wanted):
    model = {"base": "mcontriever", "recipe": "kept", "override": override}
    with pytest.raises(SteleError, match=wanted):
        checked(scale="paper", models={"mine": model})


@pytest.mark.parametrize(("key", "most"), [("sentence_length", 64), ("mlm_length", 256)])
def test_a_length_above_that_of_the_mined_texts_is_refused(checked, key, most):
    models = [{"mine": {"base": "xlmr", "recipe": "msm", "override": {key: length}}} for length in (most, most + 1)]
    checked(scale="paper", models=models[0])
    with pytest.raises(SteleError, match=rf"mine\.override\.{key}: {most + 1}, but \w+ mines at most {most} tokens"):
        checked(scale="paper", models=models[1])


def test_the_catalogue_s_models_pass_the_same_checks(checked):
    trained = [key for key, entry in catalogue.load("models").items() if "recipe" in entry]
    models = {key: {"override": {"dropout": 0.0}} for key in trained}
    for scale in ("miniature", "paper"):
        checked(scale=scale, models=models)


def test_an_override_of_the_user_s_replaces_the_scale_s_which_replaces_the_catalogue_s(checked, tmp_path):
    small = checked(scale="small").pretraining.values("msm_large")
    mine = checked(scale="small", models={"msm_large": {"override": {"groups": 9}}}).pretraining.values("msm_large")
    assert small["groups"] == 16 and mine == small | {"groups": 9}
    scale = scale_file(tmp_path, "like: small\ngenerated: true\nmodels: {mine: {groups: 4, documents: 2}}")
    models = {"mine": {"base": "xlmr", "recipe": "msm", "override": {"groups": 9}}}
    own = checked(scale=scale, models=models).pretraining.values("mine")
    assert (own["groups"], own["documents"]) == (9, 2)
    trained = checked(scale="small", models={"msm_large": {"recipe": "crop", "base": "xlmr"}})
    assert "groups" not in trained.models["msm_large"].override, "as the catalogue's, of another recipe"


@pytest.mark.parametrize(
    ("length", "wanted"),
    [
        (600, r"pretraining\.crop: xlmr reads at most 512 .* texts of 600 .`\w+`.; give a"),
        (65, r"pretraining\.crop\.sentence_length: 65, but crop mines at most 64 tokens; .* .`pairs: {crop: \.\.\.}`"),
    ],
)
def test_a_scale_s_texts_longer_than_the_base_reads_or_mining_gives_are_refused(checked, tmp_path, length, wanted):
    scale = f"like: paper\ngenerated: false\npretraining: {{crop: {{sentence_length: {length}}}}}"
    with pytest.raises(SteleError, match=wanted):
        checked(scale=scale_file(tmp_path, scale))


def test_shorter_mined_texts_are_not_held_against_the_lengths_that_a_scale_inherits(checked, tmp_path):
    inherited = checked(scale="miniature").pretraining.values("crop")["sentence_length"]
    mined = f"like: miniature\ngenerated: true\npairs: {{crop: {{sentence_tokens: {inherited - 1}}}}}"
    plan = checked(scale=scale_file(tmp_path, mined))
    assert plan.pretraining.values("crop")["sentence_length"] == inherited


def test_languages_out_of_scale_make_a_row_not_in_scale(jobs):
    row = RunKey("mrtydi", "mine", "multilingual_kept")
    state, reason = own(jobs, "miniature", languages=["en", "uk"]).rows.problem(row)
    assert state == "not in scale" and reason.endswith("clk needs two languages (found en)")
    plan = own(jobs, "miniature", languages=["uk"], tasks=["crop"])
    assert plan.rows.problem(row)[0] == "not in scale"
    with pytest.raises(SteleError, match=r"encoders/mine: not in scale: .*chunks needs at least one language \(found"):
        plan.stores.inputs(SimpleNamespace(model="mine", pt="0"))
    assert own(jobs, languages=["en", "uk"]).rows.problem(row) is None


REAL = {"mine": {"checkpoint": "sentence-transformers/all-MiniLM-L6-v2"}}
TRAINED = REAL | {"trained": {"base": "mine", "recipe": "msm"}}
REFUSED = "models.trained: the sizes of msm at scale .* generated stand-ins, and mine is a real checkpoint"


def test_sizes_of_stand_ins_never_reach_a_real_checkpoint(checked, tmp_path):
    with pytest.raises(SteleError, match=REFUSED):
        checked(scale="miniature", models=TRAINED)
    inherited = scale_file(tmp_path, "like: miniature\ngenerated: false")
    with pytest.raises(SteleError, match=REFUSED):
        checked(scale=inherited, models=TRAINED)
    own_rate = "like: miniature\ngenerated: false\npretraining: {msm: {learning_rate: 2.0e-5}}"
    checked(scale=scale_file(tmp_path, own_rate), models=TRAINED)
    checked(scale="paper", models=TRAINED)


def test_a_row_that_would_fine_tune_a_real_checkpoint_by_a_stand_in_s_recipe_is_unavailable(miniature, tmp_path):
    for folder, labels in (("real", []), ("made", ["stand-in checkpoint"])):
        (tmp_path / folder).mkdir()
        write_sealed(tmp_path / folder / "record.json", {"labels": labels})
    models = {name: {"checkpoint": str(tmp_path / name)} for name in ("real", "made")}
    plan = miniature(models=models)
    problem = plan.rows.problem(RunKey("mrtydi", "real", "zero_shot_marco"))
    assert problem[0] == "unavailable" and "real is a real checkpoint" in problem[1]
    for row in (RunKey("tatoeba", "real", "direct"), RunKey("mrtydi", "made", "zero_shot_marco")):
        assert plan.rows.problem(row) is None


def test_a_plain_folder_without_a_pooling_is_refused_when_it_is_planned(paper, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    row, mine = RunKey("tatoeba", "mine", "direct"), {"checkpoint": str(tmp_path)}
    wanted = r"is a plain transformers folder, .* give models.mine an encoding.* --encoding pooling=mean"
    with pytest.raises(SteleError, match=wanted):
        paper(models={"mine": mine}).rows.inputs(row, "pt0-ft0")
    assert paper(models={"mine": mine | {"encoding": {"pooling": "cls"}}}).rows.problem(row) is None
    trained = {"trained": {"base": "mine", "recipe": "msm"}}  # what is trained from it has its training's pooling
    assert paper(models={"mine": mine, **trained}).rows.problem(row._replace(model="trained")) is None
    (tmp_path / "modules.json").write_text("[]")
    assert paper(models={"mine": mine}).rows.problem(row) is None


def test_a_training_hears_what_is_said_of_an_encoder_and_of_no_plain_checkpoint(paper):
    models = {"e5": {"base": "me5_small", "recipe": "msm"}, "own": {"base": "mine", "recipe": "msm"}}
    models |= {"mine": {"checkpoint": "a/b", "encoding": {"pooling": "cls"}}, "xlmr": {"encoding": {"pooling": "mean"}}}
    plan = paper(models=models).pretraining
    assert '"query_prompt": "query: "' in plan.encoding("e5").replace('":"', '": "')
    assert '"config"' in plan.encoding("own") and plan.encoding("msm") == plan.encoding("kept") == ""


def test_a_recipe_s_pooling_goes_before_that_of_the_encoder_it_starts_from(checked):
    models = {"e5": {"base": "me5_small", "recipe": "msm", "override": {"pooling": "cls"}}}
    plan = checked(scale="paper", models=models)
    spec = plan.retrieval.encoding("tatoeba", "e5")
    assert (spec.pooling, spec.query_prompt) == ("cls", "query: ")
    assert plan.retrieval.encoding("tatoeba", "me5_small").pooling == "mean"


@pytest.mark.parametrize(
    ("text", "models", "pooling"),
    [
        ("pretraining: {msm: {pooling: mean}}", {}, "mean"),
        ("models: {msm: {pooling: mean}}", {}, "mean"),
        ("", {"msm": {"override": {"pooling": "mean"}}}, "mean"),
        ("pretraining: {msm: {pooling: mean}}", {"msm": {"override": {"pooling": None}}}, "cls"),
    ],
)
def test_a_model_is_searched_with_the_pooling_of_its_training(checked, tmp_path, text, models, pooling):
    plan = checked(scale=scale_file(tmp_path, f"generated: false\n{text}"), models=models)
    assert plan.retrieval.encoding("tatoeba", "msm").pooling == pooling
