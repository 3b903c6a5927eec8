"""stele encoders show: values with their origins, and texts as a model reads them."""

import shutil

import pytest
from tiny_models import make_folder
from todays_folders import sentence_transformer

from stele.command import cli
from stele.encoders.resolve import resolve
from stele.encoders.show import shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("show")
    return sentence_transformer(place / "st", make_folder(place / "base"), "mean")[0]


def test_each_value_stands_with_who_decided_it_and_prompts_are_in_the_texts(folder):
    wanted = {
        "models": {"query_prompt": "query: "},
        "config": {"max_length": 8},
        "benchmark": {"passage_format": "text"},
    }
    lines = list(shown(folder, resolve(folder, wanted)))
    origins = {line.split()[0]: line.split()[-1] for line in lines if not line.startswith(("a ", "note"))}
    assert origins["pooling"] == "folder" and origins["query_prompt"] == "models"
    assert origins["passage_length"] == "config" and origins["passage_format"] == "benchmark"
    assert origins["precision"] == "default"
    query = next(line for line in lines if line.startswith("a query:"))
    assert query.split()[2] == "<s>" and len(query.split()[2:]) == 8  # cut with its prompt


def test_the_command_prints_the_same_of_a_folder(folder, capsys):
    assert cli.main(["encoders", "show", str(folder), "--encoding", '{"query_prompt": "query: "}']) == 0
    assert "query_prompt" in capsys.readouterr().out
    assert cli.main(["encoders", "show", str(folder), "--encoding", '{"query_promt": "x"}']) == 1
    assert "did you mean 'query_prompt'" in capsys.readouterr().err


def test_a_model_without_its_checkpoint_says_how_to_get_it(capsys):
    assert cli.main(["encoders", "show", "me5_base", "--scale", "paper", "--benchmark", "mrtydi"]) == 1
    assert "snakemake resources/paper/checkpoints/me5_base/record.json" in capsys.readouterr().err
    assert cli.main(["encoders", "show", "me5_bse", "--scale", "paper"]) == 1
    assert "me5_base" in capsys.readouterr().err


@pytest.fixture
def project(tmp_path, folder, monkeypatch):
    """A folder of a project, in which the checkpoints of two models are: a known one, and one of an evaluation."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text("scale: paper\n")
    for model in ("me5_base", "mine"):
        place = tmp_path / "resources/paper/checkpoints" / model
        shutil.copytree(folder, place)
        (place / "record.json").write_text("{}")
    (tmp_path / "mine.yaml").write_text('models: {mine: {checkpoint: a/b, encoding: {query_prompt: "m: "}}}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("words", "prompt", "origin"),
    [
        (["me5_base"], "query: ", "models"),
        (["intfloat/multilingual-e5-base", "--benchmark", "belebele"], "query: ", "models"),
        (["me5_base", "--encoding", '{"query_prompt": "c: "}'], "c: ", "config"),
        (["mine", "--configfile", "mine.yaml"], "m: ", "config"),
        (["me5_base", "--encoding", '{"query_prompt": "{instruction}: "}'], "{instruction}: ", "config"),
    ],
)
def test_a_model_is_shown_by_key_or_repository_with_what_is_said_of_it(project, capsys, words, prompt, origin):
    assert cli.main(["encoders", "show", *words]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("query_prompt"))
    assert repr(prompt) in line and line.split()[-1] == origin


def test_two_configurations_of_a_model_are_merged_as_in_its_jobs(project, capsys):
    """Key by key: what config.yaml says of its prompt stays where another file says its length."""
    (project / "config.yaml").write_text('scale: paper\nmodels: {me5_base: {encoding: {query_prompt: "c: "}}}\n')
    (project / "more.yaml").write_text("models: {me5_base: {encoding: {query_length: 9}}}\n")
    assert cli.main(["encoders", "show", "me5_base", "--configfile", "more.yaml"]) == 0
    said = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert (said["query_prompt"], said["query_length"]) == (["'c:", "'", "config"], ["9", "config"])


def test_a_repository_means_the_catalogue_s_model_whatever_config_yaml_makes_of_it(project, capsys):
    bare = '{checkpoint: intfloat/multilingual-e5-base, encoding: {query_prompt: ""}}'
    (project / "bare.yaml").write_text(f"models: {{mine: {bare}}}\n")
    assert cli.main(["encoders", "show", "intfloat/multilingual-e5-base", "--configfile", "bare.yaml"]) == 0
    assert "'query: '" in capsys.readouterr().out


def test_what_cannot_be_shown_is_said(project, folder, capsys):
    for words, message in (
        (["me5_base", "--benchmark", "mlqa"], "benchmark mlqa: its models are trained for the task"),
        (["me5_base", "--encoding", '{"quark": 1}'], "unknown key 'quark'"),
        (["mine"], "unknown model 'mine'"),
        (["Multilingual-E5-base"], "did you mean 'intfloat/multilingual-e5-base'?"),
    ):
        assert cli.main(["encoders", "show", *words]) == 1
        assert message in capsys.readouterr().err


def test_a_benchmark_s_instruction_is_a_folder_s_too(folder, capsys):
    wanted = ["--encoding", '{"query_prompt": "{instruction}: "}', "--benchmark", "belebele"]
    assert cli.main(["encoders", "show", str(folder), *wanted]) == 0
    assert "Retrieve text based on user query." in capsys.readouterr().out
