"""Rows of re-ranking, a job a pair of languages, and of question answering: what they read and cost."""

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue.schema.models import Model
from stele.cluster.requests import estimate
from stele.errors import SteleError
from stele.plan.rows import kind_named

ROW = RunKey("clef", "xlmr", "cv5")
SEEDS = "pt0-ft0"
WORD_SCORERS = [key for key, model in catalogue.entries(Model).items() if model.word_scorer]


def pairs(of, model):
    return [path.split("/")[-2] for path in of.rows.inputs(RunKey("clef", model, "cv5"), SEEDS)["pairs"]]


def test_each_pair_in_scale_is_a_job_and_the_row_joins_them(miniature):
    of = miniature()
    assert of.rows.problem(ROW) is None
    codes, of_all = set(of.settings.sizes.languages), of.data.benchmark("clef").languages
    assert pairs(of, "xlmr") == [pair for pair in of_all if {*pair.split("-")} <= codes]
    kind = of.rows.kind(ROW)
    inputs = kind.pair_inputs(ROW, SEEDS, "en-fr")
    assert inputs == {"encoder": of.paths.checkpoint("xlmr"), "data": [of.paths.dataset("clef", "all")]}
    with pytest.raises(SteleError, match="not in scale: ja-fr is not among"):
        kind.pair_inputs(ROW, SEEDS, "ja-fr")


def test_a_result_that_no_scorer_makes_is_refused_in_a_sentence_and_its_seeds_can_be_asked_for(miniature):
    of = miniature()
    row = RunKey("clef", "xlmr", "direct")  # which only word vectors have
    assert of.rows.seeds(row) == [SEEDS]
    with pytest.raises(SteleError, match="no rule builds clef/direct with xlmr"):
        of.rows.inputs(row, SEEDS)


def test_only_the_pairs_that_tables_and_figures_show_of_a_model_are_ranked(miniature):
    """Table 4 has 12, table 8 two, figures 4 and 5 two; of a model that none shows all are, as of one of the user's."""
    own = {"base": "mbert_uncased", "recipe": "clir_rr"}
    of = miniature(models={"mine": {**own, "tables": ["clir_lm/8"]}, "other": own})
    assert len(pairs(of, "xlmr")) == len(pairs(of, "mbert_gsw_qlm_rr_20")) == len(pairs(of, "other")) == 12
    assert pairs(of, "mbert_rr_5") == pairs(of, "mbert_qlm_both_20") == ["de-es", "en-de"]
    assert pairs(of, "mbert_gsw_qlm_rr_en_fr_w128") == pairs(of, "mine") == ["en-fr", "fr-en"]
    assert of.rows.languages(RunKey("clef", "mbert_rr_5", "cv5")) == ["de-es", "en-de"]
    assert pairs(miniature(papers=["msm"]), "mbert_rr_5") == ["de-es", "en-de"], "whatever else is built"
    german = miniature(languages=["de", "es"])
    assert pairs(german, "mbert_rr_5") == ["de-es"] and pairs(german, "xlmr") == ["de-es", "es-de"]
    state, reason = german.rows.problem(RunKey("clef", "mbert_gsw_qlm_rr_en_fr_w32", "cv5"))
    assert state == "not in scale" and "no pair of clef is built" in reason
    of.rows.kind(ROW).pair_inputs(RunKey("clef", "mbert_rr_5", "cv5"), SEEDS, "fr-de")  # each can be had by its name


def test_a_model_with_windows_of_attention_reads_a_length_of_its_own(jobs, miniature):
    for scale, lengths in {"paper": (512, 1024), "miniature": (48, 64)}.items():
        of = kind_named("reranked")(jobs(scale=scale).rows)
        for model, length in zip(("mbert_qlm_rr_10", "mbert_gsw_qlm_rr_10"), lengths, strict=True):
            assert of.recipe(RunKey("clef", model, "cv5")).length == length
    of = miniature().pretraining
    assert of.attention_window("mbert_gsw_qlm_rr_10") == 8 and of.attention_window("mbert_uncased") is None


def test_a_scale_forces_keys_of_the_recipe_and_the_paper_s_has_none(jobs):
    small, paper = (kind_named("reranked")(jobs(scale=scale).rows) for scale in ("miniature", "paper"))
    assert small.recipe(ROW).tuned_layers == 1 and paper.recipe(ROW).tuned_layers == 3
    code = paper.recipe(ROW._replace(setting="cv5_code")).given()
    assert (code["loss"], code["reset_layers"], code["dev_from_epoch"]) == ("pointwise", 0, 11)


def test_a_model_that_reads_from_left_to_right_is_told_before_it_is_downloaded(miniature):
    own = {"base": "qwen3_06b", "recipe": "clir_rr"}
    of = miniature(models={"mine": own, "both_ways": {**own, "encoding": {"pooling": "mean"}}})
    for model in ("qwen3_06b", "harrier_270m", "mine"):
        state, reason = of.rows.problem(ROW._replace(model=model))
        assert state == "not built" and "has causal attention" in reason
    assert not any(of.rows.problem(ROW._replace(model=model)) for model in ("embeddinggemma", "both_ways"))


def test_without_clef_no_pair_is_ranked(paper, tmp_path):
    with pytest.raises(SteleError, match="unavailable"):
        paper().rows.kind(ROW).pair_inputs(ROW, SEEDS, "en-de")
    of = paper(user_data={"clef": str(tmp_path)})
    assert of.rows.problem(ROW) is None and len(of.rows.inputs(ROW, SEEDS)["pairs"]) == 12


def test_the_cost_of_a_job_is_that_of_its_pairs_and_of_what_is_scored(paper, tmp_path):
    """20 epochs of 5 folds: 3/5 of 177 x 29 pairs each, 358 documents of each topic scored after each and once more."""
    of = paper(user_data={"clef": str(tmp_path)})
    job = estimate(of, "rerank", {**ROW._asdict(), "seeds": SEEDS, "part": "en-de"})
    assert job.steps == 20 * 5 * 177 * 29 * 3 // 5 // 10
    layers = 12 * 8 * 768**2 + 12 * 4 * 768 * 3072  # operations of all layers for one token, attention left out
    trained, scored = 2 * 20 * 3 * 177 * 29, 21 * 177 * 358
    assert job.flops["training"] == pytest.approx(trained * 1.5 * 512 * layers, rel=0.15)
    assert job.flops["encoding"] == pytest.approx(scored * 420 * layers, rel=0.15)


def test_a_scorer_over_words_reads_the_vectors_of_its_pair_and_no_encoder(miniature):
    of = miniature(papers=["clir_lm"])
    row = RunKey("clef", "drmm_fasttext", "cv5")
    kind = of.rows.kind(row)
    vectors = [of.paths.dataset("fasttext_aligned", code) for code in ("en", "fr")]
    assert kind.pair_inputs(row, SEEDS, "en-fr") == {"vectors": vectors, "data": [of.paths.dataset("clef", "all")]}
    given = [f"fasttext_aligned:{code}={path}" for code, path in zip(("en", "fr"), vectors, strict=True)]
    assert kind.start(row, SEEDS, "en-fr") == f"--vectors {' '.join(given)}"
    assert of.rows.downloads(row) >= {of.paths.dataset("clef", "all"), *vectors}
    assert not any("checkpoints" in path for path in of.rows.downloads(row))
    assert kind.start(ROW, SEEDS, "en-fr") == f"--encoder {of.paths.checkpoint('xlmr')}"


def test_the_setting_of_a_word_scorer_follows_from_whether_it_learns(miniature):
    of = miniature()
    settings = {model: ("cv5" if "mm" in model or "nrm" in model else "direct") for model in WORD_SCORERS}
    for model, fits in settings.items():
        rows = [RunKey("clef", model, setting) for setting in ("cv5", "cv5_code", "direct")]
        assert [row.setting for row in rows if of.rows.problem(row) is None] == [fits]
        assert {of.rows.problem(row)[0] for row in rows if row.setting != fits} == {"not built"}
    assert of.rows.problem(ROW._replace(setting="direct"))[0] == "not built"


def test_seeds_are_those_of_fine_tuning_by_which_folds_are_dealt_and_what_learns_nothing_has_one(miniature):
    of = miniature(seeds={"pretraining": [0, 1], "finetuning": [0, 1]})
    assert of.rows.seeds(RunKey("clef", "tbt_qt_ql", "direct")) == ["pt0-ft0"]
    assert of.rows.seeds(ROW) == of.rows.seeds(ROW._replace(model="knrm_fasttext")) == ["pt0-ft0", "pt0-ft1"]


def test_bilingual_vectors_serve_both_directions_of_their_pairs_and_leave_the_others_out(paper, tmp_path):
    own = {"clef": str(tmp_path), "smart_shuffling": str(tmp_path)}
    of, row = paper(user_data=own), RunKey("clef", "knrm_smart_shuffling", "cv5")
    kind = of.rows.kind(row)
    assert of.rows.problem(row) is None and of.rows.languages(row) == ["de-en", "en-de", "en-fr", "fr-en"]
    assert [path.split("/")[-2] for path in of.rows.inputs(row, SEEDS)["pairs"]] == of.rows.languages(row)
    record = of.paths.dataset("smart_shuffling", "en-fr")
    for pair in ("fr-en", "en-fr"):
        assert kind.pair_inputs(row, SEEDS, pair)["vectors"] == [record]
    with pytest.raises(SteleError, match="unavailable: smart_shuffling has no vectors of de-fr"):
        kind.pair_inputs(row, SEEDS, "de-fr")
    assert len(of.rows.left_out(row)) == 8
    some = paper(user_data=own, languages=["es", "fr"])
    assert some.rows.problem(row) == ("unavailable", "smart_shuffling has no vectors of es-fr")


def test_the_rows_of_ours_stand_in_table_4(miniature):
    of = miniature(papers=["clir_lm"])
    assert {"drmm_fasttext_500", "knrm_fasttext_500"} <= set(of.tables.extra_rows("clir_lm/04"))
    rows = [row for row in of.tables.rows_of("clir_lm/04") if row.model in WORD_SCORERS]
    assert len(rows) == 9 and not any(map(of.rows.problem, rows))
    terms = {row.model: getattr(of.rows.kind(row).recipe(row), "document_terms", None) for row in rows}
    assert {model for model, first in terms.items() if first} == {"drmm_fasttext_500", "knrm_fasttext_500"}


def test_facts_of_analysis_are_part_of_what_word_scorers_are_made_by(miniature):
    kind = miniature().rows.kind(ROW)
    assert kind.code_data(RunKey("clef", "drmm_fasttext", "cv5")) == ("catalogue/analyzers.yaml",)
    assert kind.code_data(ROW) == ()


def test_the_cost_of_word_scorers_is_reading_and_small_steps(paper, tmp_path):
    of, job = paper(user_data={"clef": str(tmp_path)}), {"benchmark": "clef", "seeds": SEEDS, "part": "en-de"}
    trained, untrained = (
        estimate(of, "rerank", {**job, "model": model, "setting": setting})
        for model, setting in (("drmm_fasttext", "cv5"), ("bwe_agg_idf", "direct"))
    )
    assert not trained.flops and not untrained.flops
    assert trained.cpu_seconds - untrained.cpu_seconds == pytest.approx(20 * 3 * 177 * 29 / 10 * 0.0015)
    assert 60 < untrained.cpu_seconds < 3600


# --- question answering: fine-tunings, inputs and costs ---------------------------------------------------------------
ANSWERED = RunKey("mlqa", "xlmr", "zero_shot")


def test_a_row_is_one_job_that_reads_the_questions_and_what_it_learns_from(miniature):
    of = miniature()
    assert of.rows.problem(ANSWERED) is None
    assert of.rows.inputs(ANSWERED, SEEDS) == {
        "encoder": of.paths.checkpoint("xlmr"),
        "data": [of.paths.dataset("mlqa", "all")],
        "training_data": [of.paths.dataset("squad2", "all")],
    }
    needed = {of.paths.dataset("mlqa", "all"), of.paths.dataset("squad2", "all"), of.paths.checkpoint("xlmr")}
    assert of.rows.downloads(ANSWERED) == needed
    w = type("W", (), {"benchmark": "mlqa", "model": "xlmr", "setting": "zero_shot", "seeds": SEEDS})
    assert of.scoring.inputs(w)["retrieval"] == "results/mlqa/xlmr/zero_shot/pt0-ft0/answers.json"


def test_pairs_are_those_whose_languages_are_both_in_scale(miniature, paper):
    assert miniature(languages=["es", "en"]).rows.languages(ANSWERED) == ["en-es", "es-en", "es-es"]
    paper = paper().rows
    assert paper.languages(ANSWERED) == ["de-de", "de-en", "de-es", "en-de", "en-es", "es-de", "es-en", "es-es"]
    assert paper.problem(ANSWERED) is None, "it needs nothing of the user"


def test_one_s_own_questions_are_answered_in_all_their_pairs(miniature, tmp_path):
    of = miniature(user_data={"mlqa": str(tmp_path)})
    assert of.rows.problem(ANSWERED) is None
    assert of.rows.languages(ANSWERED) == of.data.benchmark("mlqa").languages


@pytest.mark.parametrize(("metric", "is_built"), [("f1", False), ("f1_squad", True)])
def test_metrics_must_know_the_language_of_the_answers(jobs, tmp_path, metric, is_built):
    facts = {"title": "Mine", "languages": ["en-fr"], "data": ["mine"], "judgments": ["mine"]}
    data = {"title": "Mine", "version": "1", "parts": "all", "languages": ["en", "fr"], "files": [], "licence": "mine"}
    made = jobs(
        scale="paper",
        add_datasets={"mine": {**data, "wall": "private", "how": "it is yours"}},
        add_benchmarks={"mine": {**facts, "module": "mlqa", "metrics": [metric]}},
        add_settings={"mine": {"zero_shot": {"kind": "answered", "answering": "squad2"}}},
        user_data={"mine": str(tmp_path)},
    )
    problem = made.rows.problem(ANSWERED._replace(benchmark="mine"))
    assert problem is None if is_built else "f1: unknown MLQA answer language 'fr'" in problem[1]


def test_the_recipe_is_the_papers_and_where_the_code_differs_another(jobs):
    paper, small = (kind_named("answered")(jobs(scale=scale).rows) for scale in ("paper", "miniature"))
    whole = paper.recipe(ANSWERED).given()
    assert (whole["epochs"], whole["batch"], whole["learning_rate"], whole["length"]) == (10, 16, 1e-5, 512)
    assert whole["training_set"] == {"module": "squad2", "data": ["squad2"]}
    code = paper.recipe(ANSWERED._replace(setting="zero_shot_code")).given()
    assert {key for key in whole | code if whole.get(key) != code.get(key)} == {"stride", "dev_from_epoch"}
    assert small.recipe(ANSWERED).epochs < 10 and small.recipe(ANSWERED).threads == 1


def test_the_cost_is_that_of_ten_epochs_and_of_what_is_answered(paper):
    of = paper()
    job = estimate(of, "answer", {"benchmark": "mlqa", "model": "xlmr", "setting": "zero_shot", "seeds": SEEDS})
    assert job.steps == 10 * -(-130_319 // 16)
    layers = 12 * 8 * 768**2 + 12 * 4 * 768 * 3072  # operations of all layers for one token, attention left out
    assert job.flops["training"] == pytest.approx(3 * 10 * 130_319 * 350 * layers, rel=0.15)
    assert job.flops["encoding"] == pytest.approx(8 * (10 * 430 + 4110) * 190 * layers, rel=0.15)
