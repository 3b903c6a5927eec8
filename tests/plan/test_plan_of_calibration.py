"""CCP as it is planned: one calibration an encoder serves its benchmarks; what its pretraining reads."""

from itertools import product
from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import RetrievalReader
from stele.catalogue.scales import check_scale
from stele.errors import SteleError
from stele.snakemake_support import fingerprint

CALIBRATED = RunKey("tatoeba", "xlmr_large", "calibrated")


@pytest.fixture(scope="module")
def small(miniature):
    return miniature()


def test_two_benchmarks_share_one_calibration_of_an_encoder(small):
    settings = product(("tatoeba", "tatoeba_pairs"), ("shifted", "scaled", "calibrated"))
    rows = [RunKey(benchmark, "xlmr_large", setting) for benchmark, setting in settings]
    learnt = {small.rows.inputs(row, "pt0-ft0")["calibration"] for row in rows}
    assert learnt == {small.paths.calibration("xlmr_large", "ccp", "pt0-ft0")}
    assert small.calibration.benchmarks("ccp") == ["tatoeba", "tatoeba_pairs"]
    assert "calibration" not in small.rows.inputs(CALIBRATED._replace(setting="direct"), "pt0-ft0")


def test_the_pairs_are_those_of_all_benchmarks_in_one_direction_each(small, plan, paper):
    pairs = ["ar-en", "es-en", "fr-en", "ru-en", "sw-en", "th-en", "ar-ru", "ja-fr"]
    assert small.calibration.pairs("ccp") == pairs
    languages = ["ar", "en", "es", "fr", "ja", "ru", "sw", "th"]
    documents = {language: small.paths.documents("cc100", language) for language in languages}
    assert small.calibration.documents("ccp") == documents
    learnt = plan.calibration.pairs("ccp")
    assert len(learnt) == len({frozenset(pair.split("-")) for pair in learnt}) == 74 + 15
    setting = {"kind": "calibrated", "calibration": "ccp", "operation": "shifted"}
    added = paper(add_settings={"xsa": {"calibrated": setting}}).calibration
    assert "en-fr" in added.languages("xsa") and added.pairs("ccp") == [*learnt, "de-es", "es-fr"]


@pytest.mark.parametrize("benchmark", ["tatoeba", "tatoeba_pairs"])
def test_a_pair_is_called_as_the_benchmark_calls_its_first_query_set(paper, benchmark):
    """A pair that the plan learns and the benchmark calls otherwise would not be there when it is looked up."""
    plan, reader = paper(), load_reader(benchmark, RetrievalReader)
    for language in plan.data.benchmark(benchmark).languages:
        assert plan.calibration.pair(benchmark, language) == reader.query_sets([language])[0].name


def test_all_benchmarks_of_a_calibration_encode_alike(jobs):
    for scale in ("miniature", "small", "paper"):
        plan = jobs(scale=scale)
        learnt_of = plan.calibration.benchmarks("ccp")[0]
        for model in ("ccp", "xlmr", "labse", "msm_large"):
            for benchmark in plan.calibration.benchmarks("ccp"):
                assert plan.retrieval.encoding(benchmark, model) == plan.retrieval.encoding(learnt_of, model)


def test_seeds_draw_anew(miniature):
    plan = miniature(seeds={"pretraining": [0], "finetuning": [0, 1]})
    seeds = plan.rows.seeds(CALIBRATED)
    assert len({plan.rows.inputs(CALIBRATED, name)["calibration"] for name in seeds}) == len(seeds) == 2


def test_a_language_without_a_text_is_left_out_with_the_reason(plan):
    assert plan.rows.problem(CALIBRATED) is None
    left_out, languages = plan.rows.left_out(CALIBRATED), plan.rows.languages(CALIBRATED)
    assert len(plan.data.languages("tatoeba")) == 112 == len(left_out) + len(languages)
    assert left_out["ang"] == "CC-100 has no text in ang, which calibration would be learnt from"
    assert "als" in left_out, "a Wikipedia that stands in elsewhere is no CommonCrawl"
    assert set(catalogue.load("benchmarks")["tatoeba"]["languages"]) <= set(languages)
    assert plan.rows.left_out(CALIBRATED._replace(setting="direct")) == {}
    assert plan.requested.context()["left_out"][CALIBRATED.name] == left_out


def test_one_s_own_text_is_in_the_languages_that_are_there(paper, tmp_path):
    for name in ("fr.txt", "en.txt", "de.txt"):
        (tmp_path / name).write_text("a sentence\n")
    plan = paper(user_data={"cc100": str(tmp_path)})
    assert plan.rows.languages(CALIBRATED) == ["de", "fr"]
    assert plan.calibration.pairs("ccp") == ["de-en", "fr-en", "fr-de"]
    reason = f"user_data.cc100: {tmp_path} has no text in el, which calibration would be learnt from"
    assert plan.rows.left_out(CALIBRATED)["el"] == reason
    (tmp_path / "en.txt").unlink()
    state, reason = paper(user_data={"cc100": str(tmp_path)}).rows.problem(CALIBRATED)
    assert state == "unavailable" and "has no text in" in reason


def test_a_text_of_another_world_is_not_learnt_from(miniature, tmp_path):
    plan = miniature(user_data={"tatoeba": str(tmp_path)})
    state, reason = plan.rows.problem(CALIBRATED)
    assert state == "unavailable" and reason.startswith("calibration: tatoeba is your own data")
    assert "user_data: {cc100: YOUR_FOLDER}" in reason
    assert plan.rows.problem(CALIBRATED._replace(benchmark="tatoeba_pairs")) is None
    assert plan.calibration.pairs("ccp") == ["ar-ru", "ja-fr"], "none that no row can use"


def test_the_texts_are_downloaded(small):
    downloads = small.rows.downloads(CALIBRATED)
    assert {small.paths.dataset("cc100", "ja"), small.paths.dataset("tatoeba", "all")} <= downloads


@pytest.mark.parametrize(
    ("values", "pairs"),
    [
        ({"scale": "miniature"}, ["ar-ru", "ja-fr"]),
        ({"scale": "small"}, ["fr-de", "ar-ru", "ja-fr"]),
        ({"scale": "paper", "languages": ["fr", "de", "nl"]}, ["fr-de", "nl-de"]),
        ({"scale": "paper", "languages": ["fr"]}, []),
    ],
)
def test_a_pair_is_built_where_both_of_its_languages_are(jobs, values, pairs):
    assert jobs(**values).data.languages("tatoeba_pairs") == pairs


def test_what_a_scale_forces_reaches_the_command(plan, small):
    paper, small = plan.calibration.recipe("ccp"), small.calibration.recipe("ccp")
    assert (paper.sentences, paper.rotation.discriminator_width, paper.threads) == (200_000, 2048, 8)
    assert small.sentences == 2500 and small.rotation.refinements == paper.rotation.refinements == 5
    assert small.rotation.input_dropout == paper.rotation.input_dropout, "what a scale leaves out is MUSE's"


def test_a_wrong_calibration_of_a_scale_is_named():
    values = {"title": "mine", "generated": True, "languages": ["en", "sw"], "calibration": {"ccp": {"sentences": 100}}}
    with pytest.raises(SteleError, match="refinement_vectors: 15000 exceeds the 100 `sentences`"):
        check_scale(values, "mine.yaml")


# --- CCP reads what is mined for MSM, whatever its window, and its code is no other objective's -----------------------
def own(paper, **override):
    return paper(models={"mine": {"base": "xlmr_large", "recipe": "ccp", "override": override}})


def test_it_reads_the_documents_that_are_mined_for_msm(paper):
    """The large model has the base model's tokens, so the very files are shared; another window mines nothing."""
    plan = own(paper)
    mine, msm = (plan.stores.pairs(SimpleNamespace(model=model)) for model in ("mine", "msm"))
    assert mine == msm and {name.split(":")[0] for name in mine} == {"msm", "mlm"}
    assert own(paper, window=3).stores.pairs(SimpleNamespace(model="mine")) == mine


def test_its_code_is_no_other_objective_s(paper):
    plan = own(paper)
    reached = {model: fingerprint.closure(plan.pretraining.modules(model)) for model in ("mine", "msm", "crop")}
    files = {model: {name for name in modules if "ccp" in name} for model, modules in reached.items()}
    assert files["msm"] == files["crop"] == {*fingerprint.closure(["pretraining.pretrain"])} & files["mine"] == set()
    assert files["mine"] == {f"training.objectives.{name}" for name in ("ccp", "_ccp_bank", "_ccp_heads")}


@pytest.mark.parametrize(
    ("override", "wanted"),
    [({"window": 1}, "window: 1 sentence is the centre alone"), ({"bank": 512}, "bank: 512 is less than the 1024")],
)
def test_overrides_that_make_no_sense_are_named(paper, override, wanted):
    with pytest.raises(SteleError, match=wanted):
        own(paper, **override).pretraining.recipe("mine")


@pytest.mark.parametrize("scale", ["miniature", "paper"])
def test_every_row_of_its_tables_can_be_built_but_those_of_three_models_without_a_checkpoint(jobs, scale):
    plan = jobs(scale=scale, papers=["ccp"])
    problems = {row: plan.rows.problem(row) for row in plan.tables.all_rows()}
    without = {row.model: problem for row, problem in problems.items() if row.model in ("criss", "laser", "unicoder")}
    assert {state for state, _ in without.values()} == {"unavailable"} and len(without) == 3
    assert "fairseq only" in without["criss"][1] and "no transformer" in without["laser"][1]
    assert "12 layers" in without["unicoder"][1]
    assert not any(problem and problem[0] == "not built" for problem in problems.values())


def test_such_a_model_can_be_given_as_a_folder(paper, tmp_path):
    plan = paper(models={"criss": {"checkpoint": str(tmp_path)}})
    assert plan.availability.model_problem("criss") is None
