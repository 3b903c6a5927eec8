"""The examples of docs/adding, one a page, applied to a copy of the project and run as they stand."""

import json
import os
import re
import subprocess
import sys

import pytest
import yaml

from tests.conftest import ROOT
from tests.workflow.conftest import copy_project, environment, planned, snakemake

PAGES = {path.stem: path.read_text() for path in sorted((ROOT / "docs/adding").glob("*.md"))}
BLOCK = re.compile(r"^```(yaml|python|sh)\n(.*?)^```$", flags=re.M | re.S)


def merge(old, new):
    """Keys of both, those of the second winning, however deep."""
    both = {key: merge(old[key], new[key]) for key in old.keys() & new.keys() if isinstance(old[key], dict)}
    return {**old, **new, **both}


def insert(project, first, body):
    """Puts a block where its first line says: a file, and for YAML the key below which it belongs."""
    name, _, key = first.removeprefix("# ").partition(" ")
    path = project / name
    if name == "config.yaml":
        merged = merge(yaml.safe_load(path.read_text()), yaml.safe_load(body))
        path.write_text(yaml.safe_dump(merged, sort_keys=False, allow_unicode=True))
    elif key:
        lines = path.read_text().splitlines(keepends=True)
        at = 0
        for part in key.split("."):  # each key below the one before
            pattern = re.compile(rf"^ *{re.escape(part)}: *(\{{.*)?$")
            at = next(n for n in range(at, len(lines)) if pattern.match(lines[n].rstrip()))
        actual = pattern.match(lines[at].rstrip())[1]
        if actual:  # {a: b}, which may go on in the next lines: add inside the braces
            at = next(n for n in range(at, len(lines)) if lines[n].rstrip().endswith("}"))
            inner = ", ".join(line.strip() for line in body.strip().splitlines())
            lines[at] = lines[at].rstrip()[:-1] + f", {inner}}}\n"
        else:
            lines.insert(at + 1, body)
        path.write_text("".join(lines))
    else:
        with open(path, "a", encoding="utf-8") as handle:
            handle.write("\n" + body)


@pytest.mark.parametrize("page", PAGES)
def test_the_example_works(page, request, root, tmp_path):
    """In a clone of the built chain where the page runs something at its scale."""
    of_chain = "tiny.yaml" in PAGES[page]
    project = request.getfixturevalue("built") if of_chain else copy_project(root, tmp_path / "stele")
    env = environment()
    env["PATH"] = f"{os.path.dirname(sys.executable)}:{env['PATH']}"
    ran = 0
    for language, body in BLOCK.findall(PAGES[page]):
        if language == "sh":
            done = subprocess.run(["bash", "-euc", body], cwd=project, env=env, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            ran += 1
        else:
            first, _, rest = body.partition("\n")
            insert(project, first, rest)
    assert ran


def test_the_objective_of_the_page_learns_at_scale_tiny(built):
    """SimCSE put into a built short chain: its pretraining alone runs, and its loss falls below chance in 30 steps."""
    for language, body in BLOCK.findall(PAGES["objective"]):
        first, _, rest = body.partition("\n")
        if language != "sh" and first != "# config.yaml":
            insert(built, first, rest)
    small = {"languages": ["en", "ru"], "sentences": 16, "sentence_length": 12, "steps": 30, "warmup_steps": 0}
    small |= {"learning_rate": 3e-3, "precision": "float32"}
    model = {"label": "SimCSE", "base": "xlmr", "recipe": "simcse", "override": small}
    insert(built, "# config.yaml", yaml.safe_dump({"models": {"simcse": model}}))
    record = "work/tiny/encoders/simcse/pt0/record.json"
    assert planned(built, record) == {"pretrain": 1}
    run = snakemake(built, record)
    assert run.returncode == 0, run.stdout
    facts = json.loads((built / record).read_text())
    assert facts["losses"]["simcse"] < facts["chance"]["simcse"] - 0.3


def test_contributing_names_every_page_and_only_files_that_there_are():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    linked = set(re.findall(r"\(docs/adding/(\w+)\.md\)", text))
    assert linked == set(PAGES)
    named = set(re.findall(r"`((?:src|workflow|tests|paper_tables|profiles|envs)/[\w./]+)`", text))
    assert len(named) > 20
    assert not [name for name in named if not (ROOT / name).exists()]
