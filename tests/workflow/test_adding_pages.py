"""Each page of docs/adding, done as it says in a copy of the project: it works, and no file of Python changes."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.workflow.conftest import copy_project, environment
from tests.workflow.test_contributing import BLOCK, insert

PAGES = {path.stem: path.read_text() for path in (ROOT / "docs/adding").glob("*.md")}
FINGERPRINTS = """
from stele.snakemake_support.fingerprint import code
from stele.evaluation.metrics import metric_modules, ranx_lines
for names in (["mrr@100", "recall@100"], ["map@20"], ["f1"], ["alignment", "uniformity_query"]):
    print(code("scoring.score", *metric_modules(names)), ranx_lines(names))
"""


def python_files(project):
    return {path: path.read_bytes() for path in (project / "src").rglob("*.py")}


def fingerprints(project, env):
    command = [sys.executable, "-c", FINGERPRINTS]
    env = {**env, "PYTHONPATH": str(project / "src")}
    return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("page", PAGES)
def test_the_example_of_a_page_works_and_changes_no_python_file(page, root, tmp_path):
    project = copy_project(root, tmp_path / "stele")
    env = environment()
    env["PATH"] = f"{os.path.dirname(sys.executable)}:{env['PATH']}"
    before, metrics = python_files(project), fingerprints(project, env)
    blocks = BLOCK.findall(PAGES[page])
    for language, body in blocks:
        if language == "sh":
            done = subprocess.run(["bash", "-euc", body], cwd=project, env=env, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "This was a dry-run" in done.stdout + done.stderr
        else:
            first, _, rest = body.partition("\n")
            insert(project, first, rest)
    assert "sh" in dict(blocks)
    assert before.items() <= python_files(project).items()
    assert fingerprints(project, env) == metrics, "results that do not use what was added would be computed again"
