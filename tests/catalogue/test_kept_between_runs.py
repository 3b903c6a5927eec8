"""What a plan keeps for the next: the check of the catalogue, and what config.yaml adds to it."""

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
