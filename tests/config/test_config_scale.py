"""Scales: which one a run is of, and what is wrong with one of the user's own, said before anything is built."""

import pytest
import yaml

from stele import catalogue
from stele.catalogue.scales import whole_scale
from stele.config import model, scale
from stele.config.sources import Sources
from stele.errors import SteleError
from stele.plan import validation

MINE = {"title": "mine", "generated": False, "threads": 3}


@pytest.fixture
def own(jobs, tmp_path):
    """own(key=value...) -> the plan of a scale of one's own, checked."""

    def call(**values):
        path = tmp_path / "own.yaml"
        path.write_text(yaml.safe_dump({**MINE, **values}, allow_unicode=True))
        plan = jobs(scale=str(path))
        validation.check(plan, Sources([("config.yaml", {})]))
        return plan

    return call


@pytest.mark.parametrize("name", ["...yaml", "..yaml.yml", "-rf.yaml", "paper.yaml", "miniature.yml"])
def test_a_scale_s_file_has_a_name_that_its_folders_can_have(jobs, tmp_path, name):
    """`...yaml` without its suffix is `..`: work/.. would be the project."""
    (tmp_path / name).write_text(yaml.safe_dump(MINE))
    with pytest.raises(SteleError, match=r"rename the file"):
        jobs(scale=str(tmp_path / name))


def test_a_scale_of_one_s_own_is_taken(own):
    plan = own(pretraining={"msm": {"steps": 20000, "warmup_steps": 1000}}, finetuning={"nq": {"epochs": 2}})
    assert plan.pretraining.recipe("msm").steps == 20000 and plan.settings.sizes.threads == 3


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"threds": 3}, ["own.yaml", "'threds'", "'threads'"]),
        ({"languages": ["en", "swa"]}, ["own.yaml: languages", "'swa'", "'sw'"]),
        ({"generated": True}, ["own.yaml: languages", "sw"]),
        ({"generated": True, "languages": ["en", "af"]}, ["own.yaml: languages", "'af'"]),
        ({"pretraining": {"mms": {}}}, ["own.yaml: pretraining", "'mms'", "'msm'"]),
        ({"pretraining": {"msm": {"stepps": 3}}}, ["own.yaml: unknown key 'pretraining.msm.stepps'", "'steps'"]),
        ({"models": {"mms": {}}}, ["own.yaml: models", "'mms'", "'msm'"]),
        ({"models": {"msm_large": {"groups": 0}}}, ["own.yaml: models.msm_large.groups"]),
        ({"finetuning": {"nqq": {}}}, ["own.yaml: finetuning", "'nqq'", "'nq'"]),
        ({"finetuning": {"nq": {"epohs": 2}}}, ["own.yaml: unknown key 'finetuning.nq.epohs'", "'epochs'"]),
        ({"pairs": {"msn": {}}}, ["own.yaml: pairs", "'msn'", "'msm'"]),
        ({"pairs": {"msm": {"sentence": 3}}}, ["own.yaml: unknown key 'pairs.msm.sentence'", "'sentences'"]),
        ({"corpora": {"mrtydi_corpus": {}}}, ["own.yaml: corpora", "mrtydi_corpus is used whole", "cc100"]),
        ({"corpora": {"cc100": {"pages": 3}}}, ["own.yaml: corpora.cc100.documents", "corpora.cc100.pages"]),
        ({"corpora": {"wikipedia": {"pages": 0}}}, ["own.yaml: corpora.wikipedia.pages", "0"]),
        ({"corpora": 7}, ["own.yaml: corpora", "7"]),
        ({"encoding": {"query_lenght": 3}}, ["own.yaml: unknown key 'encoding.query_lenght'", "'query_length'"]),
        ({"like": "minature"}, ["own.yaml: like", "'minature'", "'miniature'"]),
        ({"like": ["miniature"]}, ["own.yaml: like", "['miniature']"]),
        ({"like": "miniature", "world": {"entites": 3}}, ["own.yaml: unknown key 'world.entites'", "'entities'"]),
        ({"standins": {"xlmrr": {}}}, ["own.yaml: standins", "'xlmrr'", "'xlmr'"]),
        ({"pretraining_languages": {"msn": ["en"]}}, ["own.yaml: pretraining_languages", "'msn'", "'msm'"]),
    ],
)
def test_a_wrong_value_in_a_scale_s_file_is_named(own, values, parts):
    with pytest.raises(SteleError) as error:
        own(**values)
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_a_scale_like_another_says_only_what_differs(own):
    changes = {"world": {"entities": 60}, "pretraining": {"msm": {"steps": 7}}}
    there = scale.load_scale("miniature")
    sizes = own(like="miniature", generated=True, benchmarks={}, **changes).settings.sizes  # {} takes nothing away
    assert sizes.title == "mine" and sizes.threads == 3 and sizes.generated
    assert sizes.world == there.world.model_copy(update={"entities": 60})
    assert sizes.pretraining["msm"] == {**there.pretraining["msm"], "steps": 7}
    assert sizes.pretraining["kept"] == there.pretraining["kept"] and sizes.benchmarks == there.benchmarks
    assert scale.load_scale("miniature") == there
    assert whole_scale({"like": "miniature", "languages": ["en", "sw"]}, "own.yaml")["languages"] == ["en", "sw"]


def test_a_scale_like_another_inherits_the_lists_of_its_own_languages(own):
    """Also those of pairs; a language that only a benchmark has (of NeuCLIR's: fa, zh) stays."""
    sizes = own(like="miniature", generated=True, languages=["en", "ar", "sw", "fr"]).settings.sizes
    assert sizes.pretraining_languages["msm"] == ["en", "ar", "sw"]
    assert sizes.benchmarks["belebele"] == ["ar-ar", "en-en", "sw-sw", "ar-en", "sw-en", "en-ar", "en-sw"]
    assert sizes.benchmarks["tatoeba_pairs"] == [] and sizes.benchmarks["neuclir_clir"] == ["fa", "zh"]
    of_all = own(like="one_gpu", generated=False, languages=["sw", "en"])  # that scale names no languages: it has all
    assert of_all.settings.sizes.benchmarks["mrtydi"] == of_all.data.languages("mrtydi") == ["sw"]


def test_a_scale_of_real_data_may_pretrain_in_some_of_all_languages(own):
    values = {"like": "paper", "generated": False, "pretraining_languages": {"msm": ["en", "sw"], "kept": ["sw", "te"]}}
    plan = own(**values)
    assert plan.pretraining.languages("msm") == ["en", "sw"] and plan.pretraining.languages("kept") == ["sw", "te"]
    assert plan.data.languages("mrtydi") == ["ar", "bn", "en", "fi", "id", "ja", "ko", "ru", "sw", "te", "th"]
    with pytest.raises(SteleError, match=r"pretraining_languages\.msm: unknown value 'swa'; did you mean 'sw'"):
        own(**values | {"pretraining_languages": {"msm": ["swa"]}})


def test_a_scale_may_choose_among_all_languages_of_a_benchmark_that_is_taken_whole(own):
    """Tatoeba's Dutch is in the files, and in no table."""
    plan = own(like="paper", generated=False, benchmarks={"tatoeba": ["nl", "fr"]})
    assert {*plan.data.languages("tatoeba")} == {"fr", "nl"}
    with pytest.raises(SteleError, match=r"benchmarks\.tatoeba: unknown value 'nl'"):
        own(like="miniature", generated=True, benchmarks={"tatoeba": ["nl", "fr"]})


@pytest.mark.parametrize(("like", "generated"), [("miniature", True), ("one_gpu", False)])
def test_a_scale_may_leave_a_model_no_language_at_all(own, like, generated):
    plan = own(like=like, generated=generated, languages=["sw", "te"])
    state, reason = plan.availability.model_problem("ccp_en_fr")
    assert state == "not in scale" and "(found none)" in reason
    assert plan.availability.model_problem("msm") is None and plan.stores.shared_caps["msm", "xlmr", "sw"]


def test_a_scale_that_is_unknown_or_does_not_say_whether_it_is_generated_is_refused(jobs, tmp_path):
    """It takes neither that nor its title from another."""
    (tmp_path / "own.yaml").write_text(yaml.safe_dump({"like": "study", "title": "mine"}))
    own, none = (str(tmp_path / name) for name in ("own.yaml", "none.yaml"))
    for name, said in (
        (own, "generated"),
        ("minature", "'minature'.*'miniature'"),
        (none, "none.yaml: no such file; correct the path"),
    ):
        with pytest.raises(SteleError, match=said):
            jobs(scale=name)


@pytest.mark.parametrize("name", catalogue.scale_names())
def test_every_scale_of_the_catalogue_passes(jobs, name):
    validation.check_models_of_scale(jobs(scale=name))


# `laptop` is what `stele adapt` trains by, and no row of a table
@pytest.mark.parametrize("name", sorted({*catalogue.scale_names()} - {"laptop"}))
@pytest.mark.parametrize("kind", ["pretraining", "finetuning"])
def test_no_variant_of_a_recipe_keeps_the_papers_sizes_where_its_siblings_are_cut(name, kind):
    """Siblings learn from one training set, or by one objective; a scale cuts all of them or none."""
    families: dict[str, set[str]] = {}
    for key, recipe in catalogue.load("recipes")[kind].items():
        families.setdefault(recipe.get("training_set") or recipe["objective"], set()).add(key)
    cut = getattr(scale.load_scale(name), kind).keys()
    for family, recipes in families.items():
        assert not recipes & cut or recipes <= cut, (family, recipes - cut)


def test_which_scale_and_why(tmp_path):
    def resolve(said=None, stamp=None, **environment):
        results = tmp_path / f"results-{stamp}"
        if stamp:
            results.mkdir(exist_ok=True)
            (results / "scale.txt").write_text(f"{stamp}\n")
        return scale.resolve_scale(model.Config(scale=said, results_dir=str(results)), environment)[0]

    assert resolve() == "miniature"
    assert resolve(stamp="small") == "small"
    assert resolve(stamp="small", STELE_DEFAULT_SCALE="paper") == "paper"
    assert resolve("miniature", stamp="small", STELE_DEFAULT_SCALE="paper") == "miniature"


def test_a_file_is_one_scale_however_its_path_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ways = ["own.yaml", "./own.yaml", str(tmp_path / "own.yaml"), f"../{tmp_path.name}/own.yaml"]
    assert {scale.resolve_scale(model.Config(scale=way), {})[0] for way in ways} == {"own.yaml"}


def test_a_second_scale_is_refused_with_the_two_ways_out(tmp_path):
    way = "give another folder (--config results_dir=results_paper)"
    for _ in range(2):
        scale.check_stamp(tmp_path / "results", "small", way)
    with pytest.raises(SteleError, match=r"results_dir=.*remove"):
        scale.check_stamp(tmp_path / "results", "paper", way)
