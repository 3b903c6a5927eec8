"""load_results: every value of a results folder in one tidy table; the notebook that uses it runs."""

import pytest

import stele
from stele.artifacts.results import COLUMNS, Metric, Result, mean_over_seeds
from stele.errors import SteleError
from stele.recipes.encoding import EncodingSpec, write_spec
from tests.encoders.tiny_models import make_folder
from tests.sealed import write_sealed
from tests.waiting import PATIENCE

METRICS = {
    "mrr@100": {"languages": {"en": 0.5, "sw": 0.25}, "average": 0.375, "n": {"en": 10, "sw": 5}},
    "recall@100": {"languages": {"en": 0.9, "sw": 0.8}, "average": 0.85, "n": {"en": 10, "sw": 5}},
}


def write(folder, name, setting=None, seeds=({"pretraining": 0, "finetuning": 0},), metrics=METRICS):
    benchmark, model, own_setting = name.split("/")[:3]
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    row = {"benchmark": benchmark, "model": model, "setting": setting or own_setting, "seeds": seeds}
    return write_sealed(path, {**row, "metrics": metrics, "labels": ["generated data"]})


def test_load_results_gives_one_row_a_value(tmp_path):
    write(tmp_path, "mrtydi/msm/multilingual")
    frame = stele.load_results(tmp_path)
    assert list(frame.columns) == COLUMNS and len(frame) == 6
    row = frame.query("metric == 'mrr@100' and language == 'sw'").iloc[0]
    key = ["benchmark", "model", "setting", "seeds"]
    assert row[key].tolist() == ["mrtydi", "msm", "multilingual", "pt0-ft0"]
    assert (row["value"], row["n"], row["labels"]) == (0.25, 5, "generated data")
    average = frame.query("metric == 'mrr@100' and language == 'average'").iloc[0]
    assert (average["value"], average["n"]) == (0.375, 15)


def test_means_and_single_seeds_are_apart(tmp_path):
    seeds = ({"pretraining": 0, "finetuning": 0}, {"pretraining": 0, "finetuning": 1})
    mean = {"mrr@100": METRICS["mrr@100"] | {"std": {"languages": {"en": 0.1, "sw": None}, "average": 0.2}}}
    write(tmp_path, "mrtydi/msm/multilingual", seeds=seeds, metrics=mean)
    for number, seed in enumerate(seeds):
        write(tmp_path, f"mrtydi/msm/multilingual/pt0-ft{number}", seeds=seed)
    (tmp_path / "mrtydi/msm/multilingual/pt0-ft0").mkdir()
    (tmp_path / "mrtydi/msm/multilingual/pt0-ft0/retrieval.json").write_text("{}")
    means = stele.load_results(tmp_path)
    assert set(means["seeds"]) == {"pt0-ft0, pt0-ft1"} and len(means) == 3
    assert means.set_index("language")["std"].dropna().to_dict() == {"en": 0.1, "average": 0.2}
    each = stele.load_results(tmp_path, each_seed=True)
    assert set(each["seeds"]) == {"pt0-ft0", "pt0-ft1"} and len(each) == 12


def test_a_mean_is_of_the_metrics_and_languages_that_all_seeds_have():
    guess = {"languages": {"en": 0.1}, "errors": {"en": 0.02}}
    both = Metric(languages={"en": 0.5, "sw": 0.25}, guess=guess)
    one = Metric(languages={"en": 0.7}, guess=guess)
    row = {"benchmark": "mrtydi", "model": "msm", "setting": "direct"}
    seeds = [Result(**row, metrics={"mrr@100": both, "map": both}), Result(**row, metrics={"mrr@100": one})]
    (mean,) = mean_over_seeds(seeds).metrics.values()
    assert mean.languages == {"en": pytest.approx(0.6)} and mean.values.languages == {"en": [0.5, 0.7]}
    assert mean.guess == Metric(languages={}, guess=guess).guess


def test_aliases_and_other_files_are_not_counted_twice(tmp_path):
    write(tmp_path, "mrtydi/msm/zero_shot_marco")
    write(tmp_path, "mrtydi/msm/zero_shot", setting="zero_shot_marco")
    (tmp_path / "tables/msm").mkdir(parents=True)
    (tmp_path / "tables/msm/table_01.json").write_text("{}")
    assert len(stele.load_results(tmp_path)) == 6


def test_damaged_and_missing_results_are_named_and_an_empty_folder_gives_an_empty_table(tmp_path):
    with pytest.raises(SteleError, match="no such folder of results"):
        stele.load_results(tmp_path / "nowhere")
    assert list(stele.load_results(tmp_path).columns) == COLUMNS
    write(tmp_path, "mrtydi/msm/multilingual").write_text('{"metrics": ')
    with pytest.raises(SteleError, match=r"mrtydi/msm/multilingual\.json: not a readable result: not JSON"):
        stele.load_results(tmp_path)
    write(tmp_path, "mrtydi/msm/multilingual", metrics={"mrr@100": {"languages": {"en": "high"}}})
    with pytest.raises(SteleError, match=r"not a result: metrics\.mrr@100\.languages\.en"):
        stele.load_results(tmp_path)


@pytest.mark.slow
def test_the_notebook_runs(tmp_path, root, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    for model in ("msm", "xlmr"):
        for setting in ("zero_shot_marco", "multilingual"):
            write(tmp_path / "results", f"mrtydi/{model}/{setting}")
    encoder = make_folder(tmp_path / "work/miniature/finetuned/msm/nq/pt0-ft0")
    write_spec(encoder, EncodingSpec(pooling="cls", query_length=64, passage_length=64))
    (encoder / "record.json").touch()
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(root / "notebooks/results.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
    client = nbclient.NotebookClient(
        notebook, timeout=PATIENCE, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    done = client.execute()
    assert "mrr@10" in str(done.cells[-1].outputs), "it compares two runs"
    kinds = {kind for cell in done.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert {"text/html", "image/png"} <= kinds, "it shows a table and a plot"
