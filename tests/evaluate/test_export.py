"""Results in the forms that others read: MTEB's files, a model card's index, a CSV; and what may not leave so."""

import csv
import io
import json

import pytest
import yaml
from huggingface_hub.repocard_data import model_index_to_eval_results

from stele import catalogue
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.published import PublishedBenchmark
from stele.command import cli
from stele.evaluate.export import subset_of
from tests.sealed import write_sealed

HUB, REVISION = "intfloat/multilingual-e5-small", "a" * 40


def write(folder, benchmark, values, labels=(), setting="direct", of="me5_small", config=None, revision=REVISION):
    metrics = {
        name: {"languages": of_languages, "average": None, "n": dict.fromkeys(of_languages, 9)}
        for name, of_languages in values.items()
    }
    ancestry = {"a": {"job": "sources checkpoint", "model": of, "repository": HUB, "revision": revision}}
    if config:
        decided = {"config": list(config), "folder": ["pooling"]}
        ancestry["b"] = {"job": "retrieve", "encoding": {**config, "pooling": "mean"}, "encoding_decided_by": decided}
    given = {"benchmark": benchmark, "model": "me5_small", "setting": setting, "labels": list(labels)}
    path = folder / benchmark / "me5_small" / f"{setting}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_sealed(path, {**given, "metrics": metrics, "ancestry": ancestry})


def export(folder, *arguments):
    return cli.main(["evaluate", "export", "--results-dir", str(folder), *arguments])


def test_mtebs_files_have_its_names_of_task_metrics_subsets_and_languages(tmp_path):
    """The main score is the benchmark's first metric wherever it stands; of a pair of languages passages come first."""
    results, out = tmp_path / "results", tmp_path / "out"
    write(results, "miracl_hard_negatives", {"recall@100": {"sw": 1.0, "th": 0.75}, "ndcg@10": {"sw": 0.5, "th": 0.25}})
    write(results, "belebele", {"ndcg@10": {"hin_Latn-en": 0.5}})
    assert export(results, "--format", "mteb", "--to", str(out)) == 0
    path = out / "intfloat__multilingual-e5-small" / REVISION / "MIRACLRetrievalHardNegatives.v2.json"
    written = json.loads(path.read_text())
    assert written["task_name"] == "MIRACLRetrievalHardNegatives.v2"
    assert written["dataset_revision"].startswith("d7d94fa4b946")
    scores, (sw, th) = {"ndcg_at_10": 0.5, "recall_at_100": 1.0}, written["scores"]["dev"]
    assert sw == {**scores, "main_score": 0.5, "hf_subset": "sw", "languages": ["swa-Latn"]}
    assert (th["ndcg_at_10"], th["hf_subset"], th["languages"]) == (0.25, "th", ["tha-Thai"])
    (score,) = json.loads(next(out.rglob("BelebeleRetrieval.json")).read_text())["scores"]["test"]
    assert (score["hf_subset"], score["languages"]) == ("hin_Latn-eng_Latn", ["hin-Latn", "eng-Latn"])


def test_a_set_of_the_users_own_goes_by_its_name(tmp_path, capsys):
    """Given by its folder, it is in no catalogue when results are handed over."""
    write(tmp_path, "my_facts", {"ndcg@10": {"und": 0.5}})
    assert export(tmp_path, "--format", "model_index") == 0
    (entry,) = yaml.safe_load(capsys.readouterr().out)["model-index"][0]["results"]
    assert entry["dataset"] == {"type": "my_facts", "name": "my_facts", "config": "und"}


@pytest.mark.parametrize("revision", ["../../victim", "../../../victim", "a\0b", "a\\b", "main?x"])
def test_a_revision_cannot_lead_elsewhere(tmp_path, capsys, revision):
    (tmp_path / "victim").mkdir()
    write(tmp_path / "results", "belebele", {"ndcg@10": {"en-en": 0.5}}, revision=revision)
    assert export(tmp_path / "results", "--format", "mteb", "--to", str(tmp_path / "out/mteb")) == 1
    assert "belebele/me5_small/direct.json: " in capsys.readouterr().err
    assert not list((tmp_path / "victim").iterdir()) and not (tmp_path / "out").exists()


def test_a_file_that_mteb_or_the_user_wrote_stays(tmp_path, capsys):
    results, out = tmp_path / "results", tmp_path / "out"
    write(results, "belebele", {"ndcg@10": {"en-en": 0.5}})
    assert [export(results, "--format", "mteb", "--to", str(out)) for _ in range(2)] == [0, 0]
    file = next(out.rglob("BelebeleRetrieval.json"))
    for theirs in (json.dumps({**json.loads(file.read_text()), "mteb_version": "2.1.0"}), '{"title": "Thesis"}'):
        file.write_text(theirs)
        assert export(results, "--format", "mteb", "--to", str(out)) == 1
        assert "Stele did not write this file" in capsys.readouterr().err and file.read_text() == theirs


def test_the_hubs_library_reads_the_index_of_a_model_card(tmp_path, capsys):
    write(tmp_path, "mrtydi", {"mrr@100": {"ko": 0.5, "te": 0.25}})
    assert export(tmp_path, "--format", "model_index") == 0
    name, found = model_index_to_eval_results(yaml.safe_load(capsys.readouterr().out)["model-index"])
    assert name == "multilingual-e5-small"
    assert [(one.dataset_config, one.dataset_split, one.metric_type, one.metric_value) for one in found] == [
        ("ko", "test", "mrr_at_100", 0.5),
        ("te", "test", "mrr_at_100", 0.25),
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"labels": ["generated data"]},
        {"labels": ["stand-in checkpoint"]},
        {"labels": ["limited"]},
        {"labels": ["record without digest"]},
        {"setting": "zero_shot_marco"},
        {"of": "xlmr"},  # trained here, from that one
    ],
)
@pytest.mark.parametrize("form", [["--format", "model_index"], ["--format", "mteb", "--to", "out"]])
def test_what_is_not_the_models_own_number_does_not_leave(tmp_path, capsys, monkeypatch, given, form):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "results", "belebele", {"ndcg@10": {"en-en": 0.5}}, **given)
    assert export("results", *form) == 1
    assert "no result of an unmodified checkpoint on complete real data" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_benchmark_that_is_no_task_of_mtebs_is_named_so(tmp_path, capsys):
    write(tmp_path / "results", "mrtydi", {"mrr@100": {"ko": 0.5}})
    assert export(tmp_path / "results", "--format", "mteb", "--to", str(tmp_path / "out")) == 1
    assert "these benchmarks are miracl_hard_negatives, belebele" in capsys.readouterr().err


def test_a_csv_of_a_model_without_results_is_refused(tmp_path, capsys):
    write(tmp_path, "belebele", {"ndcg@10": {"en-en": 0.5}})
    assert export(tmp_path, "--format", "csv", "--model", "me5_smal") == 1
    shown = capsys.readouterr()
    assert "unknown model 'me5_smal'; did you mean 'me5_small'?" in shown.err and not shown.out


def test_the_csv_holds_every_value_with_its_labels(tmp_path, capsys):
    write(tmp_path, "mrtydi", {"mrr@100": {"ko": 0.5}}, labels=["generated data"])
    assert export(tmp_path, "--format", "csv") == 0
    rows, want = csv.DictReader(io.StringIO(capsys.readouterr().out)), {"language": "ko", "value": "0.5", "n": "9"}
    (found,) = rows
    assert want.items() <= found.items() and found["labels"] == "generated data"


def test_every_language_of_a_task_has_mtebs_name():
    for key, about in catalogue.entries(PublishedBenchmark).items():
        if about.mteb:
            subsets = [subset_of(code, about.mteb)[0] for code in catalogue.entry(Benchmark, key).languages]
            assert len(set(subsets)) == len(subsets) > 1


def test_what_an_encoding_did_otherwise_is_said_with_the_numbers(tmp_path, capsys):
    results = tmp_path / "results"
    write(results, "belebele", {"ndcg@10": {"en-en": 0.5}}, config={"query_prompt": "who\n", "dimension": 64})
    path = results / "belebele/me5_small/direct.json"
    record = json.loads(path.read_text())
    record["ancestry"]["b"]["encoding_notes"] = ["its folder names\nthe prompts a"]  # a folder's names are its own
    write_sealed(path, record)
    assert export(results, "--format", "model_index") == 0
    text, said = capsys.readouterr().out, "query_prompt: 'who\\n', dimension: 64; its folder names the prompts a"
    note = f"belebele of {HUB}: config.yaml sets {said}"
    assert text.startswith(f"# {note}\nmodel-index:") and yaml.safe_load(text)["model-index"]
    assert export(results, "--format", "mteb", "--to", str(tmp_path / "out")) == 0
    assert f"{note}; state this where you submit the result" in capsys.readouterr().err


@pytest.mark.parametrize("form", [["--format", "model_index"], ["--format", "mteb", "--to", "out"]])
def test_of_two_models_of_one_checkpoint_one_is_to_be_chosen(tmp_path, capsys, monkeypatch, form):
    """MTEB's files are named by the checkpoint: one's numbers would replace the other's."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "results", "belebele", {"ndcg@10": {"en-en": 0.5}})
    path = tmp_path / "results/belebele/me5_small/direct.json"
    record = json.loads(path.read_text()) | {"model": "no_prompt"}
    record["ancestry"]["a"]["model"] = "no_prompt"
    (twin := tmp_path / "results/belebele/no_prompt/direct.json").parent.mkdir()
    write_sealed(twin, record)
    assert export("results", *form) == 1
    assert f"belebele: me5_small and no_prompt are both {HUB}; choose one with --model" in capsys.readouterr().err
    assert not (tmp_path / "out").exists() and export("results", *form, "--model", "no_prompt") == 0
