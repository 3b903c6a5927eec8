"""The short chain: every stage runs once, and its table has a number of ours; another clone uses its results."""

import csv
import json

import pytest

from stele.command import cli
from tests.workflow.conftest import TABLE, clone, copy_project, planned, shorten


def test_the_chain_is_built(chain):
    with (chain / TABLE).with_suffix(".csv").open(encoding="utf-8") as handle:
        cells = list(csv.DictReader(handle))
    ours = [float(cell["measured"]) for cell in cells if cell["measured"]]
    assert ours and all(0 < value <= 100 for value in ours)
    assert planned(chain, TABLE) == {}, "what is built is not built again"


@pytest.fixture
def other(root, built, tmp_path):
    """Another clone of the project, with nothing but the results."""
    project = shorten(copy_project(root, tmp_path / "other"))
    clone(built / "results", project / "results")
    return project


def test_results_that_were_handed_over_are_not_built_again(other):
    (result,) = (other / "results").glob("xor_retrieve/*/*.json")
    assert not planned(other, str(result.relative_to(other)))
    assert set(planned(other, TABLE)) <= {"table"}  # a spec that is newer than the table is rendered anew


def test_a_folder_handed_over_can_be_verified_and_says_what_it_was_made_from(other, capsys):
    assert cli.main(["tables", "verify", "--results-dir", str(other / "results")]) == 0
    ancestry = json.loads((other / "results/manifest.json").read_text())["ancestry"].values()
    jobs = {one["job"] for one in ancestry}
    assert {"sources dataset", "sources checkpoint", "pairs mine", "pretrain", "finetune", "retrieve", "score"} <= jobs
    (result,) = (other / "results").glob("xor_retrieve/*/*.json")
    result.write_bytes(result.read_bytes().replace(b"0.", b"0.9", 1))
    assert cli.main(["tables", "verify", "--results-dir", str(other / "results")]) == 1
    assert f"{result}: changed" in capsys.readouterr().err
