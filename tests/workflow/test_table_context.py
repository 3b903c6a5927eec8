"""Rule `context`: what the plan tells tables, of any length, and built anew when it changes."""

import json

import pytest

from tests.workflow.conftest import copy_project, planned, snakemake

CONTEXT = "results/tables/context.json"
LONG = 200_000  # characters: more than one argument of a command may have


@pytest.fixture
def project(root, tmp_path):
    return copy_project(root, tmp_path / "stele")


def label(project, text):
    """config.yaml with a model of that label, which stands in the context."""
    model = {"base": "xlmr", "recipe": "msm", "label": text, "tables": ["msm/9"]}
    (project / "config.yaml").write_text(json.dumps({"models": {"mine": model}}))


def written_label(project):
    rows = json.loads((project / CONTEXT).read_text())["extra_rows"]
    return next(row["label"] for row in rows if row["model"] == "mine")


def test_a_context_of_any_length_is_written_and_follows_the_plan(project):
    label(project, "x" * LONG)
    run = snakemake(project, "--printshellcmds", CONTEXT)
    assert run.returncode == 0, run.stdout[-2000:]
    assert "cp state/miniature/context-" in run.stdout and len(run.stdout) < LONG, "no command line holds it"
    assert len(written_label(project)) == LONG
    assert planned(project, CONTEXT) == {}
    label(project, "y")
    assert planned(project, CONTEXT) == {"context": 1}
    assert snakemake(project, CONTEXT).returncode == 0
    assert written_label(project) == "y"
