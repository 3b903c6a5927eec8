"""The README's commands, planned as they stand; its links and make targets exist."""

import re
import shlex

import pytest

from tests.conftest import ROOT
from tests.workflow.conftest import snakemake

TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, flags=re.M | re.S)
LINES = [line.partition("#")[0].strip() for kind, body in BLOCKS if kind == "sh" for line in body.splitlines()]
COMMANDS = [line for line in LINES if line.startswith("snakemake ")]


def test_there_are_commands():
    assert len(COMMANDS) >= 6
    assert "make tables" in LINES and "make test" in LINES


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_plans(command, fresh, tmp_path):
    arguments = shlex.split(command)[1:]
    if "mine.yaml" in arguments:
        folders = {name: tmp_path / name for name in ("checkpoint", "lareqa", "tatoeba")}
        for folder in folders.values():
            folder.mkdir()
        body = next(body for kind, body in BLOCKS if kind == "yaml" and body.startswith("# mine.yaml"))
        for found, folder in zip(re.findall(r"/\S+?(?=[}\s])", body), folders.values(), strict=True):
            body = body.replace(found, str(folder))
        (fresh / "mine.yaml").write_text(body)
    run = snakemake(fresh, "-n", *(a for a in arguments if a != "-n"))
    assert run.returncode == 0, run.stdout


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / target).exists(), target


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in {line.split()[1] for line in LINES if line.startswith("make ")}:
        assert re.search(rf"^{target}:", makefile, flags=re.M), target
