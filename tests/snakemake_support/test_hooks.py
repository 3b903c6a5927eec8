"""What the Snakefile does around the rules, on its own."""

import errno
import json
import os
import types
from pathlib import Path
from unittest import mock

import pytest
from snakemake_interface_common.exceptions import WorkflowError

from stele.cluster import job_environment
from stele.errors import SteleError
from stele.snakemake_support import hooks


def test_without_a_worker_a_run_goes_on_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr("stele.command.worker.start", mock.Mock(side_effect=OSError("AF_UNIX path too long")))
    monkeypatch.delenv("STELE_WORKER", raising=False)
    hooks._start_worker(["score", "table"])
    assert "STELE_WORKER" not in os.environ and "no local worker" in capsys.readouterr().err


def test_a_worker_loads_what_its_jobs_need_and_there_is_none_for_one_job(monkeypatch):
    start = mock.Mock(return_value="/socket")
    monkeypatch.setattr("stele.command.worker.start", start)
    monkeypatch.setattr(hooks.snakemake_patches, "measure_children_of_worker", mock.Mock())
    for rules, torch in ((["retrieve"], None), (["score", "table"], False), (["retrieve", "score"], True)):
        monkeypatch.delenv("STELE_WORKER", raising=False)
        hooks._start_worker(rules)
        assert os.environ.get("STELE_WORKER") == (None if torch is None else "/socket")
        if torch is not None:
            (modules,) = start.call_args.args
            assert "pandas" in modules and ("torch" in modules) == torch


def test_a_damaged_config_yaml_is_named_with_the_line(tmp_path, monkeypatch):
    """Snakemake's own error says only that a file is not valid JSON or YAML."""
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text("scale: miniature\nlanguages:\n\t- sw\n", encoding="utf-8")
    ours, of_another = (types.SimpleNamespace(modifier=types.SimpleNamespace(skip_configfile=skip)) for skip in (0, 1))
    with pytest.raises(SteleError, match=r"config\.yaml: not a readable YAML file .*line 3"):
        hooks.config_file(ours, Path("/project"))
    assert hooks.config_file(of_another, Path("/project")) == "config.yaml", "another workflow's, which is not read"
    Path("config.yaml").write_text("# scale: miniature\n", encoding="utf-8")
    with pytest.raises(SteleError, match=r"config\.yaml: empty; want keys and values"):
        hooks.config_file(ours, Path("/project"))
    Path("config.yaml").write_text("{}", encoding="utf-8")
    assert hooks.config_file(ours, Path("/project")) == "config.yaml"


def test_a_checkout_whose_path_no_search_path_can_hold_is_refused():
    with pytest.raises(WorkflowError, match=r"/data/a:b.*rename"):
        hooks.setup({}, types.SimpleNamespace(), Path("/data/a:b"))


def test_a_folder_of_the_users_that_does_not_exist_is_named(jobs, tmp_path, capsys):
    """Snakemake plans nothing where results exist, even if they were made of generated data."""
    hooks._name_missing_folders(jobs(user_data={"mrtydi": str(tmp_path / "typo"), "lareqa": str(tmp_path)}))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"Stele: user_data.mrtydi: {tmp_path}/typo does not exist")


@pytest.fixture
def run_of_one_job(jobs, tmp_path, monkeypatch):
    """The plan and the workflow of a run that writes one result; its folder of results cannot be written."""
    monkeypatch.chdir(tmp_path)
    full = mock.Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    monkeypatch.setattr("stele.artifacts.results.write_manifest", full)
    monkeypatch.setattr(hooks, "check_stamp", full)
    monkeypatch.setattr(hooks.preflight, "check", mock.Mock())
    monkeypatch.setattr(hooks.requests, "job_requests", mock.Mock())
    result = types.SimpleNamespace(name="score", output=["results/a.json"], rule=types.SimpleNamespace(params={}))
    dag = types.SimpleNamespace(jobs=[result], finished=lambda job: True, needrun_jobs=lambda: [result])
    plugin = types.SimpleNamespace(name="local")
    yield jobs(), types.SimpleNamespace(dag=dag, executor_plugin=plugin, touch=False)
    assert not any(Path(".snakemake/stele-drivers").iterdir()), "the run has ended"


def test_a_full_disk_at_the_end_of_a_run_is_said_and_the_run_ends_as_usual(run_of_one_job, monkeypatch, capsys):
    monkeypatch.setattr(hooks.run_tables, "finish_tables", mock.Mock())
    monkeypatch.setattr(hooks.summary, "wanted", lambda: True)
    shown = mock.Mock()
    monkeypatch.setattr(hooks.summary, "show_summary", shown)
    hooks.locks.note()
    hooks.on_end(*run_of_one_job)
    assert "the disk is full" in capsys.readouterr().err and shown.called


def test_a_folder_of_results_that_cannot_be_written_refuses_the_run_in_a_sentence(run_of_one_job):
    with pytest.raises(WorkflowError, match="the disk is full"):
        hooks.on_start(*run_of_one_job)


@pytest.mark.parametrize("single", [False, True], ids=["folder", "file"])
def test_links_to_a_folder_that_was_moved_lead_to_its_new_place_and_others_stay(jobs, tmp_path, monkeypatch, single):
    monkeypatch.chdir(tmp_path)
    new, old = tmp_path / "new", tmp_path / "old"
    for folder in (new, old):
        (folder / "en").mkdir(parents=True)
    (new / "en/a.txt").write_text("moved")
    (new / "b.zip").write_text("an archive")
    (old / "c.txt").write_text("stays")
    given = {"documents": str(new / "en/a.txt" if single else new)}
    record = tmp_path / "resources/miniature/datasets/documents/en/record.json"
    record.parent.mkdir(parents=True)
    (record.parent / "a.txt").symlink_to(old / "en/a.txt")
    (record.parent / "c.txt").symlink_to(old / "c.txt")
    files = {"a.txt": {"name": "a.txt" if single else "en/a.txt"}, "b.txt": {"name": "b.zip", "archive": "0"}}
    record.write_text(json.dumps({"files": files | {"c.txt": {"name": "c.txt"}}}))
    hooks._renew_links(jobs(scale="miniature", user_data=given))
    assert {path.name: path.read_text() for path in record.parent.glob("*.txt")} == {"a.txt": "moved", "c.txt": "stays"}


def test_links_to_a_checkpoint_that_was_moved_lead_to_its_new_place(jobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record = tmp_path / "resources/miniature/checkpoints/mine/record.json"
    record.parent.mkdir(parents=True)
    (record.parent / "config.json").symlink_to(tmp_path / "old/config.json")
    record.write_text(json.dumps({"files": {"config.json": {}, "model.safetensors": {}}}))
    (tmp_path / "new").mkdir()
    (tmp_path / "new/config.json").write_text("{}")
    hooks._renew_links(jobs(scale="miniature", models={"mine": {"checkpoint": str(tmp_path / "new")}}))
    assert (record.parent / "config.json").read_text() == "{}" and not (record.parent / "model.safetensors").exists()


def test_a_record_cannot_name_a_link_elsewhere(jobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record = tmp_path / "resources/miniature/datasets/lareqa/all/record.json"
    record.parent.mkdir(parents=True)
    (tmp_path / "mine").write_text("{}")
    (tmp_path / "resources/miniature/mine.json").symlink_to("nowhere")
    record.write_text(json.dumps({"files": {"../../../mine.json": {"name": "mine"}}}))
    with pytest.raises(SteleError, match="could lead outside its folder"):
        hooks._renew_links(jobs(scale="miniature", user_data={"lareqa": str(tmp_path)}))
    assert not (tmp_path / "resources/miniature/mine.json").exists()


def rules(*methods):
    settings = types.SimpleNamespace(deployment_method=methods)
    known = [types.SimpleNamespace(name=name) for name in ("score", "dataset")]
    return types.SimpleNamespace(deployment_settings=settings, rules=known, _localrules={"dataset"})


def test_only_a_run_in_containers_gives_its_rules_an_image(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, folder in enumerate(("plain", "{x}", "a b")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "stele.sif").touch()
        monkeypatch.setenv("STELE_CLUSTER", f"names-{number}.yaml")
        (tmp_path / f"names-{number}.yaml").write_text(f"software: container\ncontainer: '{folder}/stele.sif'\n")
        without, within = rules(), rules(job_environment.CONTAINER)
        job_environment.finish_rules(without)
        assert not any(hasattr(rule, "container_img") for rule in without.rules)
        if folder == "a b":
            with pytest.raises(job_environment.SteleError, match="blank"):
                job_environment.finish_rules(within)
            continue
        job_environment.finish_rules(within)
        assert within.rules[0].container_img(None) == str(tmp_path / folder / "stele.sif")
        assert not hasattr(within.rules[1], "container_img"), "it runs where the workflow was started"


def test_two_runs_in_other_folders_of_results_do_not_share_the_state_of_a_job():
    """Its folder is the same whatever `results_dir` is: the run that is done first would remove the other's."""
    rule = types.SimpleNamespace(params={"state": "state/miniature/bm25/{benchmark}/{seeds}"})
    wildcards = {"benchmark": "nq", "seeds": "pt0-ft0"}
    job = types.SimpleNamespace(rule=rule, output=["results_a/nq/retrieval.json"], wildcards_dict=wildcards)
    assert hooks._written(job) == ["results_a/nq/retrieval.json", "state/miniature/bm25/nq/pt0-ft0"]
    rule.params = {}
    assert hooks._written(job) == ["results_a/nq/retrieval.json"]
