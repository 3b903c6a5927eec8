"""What config.yaml says of models and settings is refused before anything is built, not by a job hours later."""

import copy
from contextlib import nullcontext

import pytest

from stele import catalogue
from stele.errors import SteleError
from stele.plan.rows import check_settings

SHIFTED = {"kind": "calibrated", "operation": "shifted"}


@pytest.mark.parametrize(
    ("benchmark", "setting", "message"),
    [
        ("mrtydi", {"kind": "dense", "recipe": "nqq"}, "mine.recipe: unknown fine-tuning recipe 'nqq'"),
        ("mrtydi", {"kind": "fused", "term": "bm2", "dense": "direct"}, "mine.term: unknown lexical model 'bm2'"),
        ("mrtydi", {"kind": "fused", "term": "bm25", "dense": "none"}, "mine.dense: unknown setting 'none'"),
        ("mrtydi", {"kind": "fused", "term": "bm25", "dense": "mine"}, "mine.dense: unknown setting 'mine'"),
        ("clef", {"kind": "reranked", "reranking": "cv"}, "mine.reranking: unknown re-ranking recipe 'cv'"),
        ("mlqa", {"kind": "answered", "answering": "squad"}, "mine.answering: unknown recipe of question answering"),
        ("tatoeba", SHIFTED | {"calibration": "cpp"}, "mine.calibration: unknown .* 'cpp'; did you mean 'ccp'"),
        # one job rotates the pairs of all benchmarks, and would fail for Tatoeba's, too
        ("mrtydi", SHIFTED | {"calibration": "ccp"}, "mine.calibration: want languages in pairs, .* .found ar"),
        # its encoder would be fine-tuned first
        ("mlqa", {"kind": "dense", "recipe": "nq"}, "mine.kind: dense: benchmark mlqa has no queries to search"),
        ("mrtydi", {"kind": "answered", "answering": "squad2"}, "mine.kind: answered: .* mrtydi has no questions"),
        ("xor_retrieve", {"kind": "vectors", "data": ["nqq"]}, "mine.data: unknown dataset 'nqq'"),
        ("xor_retrieve", {"kind": "vectors", "metrics": ["mrrr@10"]}, "mine.metrics: unknown metric 'mrrr'"),
    ],
)
def test_a_setting_s_names_are_checked(checked, benchmark, setting, message):
    with pytest.raises(SteleError, match=f"config.yaml: add_settings.{benchmark}.{message}"):
        checked(scale="paper", add_settings={benchmark: {"mine": setting}})


@pytest.mark.parametrize(
    "setting",
    [
        {"kind": "dense", "recipe": None},
        {"kind": "dense", "recipe": "wiki-ar"},
        {"kind": "fused", "term": "bm25", "dense": "direct"},
    ],
)
def test_a_setting_of_known_names_is_taken(checked, setting):
    checked(scale="paper", add_settings={"mrtydi": {"mine": setting}})


def test_the_recipes_of_the_catalogue_s_settings_are_checked_whatever_results_exist():
    values = copy.deepcopy(catalogue.shipped("catalogue/settings.yaml"))
    check_settings(values, "catalogue/settings.yaml")
    values["settings"]["mrtydi"]["zero_shot_nq"]["recipe"] = "nqq"
    message = "catalogue/settings.yaml: settings.mrtydi.zero_shot_nq.recipe: unknown fine-tuning recipe 'nqq'; did you"
    with pytest.raises(SteleError, match=message):
        check_settings(values, "catalogue/settings.yaml")


def added(kind="dense", **entry):
    """Values of config.yaml: a benchmark `b` of Mr. TyDi's data with a setting of a kind."""
    data = {"title": "B", "data": ["mrtydi", "mrtydi_corpus"], "judgments": ["mrtydi"], "module": "mrtydi"}
    settings = {"b": {"direct": {"kind": kind}}}
    return {"scale": "paper", "add_benchmarks": {"b": {**data, **entry}}, "add_settings": settings}


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("mrrr@10", "unknown metric 'mrrr'; did you mean 'mrr'"),
        ("f1", "metric f1 scores answers to questions; the benchmark has rankings of judged passages"),
    ],
)
def test_a_benchmark_s_metrics_are_checked(checked, metric, message):
    with pytest.raises(SteleError, match=rf"add_benchmarks\.b\.metrics: {message}"):
        checked(**added(languages=["sw"], metrics=[metric]))


@pytest.mark.parametrize(
    ("kind", "depth", "message"),
    [
        ("dense", {}, "missing; say how many passages of a ranking are kept, at least 100"),
        ("dense", {"depth": 20}, "20 is less than the metrics look at .@100.; give 100"),
        ("dense", {"depth": 100}, None),
        ("vectors", {}, None),
    ],
)
def test_rankings_are_as_deep_as_their_metrics_look(checked, kind, depth, message):
    """Recall at 100 of 20 passages would be a smaller number, without a word."""
    values = added(kind, languages=["sw"], metrics=["ndcg@10", "recall@100"], **depth)
    with pytest.raises(SteleError, match=rf"add_benchmarks\.b\.depth: {message}") if message else nullcontext():
        checked(**values)


@pytest.mark.parametrize("other", [{}, {"neuclir_mono": {"mine": {"kind": "dense", "recipe": "marco"}}}])
def test_a_setting_that_searches_shared_collections_is_theirs_too(checked, other):
    """neuclir_mono's setting of the same name encodes them; its vectors would be refused after days."""
    mine = {"neuclir_clir": {"mine": {"kind": "dense", "recipe": "nq"}}}
    message = r"add_settings\.neuclir_clir\.mine: .* neuclir_mono's setting mine encodes; give that one the same recipe"
    with pytest.raises(SteleError, match=message):
        checked(scale="paper", add_settings=mine | other)
    checked(scale="paper", add_settings=mine | {"neuclir_mono": mine["neuclir_clir"]})


def test_a_benchmark_s_languages_are_those_of_its_datasets(checked):
    with pytest.raises(SteleError, match=r"add_benchmarks\.b\.languages: none of mrtydi, mrtydi_corpus has zu"):
        checked(**added(languages=["sw", "zu"], metrics=["mrr@100"], depth=100))
    checked(**added(languages=["sw", "th"], metrics=["mrr@100"], depth=100))


@pytest.mark.parametrize(
    "models",
    [
        {"mine": {"checkpoint": "a/b", "base": "xlmr", "recipe": "msm"}},
        {"mine": {"checkpoint": "a/b", "base": "xlmr"}},
        {"mbert": {"base": "xlmr", "recipe": "msm"}},  # the catalogue has its checkpoint
    ],
)
def test_a_base_or_a_recipe_that_would_change_nothing_is_refused(checked, models):
    (name,) = models
    with pytest.raises(SteleError, match=f"models.{name}: {name} is read from a checkpoint.*`checkpoint: train`"):
        checked(scale="paper", models=models)
    checked(scale="paper", models={name: {**models[name], "recipe": "msm", "checkpoint": "train"}})


def test_an_override_of_threads_is_refused_since_the_job_reserves_the_scale_s(checked):
    models = {"mine": {"base": "xlmr", "recipe": "msm", "override": {"threads": 7}}}
    with pytest.raises(SteleError, match=r"models\.mine\.override\.threads: .*the scale's own `threads`"):
        checked(models=models)


@pytest.mark.parametrize(
    ("base", "recipe", "override", "message"),
    [
        ("xlmr", "clir_gsw", {}, "xlmr reads at most 512 tokens, but mine is trained on texts of 1024 .`length`."),
        ("xlmr", "clir_gsw", {"length": 512}, None),
        ("mbert_gsw", "clir_gsw", {}, None),  # windows over 1,024 positions
        ("mbert_uncased", "gsw", {}, None),
        ("xlmr_long", "clir_gsw", {}, None),  # unknown until it is fetched
        ("folder", "crop", {"mlm_share": 0.1, "mlm_length": 65}, "folder reads at most 64 tokens.*65 .`mlm_length`."),
        ("folder", "crop", {"mlm_share": 0.0, "mlm_length": 65}, None),
    ],
)
def test_texts_longer_than_the_base_can_read_are_refused(checked, tmp_path, base, recipe, override, message):
    """Training would refuse them after hours of mining."""
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 66, "model_type": "roberta", "pad_token_id": 1}')
    models = {"folder": {"checkpoint": str(tmp_path)}}
    models["mine"] = {"base": base, "recipe": recipe, "override": override}
    where = rf"models\.mine\.override: {message}"
    with pytest.raises(SteleError, match=where) if message else nullcontext():
        checked(scale="paper", models=models)


# --- names in the user's own tables -----------------------------------------------------------------------------------
TABLE = """
paper: own
number: 1
caption: One model.
stub: Model
target: {benchmark: mrtydi, setting: direct, metric: mrr@100}
columns:
- {key: avg, header: AVG, target: {average: [sw, te]}}
groups:
- key: all
  rows:
  - {key: msm, label: MSM, target: {model: msm}, printed: [30.0]}
"""


@pytest.fixture
def own_paper(miniature, tmp_path):
    """own_paper(old, new, key=value...) -> the plan with a paper whose table has `new` in place of `old`."""

    def call(old="", new="", **values):
        folder = tmp_path / "own"
        folder.mkdir(exist_ok=True)
        (folder / "paper.yaml").write_text("name: Own\n")
        (folder / "table_01.yaml").write_text(TABLE.replace(old, new) if old else TABLE)
        return miniature(papers=[str(folder)], **values)

    return call


def test_the_names_in_a_table_are_checked_before_its_rows_are_built(own_paper):
    assert [row.path for row in own_paper().tables.rows_of("own/01")] == ["mrtydi/msm/direct"]
    with pytest.raises(SteleError, match=r"own/table_01\.yaml: mrtydi: unknown language 'tee'; did you mean 'te'"):
        own_paper("average: [sw, te]", "average: [sw, tee]").tables.rows_of("own/01")
    mine = own_paper("model: msm", "model: mine", models={"mine": {"checkpoint": "my/model"}})
    assert [row.path for row in mine.tables.rows_of("own/01")] == ["mrtydi/mine/direct"]
