"""What a plan keeps for the next: values of YAML files, the check of the catalogue, what config.yaml adds to it."""

import json
import os
import subprocess
import sys

import pytest

from stele import catalogue
from stele.snakemake_support import validate_catalogue as validation

LANGUAGE = {"name": "Latgalian", "script": "Latin", "family": "Baltic"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder in which Snakemake has run."""
    (tmp_path / ".snakemake").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_values_of_a_text_are_read_where_it_was_parsed_before_and_never_for_another_text(folder, monkeypatch):
    file = folder / "a.yaml"
    file.write_text("a: [1, 2.5, yes, text]\n")
    values = catalogue.read_yaml(file)
    monkeypatch.setattr(catalogue, "_parse", lambda text, path: {"parsed": "anew"})
    assert catalogue.read_yaml(file) == values == {"a": [1, 2.5, True, "text"]}
    file.write_text("a: [1, 2.5, yes, texts]\n")
    assert catalogue.read_yaml(file) == {"parsed": "anew"}


@pytest.mark.parametrize("damage", [lambda text: text[:-3], lambda text: text.replace("2.5", "2.6"), lambda text: ""])
def test_a_damaged_file_of_values_is_not_trusted(folder, damage):
    file = folder / "a.yaml"
    file.write_text("a: 2.5\n")
    values = catalogue.read_yaml(file)
    stored = catalogue.parsed_path(file.read_text())
    stored.write_text(damage(stored.read_text()))
    assert catalogue.read_yaml(file) == values


def test_values_that_json_has_not_are_parsed_each_time(folder):
    for text in ("1: a\n", "a: 2020-01-01\n", "a: .nan\n"):
        (folder / "a.yaml").write_text(text)
        assert str(catalogue.read_yaml(folder / "a.yaml")) == str(catalogue._parse(text, "a.yaml"))
        assert not catalogue.parsed_path(text).exists()


def test_the_catalogue_is_checked_once_for_a_state_of_its_files(folder, monkeypatch):
    checked, note = [], folder / "note"
    monkeypatch.setattr(validation, "FILES", {"catalogue/rules.yaml": lambda values, name: checked.append(name)})
    validation.validate_catalogue(note)
    validation.validate_catalogue(note)
    assert len(checked) == 1
    note.write_bytes(b"\xff")
    validation.validate_catalogue(note)
    monkeypatch.setattr(validation.pydantic, "VERSION", "0")
    validation.validate_catalogue(note)
    assert len(checked) == 3


def test_a_command_copied_from_a_plan_knows_what_the_plan_added(folder):
    """It is started without the plan's environment, in its folder."""
    environment = {name: value for name, value in os.environ.items() if name != catalogue.ADDED}
    program = "from stele import catalogue; print(catalogue.load('languages').get('ltg', {}).get('name'))"

    def name() -> str:
        command = [sys.executable, "-c", program]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    try:
        catalogue.add({"languages": {"ltg": LANGUAGE}})
        catalogue.note_plan()
        assert json.loads(catalogue.LAST_PLAN.read_text())["languages"] == {"ltg": LANGUAGE} and name() == "Latgalian"
        environment[catalogue.ADDED] = ""  # a job of another plan, which adds nothing
        assert name() == "None"
    finally:
        catalogue.add({})
    del environment[catalogue.ADDED]
    catalogue.note_plan()
    assert name() == "None" and not catalogue.LAST_PLAN.exists()
