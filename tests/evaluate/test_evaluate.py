"""stele evaluate: which model is meant, the configuration that is written, and what is refused before anything runs."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from stele.catalogue import entries, entry
from stele.catalogue.schema.costs import Checkpoint
from stele.catalogue.schema.models import Model
from stele.command import cli
from stele.config.model import parse_config
from stele.config.user_models import encoding_of, model_of
from stele.errors import SteleError
from stele.evaluate import evaluate
from stele.evaluate.evaluate import (
    check_checkpoint,
    earlier_benchmarks,
    plan_of,
    refuse_another,
    write,
)
from stele.files.paths import inside
from tests.conftest import ROOT
from tests.waiting import PATIENCE, wait_for


def test_a_known_model_is_meant_by_its_key_and_by_its_repository():
    assert model_of("me5_small", {}) == model_of("intfloat/multilingual-e5-small", {}) == ("me5_small", {})
    assert model_of("me5_small", {"dimension": 64}) == ("me5_small", {"encoding": {"dimension": 64}})


def test_a_repository_and_a_folder_of_one_s_own_get_a_key(tmp_path):
    assert model_of("owner/My-Model.v2", {}) == ("My-Model.v2", {"checkpoint": "owner/My-Model.v2"})
    (tmp_path / "mbert").mkdir()
    key, own = model_of(str(tmp_path / "mbert"), {"pooling": "mean"})
    assert key not in entries(Model)  # it is not the catalogue's mBERT
    assert own == {"checkpoint": str(tmp_path / "mbert"), "encoding": {"pooling": "mean"}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models/bert-bse", r"models/bert-bse: no such folder; did you mean models/bert-base\?"),
        ("model/bert-base", r"model/bert-base: no such folder; did you mean models/bert-base\?"),
        ("models/quite-another", r"models/quite-another: no such folder \(if it is a hub id, rename"),
    ],
)
def test_a_mistyped_folder_is_not_looked_for_on_the_hub(tmp_path, monkeypatch, text, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models/bert-base").mkdir(parents=True)
    with pytest.raises(SteleError, match=said):
        model_of(text, {})
    assert model_of("google/bert-base", {}) == ("bert-base", {"checkpoint": "google/bert-base"})


def test_a_name_makes_another_of_a_known_model():
    name, own = model_of("me5_small", {"query_prompt": ""}, "e5_bare")
    assert name == "e5_bare" and own["checkpoint"] == "intfloat/multilingual-e5-small" and own["revision"]
    assert own["encoding"] == {"pooling": "mean", "normalize": True, "query_prompt": "", "passage_prompt": "passage: "}
    parse_config({"models": {name: own}})
    with pytest.raises(SteleError, match=r"--name '\.\./x': want letters"):
        model_of("owner/a", {}, "../x")


@pytest.mark.parametrize(
    ("place", "key"),
    [
        ("Multilingual-E5-small", "me5_small"),
        ("models--intfloat--multilingual-e5-small/snapshots/fd1525a", "me5_small"),
        ("models--someone--multilingual-e5-small/snapshots/fd1525a", "multilingual-e5-small"),
        ("my-e5", "my-e5"),
    ],
)
def test_a_folder_of_a_known_name_is_taken_for_a_copy(tmp_path, caplog, place, key):
    """So that it has that model's prompts and stands beside its numbers; another name makes it another model."""
    folder = tmp_path / place
    folder.mkdir(parents=True)
    settings(folder, entry(Checkpoint, "me5_small"))
    assert model_of(str(folder), {}) == (key, {"checkpoint": str(folder)})
    assert ("has the name of me5_small and counts as a copy of it" in caplog.text) is (key == "me5_small")
    assert model_of(str(folder), {}, "mine") == ("mine", {"checkpoint": str(folder)})
    assert model_of(str(folder), {}, "me5_small") == ("me5_small", {"checkpoint": str(folder)})


def settings(folder, sizes, **changed):
    """Writes the config.json of an encoder of these sizes."""
    names = {"layers": "num_hidden_layers", "width": "hidden_size", "inner": "intermediate_size"}
    stated = {name: getattr(sizes, key) for key, name in {**names, "vocabulary": "vocab_size"}.items()}
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", **stated, **changed}))


@pytest.mark.parametrize("changed", [{"num_hidden_layers": 6}, {"hidden_size": 768}, {"vocab_size": None}])
def test_a_folder_of_a_known_name_and_another_size_is_a_model_of_its_own(tmp_path, caplog, changed):
    folder = tmp_path / "multilingual-e5-small"
    folder.mkdir()
    settings(folder, entry(Checkpoint, "me5_small"), **changed)
    assert model_of(str(folder), {}) == ("multilingual-e5-small", {"checkpoint": str(folder)})
    assert "it is evaluated as another model" in caplog.text
    assert model_of(str(folder), {}, "me5_small")[0] == "me5_small"  # the user's word


def configuration(checkpoint="/a/m", scale="paper", folder="results_evaluate", **more):
    """What the command writes of an encoder `m`."""
    return {"scale": scale, "results_dir": folder, "models": {"m": {"checkpoint": checkpoint}}, **more}


def test_a_card_keeps_the_benchmarks_of_earlier_evaluations(tmp_path, caplog):
    path, folder = tmp_path / "evaluate/m.yaml", str(tmp_path / "results")
    write(path, configuration(folder=folder, cards={"m": ["lareqa", "tatoeba"]}))
    again = configuration(folder=folder)
    assert earlier_benchmarks(path, again, ["mrtydi", "lareqa"]) == []  # nothing was built of Tatoeba
    (tmp_path / "results/tatoeba/m").mkdir(parents=True)
    (tmp_path / "results/tatoeba/m/direct.json").write_text("{}")
    assert earlier_benchmarks(path, again, ["mrtydi", "lareqa"]) == ["tatoeba"]
    assert earlier_benchmarks(path, {**again, "results_dir": "other"}, ["mrtydi"]) == []
    assert not caplog.text
    assert earlier_benchmarks(path, {**again, "languages": ["sw"]}, ["mrtydi"]) == []
    assert earlier_benchmarks(path, {**again, "languages": ["und"]}, ["mrtydi"]) == []
    assert "leaves out tatoeba" in caplog.text


@pytest.mark.parametrize("languages", [["te", "sw"], ["te", "sw", "und"]])
def test_the_same_languages_in_another_order_or_beside_a_set_s_own_are_the_same(tmp_path, caplog, languages):
    path, folder = tmp_path / "evaluate/m.yaml", str(tmp_path / "results")
    write(path, configuration(folder=folder, cards={"m": ["mrtydi"]}, languages=["sw", "te"]))
    (tmp_path / "results/mrtydi/m").mkdir(parents=True)
    (tmp_path / "results/mrtydi/m/direct.json").write_text("{}")
    assert earlier_benchmarks(path, configuration(folder=folder, languages=languages), ["my_set"]) == ["mrtydi"]
    assert not caplog.text


@pytest.mark.parametrize("how", ["terminal", "kill", "kill in the background"])
def test_an_interrupt_ends_snakemake_and_says_how_to_go_on(tmp_path, how):
    """Ctrl-C of a terminal reaches both processes, `kill -INT` the first alone, which a shell may have ignore it."""
    (tmp_path / "snakemake.py").write_text(
        "import pathlib, signal, sys, time\n"
        "try:\n"
        "    pathlib.Path('started').touch(); time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    with open('heard', 'a') as told: told.write('INT ')\n"
        "    time.sleep(1); sys.exit(1)\n"
    )
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" if "background" in how else ""
    code = f"{ignoring}import sys; from stele.evaluate.evaluate import build; from stele.errors import SteleError\n"
    code += "try:\n    build([])\nexcept SteleError as error:\n    sys.exit(str(error))\n"
    paths = os.pathsep.join([str(tmp_path), str(ROOT / "src")])
    options = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": paths}, "stderr": subprocess.PIPE, "text": True}
    if how == "terminal":
        ours, theirs = pty.openpty()
        options |= {"stdin": theirs, "preexec_fn": lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)}
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, **options)
    wait_for((tmp_path / "started").exists)
    os.write(ours, b"\x03") if how == "terminal" else os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert said.strip() == "interrupted; run the same command again to resume"
    assert (tmp_path / "heard").read_text() == "INT "


def test_a_repository_goes_by_its_twin_and_by_any_case():
    assert model_of("baai/BGE-m3", {}) == ("bge_m3", {})
    with pytest.raises(SteleError, match="its own code, which Stele never runs; use gte_mbase, the same weights"):
        model_of("Alibaba-NLP/gte-multilingual-base", {})


def test_a_name_that_has_results_of_something_else_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, before = tmp_path / "evaluate/m.yaml", configuration()
    write(path, before)
    others = {
        "model": configuration("/b/m"),
        "scale": configuration(scale="miniature"),
    }
    for other in others.values():
        refuse_another(path, other)  # nothing was made under it: a first try that was wrong
    (tmp_path / "results_evaluate/mrtydi/m").mkdir(parents=True)
    (tmp_path / "results_evaluate/mrtydi/m/direct.json").write_text("{}")
    for key, other in others.items():
        with pytest.raises(SteleError, match=f"has results of m with {key}: .* give --name NAME"):
            refuse_another(path, other)
        with pytest.raises(SteleError, match="has results of m with"):
            refuse_another(path, {**other, "results_dir": f"{tmp_path}/results_evaluate/"})
        refuse_another(path, {**other, "results_dir": "elsewhere"})
    refuse_another(path, {**before, "languages": ["sw"]})  # more of the same
    refuse_another(path, {**before, "models": {**before["models"], "another": {"checkpoint": "/c/n"}}})


@pytest.mark.parametrize("name", ["-rf", "a b%2f..", "x\\..\\y", "~", "\u202egnp"])
def test_a_folder_or_a_repository_cannot_lead_elsewhere(tmp_path, name):
    """The file of a configuration is called by the last part of either."""
    (tmp_path / "models" / name).mkdir(parents=True)
    for given in (str(tmp_path / "models" / name), "owner/.."):
        key, _ = model_of(given, {})
        assert inside(tmp_path, f"{key}.yaml", "a model").parent == tmp_path and key[0] not in ".-_", key


def test_a_configuration_is_written_in_its_folder_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("stele.evaluate.evaluate.FOLDER", tmp_path / "evaluate")
    monkeypatch.setattr("stele.config.user_models._named", lambda name, default: f"../{default}")
    assert cli.main(["evaluate", "owner/victim", "--plan"]) == 1
    assert "could lead outside its folder" in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("me5_smal", "did you mean 'me5_small'"),
        ("multilingual-e5-smal", "did you mean 'intfloat/multilingual-e5-small'"),
        ("bm25", "has no encoder"),
        ("a/b/c", "^a/b/c: neither a folder"),
    ],
)
def test_what_is_no_model_is_refused(given, message):
    with pytest.raises(SteleError, match=message):
        model_of(given, {})


def test_values_of_an_encoding_are_read_as_in_yaml_and_prompts_as_they_are():
    pairs = ["dimension=64", "normalize=true", "query_prompt=query: ", "instruction=1", "pooling=mean"]
    expected = {"dimension": 64, "normalize": True, "query_prompt": "query: ", "instruction": "1", "pooling": "mean"}
    assert encoding_of(pairs) == expected
    assert encoding_of(["query_prompt=Instruct: x\\nQuery: "]) == {"query_prompt": "Instruct: x\nQuery: "}
    with pytest.raises(SteleError, match="want KEY=VALUE, found 'pooling'"):
        encoding_of(["pooling"])


@pytest.mark.parametrize("pair", ["pooling=[", "pooling={a: b: c}", "pooling=*x", "dimension=!!python/name:os.x"])
def test_a_value_of_an_encoding_that_is_no_yaml_is_named(pair):
    with pytest.raises(SteleError, match=r"--encoding pooling|--encoding dimension"):
        encoding_of([pair])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["me5_small", "--benchmarks", "mrtidy"], "did you mean 'mrtydi'"),
        (["me5_small", "--benchmarks", "mrtydi", "--languages", "xx"], "xx"),
        (["me5_small", "--benchmarks", "mrtydi", "--encoding", "poling=mean"], "did you mean 'pooling'"),
        (["criss", "--benchmarks", "tatoeba"], "its checkpoint is released for fairseq only"),
        (["me5_small", "--benchmarks", "mlqa"], "mlqa: its models are trained for it; without training, encoders"),
        (["me5_small", "--benchmarks", "clef2006_fr"], "direct_dense/clef2006_fr: unavailable, needs CLEF 2006 French"),
    ],
)
def test_what_cannot_run_is_refused_in_a_sentence_and_nothing_is_written(
    arguments, message, capsys, tmp_path, monkeypatch
):
    monkeypatch.setattr("stele.evaluate.evaluate.FOLDER", tmp_path)
    assert cli.main(["evaluate", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_without_a_network_a_known_checkpoint_is_refused_before_anything_is_built(jobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SteleError, match=r"me5_small config.json: could not be fetched.*\n.*offline: true"):
        check_checkpoint(jobs(scale="paper", offline=True), "me5_small")
    check_checkpoint(jobs(scale="paper"), "me5_small")


def test_a_known_checkpoint_that_will_be_trained_is_checked_fetched_before_or_not(jobs, tmp_path, monkeypatch):
    """Each can be used, but not each has an MLM."""
    monkeypatch.chdir(tmp_path)
    commands: list[list[str]] = []
    done = SimpleNamespace(returncode=0)
    monkeypatch.setattr(evaluate.subprocess, "run", lambda words, **_: commands.append(words) or done)
    plan = jobs(scale="paper")
    check_checkpoint(plan, "embeddinggemma", trained=True)
    record = Path(plan.paths.checkpoint("embeddinggemma"))
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    check_checkpoint(plan, "embeddinggemma", trained=True)
    check_checkpoint(plan, "embeddinggemma")
    assert [("--trained" in words, "--path" in words) for words in commands] == [(True, False), (True, True)]


def test_a_plan_is_of_the_configuration_that_snakemake_merges(tmp_path, monkeypatch):
    """Key by key also within a key: what config.yaml says of seeds stays when another file says the rest."""
    (tmp_path / "config.yaml").write_text("scale: miniature\nseeds: {pretraining: [3, 4]}\n")
    monkeypatch.chdir(tmp_path)
    seeds = plan_of({"seeds": {"finetuning": [7]}}).settings.config.seeds
    assert (seeds.pretraining, seeds.finetuning) == ([3, 4], [7])


def test_what_a_configfile_says_stays_beside_what_the_call_says(tmp_path, monkeypatch):
    monkeypatch.setattr("stele.evaluate.evaluate.FOLDER", tmp_path)
    monkeypatch.setattr("stele.evaluate.evaluate.build", lambda arguments: None)
    more = tmp_path / "more.yaml"
    model = '{label: Mine, encoding: {query_prompt: "c: ", dimension: 32}}'
    more.write_text(f"scale: one_gpu\nresults_dir: results_mine\nmodels: {{me5_small: {model}}}\n")
    words = ["me5_small", "--benchmarks", "mrtydi", "--configfile", str(more), "--encoding", "dimension=64"]
    assert cli.main(["evaluate", *words]) == 0
    written = yaml.safe_load((tmp_path / "me5_small.yaml").read_text())
    assert written["models"]["me5_small"] == {"label": "Mine", "encoding": {"query_prompt": "c: ", "dimension": 64}}
    assert (written["scale"], written["results_dir"]) == ("one_gpu", "results_mine")


def test_snakemake_is_started_on_what_was_written(tmp_path, monkeypatch, capsys):
    started = []
    monkeypatch.setattr("stele.evaluate.evaluate.FOLDER", tmp_path)
    monkeypatch.setattr("stele.evaluate.evaluate.build", started.append)
    line = "evaluate me5_small --benchmarks mrtydi tatoeba --snakemake -n --cores 1"
    assert cli.main(line.split()) == 0
    targets = [f"results_evaluate/{benchmark}/me5_small/direct.json" for benchmark in ("mrtydi", "tatoeba")]
    path = tmp_path / "me5_small.yaml"
    card = "results_evaluate/cards/me5_small.md"
    assert started[0] == [*targets, card, "--configfile", str(path), "-n", "--cores", "1"]
    given = {"scale": "paper", "results_dir": "results_evaluate", "cards": {"me5_small": ["mrtydi", "tatoeba"]}}
    assert yaml.safe_load(path.read_text()) == given
    assert f"snakemake {' '.join(targets)}" in capsys.readouterr().out
