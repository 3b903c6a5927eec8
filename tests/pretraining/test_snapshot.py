"""A snapshot as a model: the files of its step under its own name, in the catalogue, the plan and on disk."""

import json

import pytest
from pretrain_runs import SMALL, command
from tiny_checkpoint import bert_checkpoint

from stele import catalogue
from stele.artifacts.integrity import damages
from stele.artifacts.records import read_record
from stele.catalogue.models import check_models
from stele.command.cli import main
from stele.errors import SteleError
from stele.files.digests import folder_facts
from tests.sealed import write_sealed

MLM = {**SMALL, "objective": "mlm", "steps": 6}


@pytest.fixture(scope="module")
def run(tmp_path_factory, pairs):
    place = tmp_path_factory.mktemp("run")
    base = bert_checkpoint(tmp_path_factory.mktemp("bert"))
    assert main(command(place, base, pairs, MLM, snapshots=[2, 4])) == 0
    return place / "out/record.json"


def take(run, output, step):
    line = ["pretraining", "snapshot", "--model", "mine_4", "--encoder", str(run), "--step", str(step)]
    return main([*line, "--output", str(output)])


def test_a_snapshot_has_the_files_of_its_step_and_outlives_the_run(run, tmp_path):
    record = tmp_path / "mine_4/record.json"
    assert take(run, record, 4) == 0
    kept = run.parent / "snapshots/step-4"
    assert folder_facts(record.parent) == folder_facts(kept) != folder_facts(run.parent / "snapshots/step-2")
    facts = read_record(record)
    assert (facts["model"], facts["step"], facts["seed"]) == ("mine_4", 4, 0) and not list(damages(record))
    assert facts["content"] == read_record(kept / "record.json")["content"]
    weights = record.parent / "model.safetensors"
    before = weights.read_bytes()
    (kept / "model.safetensors").unlink()
    assert weights.read_bytes() == before
    (kept / "model.safetensors").write_bytes(before)


def test_a_damaged_snapshot_is_not_taken(run, tmp_path, capsys):
    weights = run.parent / "snapshots/step-2/model.safetensors"
    before = weights.read_bytes()
    weights.unlink()
    weights.write_bytes(before[:-1] + b"!")
    assert take(run, tmp_path / "mine_2/record.json", 2) == 1 and not (tmp_path / "mine_2").exists()
    said = capsys.readouterr().err
    assert "snapshots/step-2/model.safetensors: its bytes differ" in said and f"--force {run}" in said
    weights.write_bytes(before)


def test_a_step_without_a_snapshot_is_one_clear_error(run, tmp_path, capsys):
    assert take(run, tmp_path / "mine/record.json", 3) == 1
    assert "no snapshot of step 3; choose one of these: step-2, step-4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"snapshot_of": "mbert_qlm_r", "epoch": 10}, "unknown value 'mbert_qlm_r'; did you mean 'mbert_qlm_rr'"),
        ({"snapshot_of": "xlmr", "epoch": 10}, "snapshot_of: unknown value 'xlmr'"),
        ({"snapshot_of": "mbert_qlm_rr", "epoch": 12}, "no snapshot of epoch 12, the nearest: 10"),
        ({"snapshot_of": "msm", "epoch": 5}, "its pretraining has no epochs"),
        ({"snapshot_of": "mbert_qlm_rr"}, "`snapshot_of` and `epoch` go together"),
        ({"snapshot_of": "mbert_qlm_rr", "epoch": 10, "checkpoint": "a/b"}, "want one of `recipe`, `checkpoint`, "),
    ],
)
def test_the_catalogue_refuses_what_is_no_snapshot(entry, said):
    with pytest.raises(SteleError, match=said):
        check_models({**catalogue.load("models"), "mine": {"label": "mine", **entry}}, "models.yaml")


def test_a_snapshot_s_row_reads_it_and_needs_what_its_pretraining_needs(jobs):
    plan = jobs(scale="miniature")
    of, last, whole = (plan.models.encoder(f"mbert_qlm_rr{name}", 1) for name in ("_10", "_20", ""))
    assert of == plan.paths.pretrained("mbert_qlm_rr_10", 1) and last == whole == plan.paths.pretrained(
        "mbert_qlm_rr", 1
    )
    assert plan.models["mbert_qlm_rr_10"].snapshot_of == "mbert_qlm_rr"
    assert plan.models.root("mbert_qlm_rr_10") == plan.models.tokenizer("mbert_qlm_rr_10") == "mbert_uncased"
    reads = plan.pretraining.reads
    assert reads("mbert_qlm_rr_10") == reads("mbert_qlm_rr")
    assert reads("mbert_gsw_qlm_rr_10").keys() == {
        "pretraining of mbert_gsw_qlm_rr",
        "pretraining of mbert_gsw",
    }
    without = jobs(scale="miniature", languages=["en"], models={"mbert_qlm_rr": {"checkpoint": "a/b"}})
    assert without.availability.model_problem("mbert_qlm_rr_10")[0] == "unavailable"


def test_a_scale_without_a_snapshot_that_a_model_wants_is_refused(jobs, tmp_path):
    values = catalogue.load("scales/miniature")
    forced = {**values["pretraining"], "clir": {**values["pretraining"]["clir"], "snapshots": [60, 180]}}
    (tmp_path / "own.yaml").write_text(json.dumps({**values, "pretraining": forced}))
    plan = jobs(scale=str(tmp_path / "own.yaml"))
    with pytest.raises(SteleError, match=r"mbert_qlm_rr_10\.epoch: no snapshot of epoch 10, the nearest: 5"):
        plan.models.snapshots  # noqa: B018


def test_a_record_cannot_name_a_file_elsewhere(run, tmp_path, capsys):
    path = run.parent / "snapshots/step-2/record.json"
    before = path.read_text()
    record = json.loads(before)
    record["outputs"] |= {"../../victim": next(iter(record["outputs"].values()))}
    write_sealed(path, record)
    (run.parent / "victim").write_text("x")
    assert take(run, tmp_path / "mine_2/x/record.json", 2) == 1 and not (tmp_path / "victim").exists()
    path.write_text(before)
    assert "'../../victim' could lead outside its folder" in capsys.readouterr().err
