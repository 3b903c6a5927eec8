"""`stele claims judge`: as text, CSV and JSON, of one paper, from any folder; bad input is one sentence."""

import csv
import io
import json

import pytest

from stele.claims.pack import pack
from stele.command import cli
from tests.claims.made_results import write_results
from tests.claims.small_paper import cells, write_paper
from tests.sealed import write_sealed

HOLDS = {"kind": "greater", "left": cells("all/ours/mrr/avg"), "right": cells("all/base/mrr/avg"), "main": True}
CONTROL = {"right": {"model": "mbert"}}
OTHER = HOLDS | {"key": "against_other", "right": cells("all/other/mrr/avg"), "main": False}
OPEN = {"key": "open", "kind": "other", "checkable": False, "why": "of other papers", "printed": None}


@pytest.fixture
def judge(tmp_path, capsys):
    """Standard output of the command, and of errors, after its status."""
    write_paper(tmp_path / "specs", [HOLDS | {"controls": [{"right": {"model": "kept"}}]}, OTHER, OPEN])
    folder = write_results(tmp_path / "results", {"mbert": 0.0, "msm": 0.08})
    (folder / "scale.txt").write_text("study\n")

    def run(*arguments, folder=folder):
        status = cli.main(["claims", "judge", str(folder), "--specs", str(tmp_path / "specs"), *arguments])
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return run


def test_as_text(judge):
    status, text, _ = judge()
    assert status == 0 and text.startswith("scale study: generated data\n")
    assert "msm: 2 claims that can be checked: 1 no data, 1 supported\n" in text
    assert "supported: msm/a_claim (greater, main; s3.2)\n  In our words.\n  +8" in text
    assert "control: against KEPT: results are missing: mrtydi/kept/zero_shot_marco" in text


def test_a_gain_of_0_has_no_share(judge, tmp_path):
    write_paper(tmp_path / "specs", [HOLDS | {"kind": "margin", "amount": 0}])
    text = judge()[1]
    assert "of the printed gain" not in text and "margin" in text


def test_as_csv_and_as_json_they_say_the_same(judge, tmp_path):
    rows = list(csv.DictReader(io.StringIO(judge("--format", "csv")[1])))
    facts = json.loads(judge("--format", "json")[1])
    assert [row["key"] for row in rows] == [claim["key"] for claim in facts["claims"]] == ["a_claim", "against_other"]
    assert [row["state"] for row in rows] == [claim["state"] for claim in facts["claims"]] == ["supported", "no data"]
    assert float(rows[0]["low"]) == facts["claims"][0]["interval"][0] > 0 and rows[1]["low"] == ""
    assert facts["claims"][0]["level"] == 0.025 and rows[1]["missing"] == "mrtydi/xlmr/zero_shot_marco"
    assert facts["scale"] == "study" and len(facts["papers"]["msm"]["claims_sha256"]) == 64


def test_a_pretraining_that_diverged_stands_beside_the_verdict_in_each_format(judge, tmp_path):
    write_paper(tmp_path / "specs", [HOLDS | {"right": cells("all/other/mrr/avg"), "controls": [CONTROL]}])
    folder = write_results(tmp_path / "of_three", {"mbert": 0.0, "msm": 0.08, "xlmr": 0.0})
    for model in ("mbert", "xlmr"):
        path = folder / f"mrtydi/{model}/zero_shot_marco/pt2-ft0.json"
        write_sealed(path, json.loads(path.read_text()) | {"diverged": {path.stem: f"{model}: loss 3.9"}})
    (claim,) = json.loads(judge("--format", "json", folder=folder)[1])["claims"]
    (of_claim,), (of_control,) = claim["diverged"], claim["controls"][0]["diverged"]
    assert "xlmr: loss 3.9" in of_claim and "mbert: loss 3.9" in of_control
    (row,) = csv.DictReader(io.StringIO(judge("--format", "csv", folder=folder)[1]))
    assert row["diverged"] == of_claim and row["controls"].endswith(f"; {of_control}")
    text = judge(folder=folder)[1]
    assert f"\n  {of_claim}\n" in text and f"; {of_control}\n" in text


def test_into_a_folder_twice_the_same_bytes(judge, tmp_path):
    into = tmp_path / "made"
    assert judge("--into", str(into))[:2] == (0, "")
    first = {path.name: path.read_bytes() for path in into.iterdir()}
    judge("--into", str(into))
    assert first == {path.name: path.read_bytes() for path in into.iterdir()}
    assert first.keys() == {"msm.json", "msm.csv"} and json.loads(first["msm.json"])["claims"]


@pytest.mark.parametrize("name", ["msm.json", "msm.csv"])
def test_into_a_folder_with_a_file_of_the_users_of_that_name_writes_nothing(judge, tmp_path, name):
    into = tmp_path / "mine"
    into.mkdir()
    (into / name).write_text("my notes\n")
    status, _, message = judge("--into", str(into))
    assert status == 1 and f"mine/{name}: exists and holds no verdicts" in message
    assert [path.name for path in into.iterdir()] == [name] and (into / name).read_text() == "my notes\n"


@pytest.mark.parametrize("job", ["pretrain", "answer"])
def test_seeds_of_different_recipes_are_neither_judged_as_one_row_nor_averaged(judge, tmp_path, job):
    """As after a change of a recipe that was built again for one seed alone."""
    path = tmp_path / "results/mrtydi/msm/zero_shot_marco/pt0-ft0.json"
    record = json.loads(path.read_text())
    record["ancestry"]["another"] = {"job": job, "model": "msm", "recipe": {"mu": 0.9}}
    mean = tmp_path / "packed/mrtydi/msm/zero_shot_marco.json"
    pack(tmp_path / "results", tmp_path / "packed", tmp_path / "specs")
    assert mean.is_file()
    write_sealed(path, record)
    pack(tmp_path / "results", tmp_path / "packed", tmp_path / "specs")
    assert not mean.exists()
    for folder in ("results", "packed"):
        claim = json.loads(judge("--format", "json", folder=tmp_path / folder)[1])["claims"][0]
        assert claim["state"] == "no data" and "its seeds are of different recipes" in claim["reason"]


def test_there_is_a_second_look_only_where_seeds_were_added(judge, tmp_path):
    """A claim that the first look leaves undecided stays of the first until there are seeds beside its own."""
    folder = write_results(tmp_path / "noisy", {"mbert": 0.0, "msm": 0.08}, over_seeds=0.3)
    for seeds, look in (([0, 1, 2, 3, 4], 1), ([0, 1, 2, 3], 2)):
        (folder / "looks.yaml").write_text(f"first: {{pretraining: {seeds}}}\n")
        claim = json.loads(judge("--format", "json", folder=folder)[1])["claims"][0]
        assert (claim["state"], claim["look"]) == ("undecided", look)


def test_what_is_not_there_and_what_is_not_known_are_one_sentence(judge, tmp_path):
    assert "folder: ./mms): unknown paper 'mms'; did you mean 'msm'?" in judge("--paper", "mms")[2]
    assert "nowhere: no such folder of results" in judge(folder=tmp_path / "nowhere")[2]
    (tmp_path / "results/looks.yaml").write_text("frist: {pretraining: [0]}\n")
    assert "looks.yaml" in (message := judge()[2]) and "did you mean 'first'" in message
