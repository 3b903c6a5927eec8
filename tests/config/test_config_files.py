"""Where a configuration comes from: files read strictly, errors that name the one to mend."""

from types import SimpleNamespace

import pytest

from stele.config.sources import Sources, read_sources
from stele.errors import SteleError


def workflow(*more, own=("config.yaml",), **said):
    settings = SimpleNamespace(config=said)
    return SimpleNamespace(overwrite_configfiles=list(more), configfiles=[*more, *own], config_settings=settings)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text("models: {}\noffline: false\n")
    return tmp_path


def test_the_file_of_the_command_line_overrules_config_yaml_and_config_overrules_both(folder):
    (folder / "mine.yaml").write_text("offline: true\nmodels: {mine: {base: xlm}}\n")
    where = read_sources(workflow(folder / "mine.yaml", papers=["msm"]))
    assert [name for name, _ in where.given] == ["config.yaml", "mine.yaml", "--config"]
    assert where("offline") == "mine.yaml: offline"
    assert where("models", "mine", "base") == "mine.yaml: models.mine.base"
    assert where("papers", 0) == "--config: papers.0"
    assert where("seeds") == "config.yaml: seeds"


def test_the_key_below_decides_not_the_one_above():
    given = [("config.yaml", {"models": {"a": {"base": "x"}}}), ("mine.yaml", {"models": {"b": {"base": "y"}}})]
    assert Sources(given)("models", "a", "base").startswith("config.yaml")
    assert Sources(given)("models", "b", "base").startswith("mine.yaml")


@pytest.mark.parametrize("name", ["config.yaml", "mine.yaml"])
def test_a_key_given_twice_is_named_with_its_file_and_line(folder, name):
    (folder / "mine.yaml").write_text("offline: true\n")
    with open(folder / name, "a") as handle:
        handle.write("papers: [msm]\npapers: [kept]\n")
    with pytest.raises(SteleError, match=rf"{name}, line \d: key 'papers' is given twice"):
        read_sources(workflow(folder / "mine.yaml"))
