"""A thing of the user that is not there makes its own cells `unavailable`, with its name, and stops nothing else."""

import pytest

from stele.artifacts.results import RunKey

GONE = "/no/such/folder"


@pytest.fixture
def problems(paper):
    """problems(key=value...) -> row: (state, reason), None for a row that can be built."""

    def call(**values):
        plan = paper(**values)
        return {row: plan.rows.problem(RunKey(*row)) for row in plan.requested.all_rows}

    return call


@pytest.mark.parametrize(
    ("dataset", "needs", "without"),
    [
        ("nq_dpr", ("mrtydi", "xlmr", "zero_shot_nq"), ("lareqa", "xlmr", "zero_shot")),
        ("squad", ("lareqa", "xlmr", "zero_shot"), ("mrtydi", "xlmr", "multilingual")),
        ("nltk_punkt", ("xor_retrieve", "xlmr", "zero_shot_nq"), ("mrtydi", "xlmr", "multilingual")),
        ("cc100", ("mrtydi", "msm", "multilingual"), ("mrtydi", "xlmr", "multilingual")),
    ],
)
def test_a_missing_folder_of_a_dataset(problems, dataset, needs, without):
    found = problems(user_data={dataset: GONE})
    assert found[needs] == ("unavailable", f"user_data.{dataset}: {GONE} is not a folder")
    assert found[without] is None


def test_languages_that_a_benchmark_lacks_are_named_beside_those_that_it_has(problems):
    rows = problems(languages=["lv"])
    state, reason = rows["mrtydi", "xlmr", "multilingual"]
    assert state == "not in scale" and reason.endswith("none of them is among `languages`: lv")
    assert "mrtydi is in ar, bn, en, fi, id, ja, ko, ru, sw, te, th;" in reason


@pytest.mark.parametrize("languages", [["sw"], None])
def test_a_benchmark_that_a_scale_leaves_out_is_not_said_to_lack_the_chosen_language(jobs, languages):
    plan = jobs(scale="laptop", languages=languages)
    state, reason = plan.rows.problem(RunKey("mrtydi", "me5_small", "direct"))
    assert state == "not in scale" and reason.startswith("the scale laptop has no language of mrtydi")


def test_a_missing_folder_of_released_weights(problems):
    found = problems(models={"msm": {"checkpoint": "released"}}, user_data={"msm_base": GONE})
    assert found["lareqa", "msm", "zero_shot"] == ("unavailable", f"user_data.msm_base: {GONE} is not a folder")
    assert found["lareqa", "xlmr", "zero_shot"] is None


def test_a_checkpoint_that_is_neither_a_folder_nor_an_id_of_the_hub(problems):
    found = problems(models={"xlmr": {"checkpoint": GONE}})
    for model in ("xlmr", "msm"):  # msm starts from it
        state, reason = found["lareqa", model, "zero_shot"]
        assert state == "unavailable" and "models.xlmr.checkpoint" in reason and GONE in reason
    assert found["lareqa", "mbert", "zero_shot"] is None
    state, reason = next(problem for (_, model, _), problem in found.items() if model == "msm_large")
    assert state == "unavailable" and "models.xlmr.checkpoint" in reason, "it mines with that tokenizer"


def test_downloads_hold_the_user_s_models_that_no_table_names(paper):
    mine = {"checkpoint": "sentence-transformers/all-MiniLM-L6-v2"}
    ablation = {"base": "xlmr", "recipe": "msm", "override": {"languages": ["en", "xh"]}}
    found = paper(papers=["msm"], models={"mine": mine, "ablation": ablation}).requested.downloads()
    assert "resources/paper/checkpoints/mine/record.json" in found
    assert "resources/paper/datasets/cc100/xh/record.json" in found
    gone = paper(models={"mine": {"checkpoint": GONE}, "ablation": ablation}, user_data={"cc100": GONE})
    assert not any("checkpoints/mine" in path or "cc100" in path for path in gone.requested.downloads())


def test_a_count_reads_the_checkpoint_that_a_model_starts_from_and_nothing_is_trained_for_it(paper, miniature):
    plan = paper(models={"mine": {"base": "kept", "recipe": "kept"}})
    roots = {"ccp": "xlmr_large", "msm": "xlmr", "kept": "mcontriever", "mine": "mcontriever", "labse": "labse"}
    for model, root in roots.items():
        row = RunKey("parameters", model, "direct")
        assert plan.rows.inputs(row, "pt0-ft0")["encoder"] == plan.paths.checkpoint(root)
        assert plan.rows.downloads(row) == {plan.paths.checkpoint(root)}
    released = miniature(models={"ccp": {"checkpoint": "released"}})
    row = RunKey("parameters", "ccp", "direct")
    assert released.rows.inputs(row, "pt0-ft0")["encoder"] == released.paths.checkpoint("ccp"), "its own"


def test_a_model_that_cannot_be_trained_is_counted_where_its_base_is_there(miniature, tmp_path):
    plan = miniature(user_data={"wikipedia": str(tmp_path)})
    assert plan.rows.problem(RunKey("mrtydi", "kept", "zero_shot_nq"))[0] == "unavailable"
    assert plan.rows.problem(RunKey("parameters", "kept", "direct")) is None
