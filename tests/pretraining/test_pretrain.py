"""The pretrain command: what it writes, from every objective; what it refuses."""

import json
import math

import numpy as np
import pytest
import torch
from pretrain_runs import OWN, SMALL, arguments, weights
from safetensors.torch import load_file, save_file
from tiny_checkpoint import checkpoint
from transformers import AutoModel

from stele.artifacts.records import divergence, read_record
from stele.command.cli import main
from stele.errors import SteleError
from stele.pretraining.inputs import load_base
from stele.training.curve import read_csv
from stele.training.objectives import Objective
from stele.training.store import write_store
from tests.sealed import write_sealed


@pytest.fixture
def run(tmp_path, base, pairs, capsys):
    def go(**changes):
        code = main(arguments(changes.pop("into", tmp_path), base, changes.pop("pairs", pairs), **changes))
        return code, capsys.readouterr().err

    return go


NEGATIVES = {"msm": 14, "crop": 5, "ict": 5, "mlm": None, "kept": 5, "moco": 36, "ccp": 5 + 36}
POOLING = {"mlm": None, "kept": "mean", "moco": "mean"}


@pytest.mark.parametrize("objective", list(OWN))
def test_every_objective_writes_an_encoder(run, tmp_path, base, objective, capsys):
    code, log = run(objective=objective, snapshots=[2], precision="bfloat16")
    assert code == 0, log
    out, record = tmp_path / "out", read_record(tmp_path / "out/record.json")
    model, report = AutoModel.from_pretrained(out, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"], "the encoder alone, with the base's pooler"
    before = AutoModel.from_pretrained(base.parent)
    snapshot = AutoModel.from_pretrained(out / "snapshots/step-2")
    assert torch.equal(model.pooler.dense.weight, before.pooler.dense.weight)
    trained = model.embeddings.word_embeddings.weight
    assert not torch.equal(trained, before.embeddings.word_embeddings.weight)
    assert not torch.equal(trained, snapshot.embeddings.word_embeddings.weight)
    assert (out / "tokenizer.json").read_bytes() == (base.parent / "tokenizer.json").read_bytes()
    of_snapshot = read_record(out / "snapshots/step-2/record.json")
    assert of_snapshot["step"] == 2 and of_snapshot["cpu_seconds"] < record["cpu_seconds"] / 2
    assert len(read_csv(out / "curve.csv")) == record["steps"] == 6
    labels = ["diverged pretraining"] if record.get("diverged") else []
    labels += ["a pretraining task that learnt nothing"] if record.get("unlearnt") else []
    assert record["labels"] == sorted([*labels, "generated data", "stand-in checkpoint"])
    assert (record["objective"], record["seed"], record["precision"]) == (objective, 0, "bfloat16")
    assert record["negatives_per_query"] == NEGATIVES[objective]
    assert record["pooling"] == POOLING.get(objective, "cls")
    group = record["contrastive_group"]
    if objective == "msm":  # documents of 3 to 5 sentences
        assert (group["examples"], group["vectors_at_most"]) == (3, 15) and 9 <= group["vectors_on_average"] < 15
    else:
        mixing = "all_languages" if objective in ("kept", "moco") else "one_language"
        whole = {"examples": 6, "mixing": mixing, "vectors_at_most": 6, "vectors_on_average": 6.0}
        assert group == (None if objective == "mlm" else whole)
    choices = {"msm": group and group["vectors_on_average"], "moco": 37, "mlm": 80}
    tasks = ["crop", "ilk", "clk"] if objective == "kept" else [objective]
    chances = {name: math.exp(record["chance"][name]) for name in tasks}
    if objective == "ccp":  # those of the group, and the bank's of its language by then
        assert 6 < chances["ccp"] <= 42
        assert chances["ccp"] == pytest.approx(math.exp(record["figures"]["ccp_chance"]), rel=1e-3)
    else:
        assert chances == {name: pytest.approx(choices.get(objective, 6), rel=1e-3) for name in tasks}
    assert record["losses"].keys() <= record["chance"].keys() and f"{tasks[0]}: loss " in log
    assert main(["pretraining", "losses", str(out / "snapshots/step-2/record.json"), str(out / "record.json")]) == 0
    first = f"| mine | {tasks[0]} | 6 | {record['losses'][tasks[0]]:.2f} | {record['chance'][tasks[0]]:.2f} |"
    assert first in capsys.readouterr().out
    assert record["arithmetic"]["flops"] == pytest.approx(6 * record["arithmetic"]["flops_per_step"])
    assert not (tmp_path / "state").exists(), "the state goes when the job is done"


def test_a_run_that_comes_to_nothing_is_no_error_and_its_records_say_so(run, tmp_path):
    code, log = run(objective="ccp", learning_rate=1e30, snapshots=[1])
    assert code == 0 and "mine: diverged: loss or gradient not a finite number at step" in log
    for record in (read_record(tmp_path / "out" / name / "record.json") for name in (".", "snapshots/step-1")):
        assert record["diverged"].startswith("loss or gradient not a finite number")
        assert record["labels"] == ["diverged pretraining", "generated data", "stand-in checkpoint"]
    assert divergence([tmp_path / "out/record.json"]).startswith("mine: loss or gradient")


@pytest.mark.parametrize(
    ("objective", "failed"), [("msm", ["msm"]), ("kept", ["crop", "ilk", "clk"]), ("kept", ["clk"])]
)
def test_a_task_that_learns_nothing_is_said_in_log_record_and_labels(run, tmp_path, monkeypatch, objective, failed):
    reasons = dict.fromkeys(failed, "above chance")
    monkeypatch.setattr(Objective, "diverged", lambda self, rows, task, chance: reasons.get(task))
    code, log = run(objective=objective, snapshots=[2])
    whole = ["crop: above chance; ilk: above chance; clk: above chance", "above chance"][objective == "msm"]
    for record in (read_record(tmp_path / "out" / name / "record.json") for name in (".", "snapshots/step-2")):
        if failed == ["clk"]:
            assert record["diverged"] is None and "a pretraining task that learnt nothing" in record["labels"]
        else:
            assert record["diverged"] == whole and "diverged pretraining" in record["labels"]
    assert code == 0 and ("mine, clk: nothing was learnt: above" if failed == ["clk"] else "mine: diverged: ") in log


def test_pretraining_with_the_same_seed_gives_the_same_bytes_with_another_others(run, tmp_path):
    collected = {}
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        (tmp_path / name).mkdir()
        assert run(into=tmp_path / name, seed=seed)[0] == 0
        collected[name] = weights(tmp_path / name / "out")
    assert collected["a"] == collected["b"] != collected["c"]
    contents = {name: read_record(tmp_path / name / "out" / "record.json")["content"] for name in collected}
    assert contents["a"] == contents["b"] != contents["c"]


@pytest.mark.parametrize(
    ("objective", "languages", "store", "parts"),
    [("msm", ["sw"], "msm", {"sw"}), ("kept", ["en", "sw"], "clk", {"en-sw"})],
)
def test_only_the_recipe_s_languages_and_their_pairs_are_used(run, tmp_path, objective, languages, store, parts):
    assert run(objective=objective, languages=languages)[0] == 0
    assert set(read_record(tmp_path / "out" / "record.json")["languages"][store]) == parts


def test_tasks_have_their_stores_parts_and_losses(run, tmp_path):
    assert run(objective="kept")[0] == 0
    record = read_record(tmp_path / "out" / "record.json")
    rows = read_csv(tmp_path / "out/curve.csv")
    parts = {name: list(parts) for name, parts in record["languages"].items()}
    assert parts == {"crop": ["en", "sw"], "ilk": ["en", "sw"], "clk": ["en-sw", "en-th"]}
    assert record["languages_left_out"] == {"clk": {"sw-th": 0}}
    shares = [about["probability"] for about in record["languages"]["clk"].values()]
    assert shares == pytest.approx([20**0.3 / (20**0.3 + 3**0.3), 3**0.3 / (20**0.3 + 3**0.3)], abs=1e-5)
    figures = {f"{task}_{name}" for task in ("crop", "ilk", "clk") for name in ("accuracy", "guess", "cosine")}
    assert set(rows[0]) == {"step", "learning_rate", "crop", "ilk", "clk", *figures}
    assert all(row.keys() == rows[0].keys() for row in rows)
    batch = record["global_batch"]
    assert (batch["groups"], batch["examples_a_group"]) == (3, 6)
    assert [batch[f"{name}_groups_on_average"] for name in ("crop", "ilk", "clk", "mlm")] == [1, 1, 1, 0]


def test_a_language_too_small_for_a_group_is_left_out_and_named(run, tmp_path):
    code, log = run(documents=20)
    assert code == 0 and "left out: {'sw': 12}" in log
    assert read_record(tmp_path / "out" / "record.json")["languages_left_out"] == {"msm": {"sw": 12}}


@pytest.mark.parametrize(("objective", "own"), [("msm", {"steps": 40}), ("ccp", {"steps": 20, "languages": ["en"]})])
def test_equal_compute_takes_its_steps_from_the_other_recipe(run, tmp_path, objective, own):
    """What both records say of the operations that were done, document by document, is the same to half a step.

    What the other one costs is what its own run does, which reads its languages alone.
    """
    for name in (objective, "mlm"):
        (tmp_path / name).mkdir()
    assert run(into=tmp_path / objective, objective=objective, **own)[0] == 0
    other = {"objective": objective, **SMALL, **OWN[objective], **own}
    assert run(into=tmp_path / "mlm", objective="mlm", drop=("steps",), equal_compute_to=other)[0] == 0
    done, record = (read_record(tmp_path / name / "out" / "record.json") for name in (objective, "mlm"))
    assert record["arithmetic"]["flops_to_equal"] == pytest.approx(done["arithmetic"]["flops"], rel=0.03)
    assert record["arithmetic"]["flops"] == pytest.approx(done["arithmetic"]["flops"], rel=0.03 + 0.5 / record["steps"])
    assert record["steps"] != own["steps"] and {*record["languages"]} == {"mlm"}
    assert {*record["languages"]["mlm"]} == {"en", "sw"}


def test_a_short_run_may_have_none_of_a_task(run, tmp_path):
    changes = dict(objective="kept", tasks=["crop", "ilk"], groups=1, mlm_share=0.5, steps=2)
    assert run(**changes)[0] == 0
    record = read_record(tmp_path / "out" / "record.json")
    assert record["contrastive_group"]["vectors_on_average"] == 6.0 and set(record["chance"]) == {"crop", "mlm"}


def test_errors_name_what_is_wrong(run, tmp_path, pairs, monkeypatch):
    monkeypatch.setitem(OWN, "mms", {})
    cases = [
        (dict(objective="mms"), "unknown objective 'mms'; did you mean 'msm'"),
        (dict(documnets=3), "unknown key 'documnets'; did you mean 'documents'"),
        (dict(pairs={"msm:en": pairs["msm:en"]}), "this objective reads: unknown store 'mlm'"),
        (dict(languages=["en", "th"]), "no mlm examples for th"),
        (dict(objective="kept", tasks=["clk"], groups=1, languages=["en", "sw", "de"]), "no clk examples for de"),
        (dict(objective="kept", tasks=["clk"], groups=1, languages=["en"]), "no clk examples for en, a language"),
        (dict(objective="kept", pairs={"clk:en-sw": pairs["clk:en-sw"]}), "reads: unknown store 'ilk'"),
        (dict(sentence_length=39), "sentence_length is 39, but the model has only 38 positions"),
        (dict(mlm_length=39), "mlm_length is 39, but the model has only 38 positions"),
        (dict(objective="ict", block_length=39), "block_length is 39, but the model has only 38 positions"),
        (dict(documents=100), "no language has the 100 examples"),
        (dict(sentences=3), "`sentences` allows only 3"),
        (dict(pairs={"msm:en": pairs["crop:en"], "mlm:en": pairs["crop:en"]}), "mined by another method"),
    ]
    for changes, message in cases:
        code, log = run(**changes)
        assert code == 1 and message in log, (changes, log)
        assert "Traceback" not in log
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("facts", "token", "message"),
    [
        ({}, 500, "mined with another tokenizer than the checkpoint's (token 500 of 80)"),
        ({"tokenizer_probe": "other"}, 5, "(other ids for the same text)"),
        ({"method": "msm"}, 5, "its method is 'msm', but --pairs gives it as mlm:en"),
        ({"language": "th"}, 5, "its language is 'th', but --pairs gives it as mlm:en"),
    ],
)
def test_stores_are_what_they_are_given_as(run, tmp_path, pairs, facts, token, message):
    folder = tmp_path / "foreign"
    folder.mkdir()
    write_store(folder, [[np.array([token, 6])]] * 10)
    write_sealed(folder / "record.json", facts)
    code, log = run(objective="mlm", pairs={**pairs, "mlm:en": folder / "record.json"})
    assert code == 1 and message in log


def test_a_checkpoint_without_a_head_gets_one_from_the_seed(tmp_path):
    folder = checkpoint(tmp_path, head=False, pooler=False).parent
    first, again, other = (load_base(folder, 0.1, seed)[0] for seed in (1, 1, 2))
    assert torch.equal(first.lm_head.dense.weight, again.lm_head.dense.weight)
    assert not torch.equal(first.lm_head.dense.weight, other.lm_head.dense.weight)
    assert first.get_output_embeddings().weight is first.get_input_embeddings().weight
    assert {m.p for m in first.modules() if isinstance(m, torch.nn.Dropout)} == {0.1}


def test_a_checkpoint_that_lacks_body_weights_is_refused(tmp_path):
    folder = checkpoint(tmp_path).parent
    kept = {k: v for k, v in load_file(folder / "model.safetensors").items() if "layer.1.output" not in k}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(SteleError, match=r"do not fit its config\.json: encoder\.layer\.1\.output\.LayerNorm\.bias"):
        load_base(folder, 0.1, 0)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("config.json", {"auto_map": {"AutoModel": "own.Model"}}, r"brings its own code \(auto_map\)"),
        ("adapter_config.json", {}, "adapters are not supported"),
    ],
)
def test_a_base_from_which_no_encoder_is_written_is_refused_before_it_is_trained(tmp_path, name, settings, message):
    path = checkpoint(tmp_path).parent / name
    path.write_text(json.dumps(settings | (json.loads(path.read_text()) if path.exists() else {})))
    with pytest.raises(SteleError, match=message):
        load_base(path.parent, 0.1, 0)
