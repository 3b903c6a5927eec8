"""One command evaluates a folder as it is: from its weights to a result, in a folder of results of its own."""

import json
import subprocess
import sys

from tests.encoders.tiny_models import make_folder
from tests.workflow.conftest import environment


def test_a_folder_is_evaluated_by_one_command(built, tmp_path):
    folder = make_folder(tmp_path / "tiny")
    command = [sys.executable, "-m", "stele", "evaluate", str(folder), "--scale", "miniature"]
    own = ["--benchmarks", "mrtydi", "--encoding", "pooling=mean", "dimension=16", "--snakemake", "--cores", "2"]
    run = subprocess.run([*command, *own], cwd=built, env=environment(), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    result = json.loads((built / "results_evaluate/mrtydi/tiny/direct.json").read_text())
    retrieved = next(facts for facts in result["ancestry"].values() if facts["job"] == "retrieve")
    assert retrieved["encoding"]["dimension"] == 16
    assert retrieved["encoding_decided_by"]["config"] == ["dimension", "pooling"]
    card = (built / "results_evaluate/cards/tiny.md").read_text()
    assert "| pooling " in card and "--encoding dimension=16 pooling=mean" in card and "generated data" in card
    assert (built / "results_evaluate/cards/tiny.html").is_file()
    listed = [*command[:3], "tables", "references", "--results-dir", "results_evaluate"]
    verdicts = subprocess.run(listed, cwd=built, env=environment(), capture_output=True, text=True)
    assert verdicts.returncode == 0 and "no result has a published number" in verdicts.stdout
