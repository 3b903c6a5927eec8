"""What evidence/ holds: right by its manifest, of the claims of today, small, and judged the same anywhere."""

import json

import pytest

from stele.command import cli
from stele.evidence.trainings import FILE as TRAININGS
from stele.files.atomic import sha256
from stele.files.paths import STUDY
from stele.papers.claims import FILE
from tests.conftest import ROOT

KEPT = ROOT / "evidence/study"
PAPERS = sorted(path.stem for path in KEPT.glob("claims/*.json"))


def test_the_kept_files_are_those_of_the_manifest():
    assert cli.main(["tables", "verify", "--results-dir", str(KEPT)]) == 0


def test_it_was_begun_under_the_claims_of_today():
    begun = json.loads((KEPT / STUDY).read_text(encoding="utf-8"))
    assert begun["scale"] == "study"
    for paper, digest in begun["claims_sha256"].items():
        assert sha256(ROOT / "paper_tables" / paper / FILE) == digest, f"the claims of {paper} have changed since"


@pytest.mark.parametrize("paper", PAPERS)
def test_the_verdicts_are_those_that_the_kept_scores_give(paper, capsys):
    specs = ["--specs", str(ROOT / "paper_tables")]
    assert cli.main(["claims", "judge", str(KEPT), "--paper", paper, "--format", "json", *specs]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert judged == json.loads((KEPT / f"claims/{paper}.json").read_text(encoding="utf-8"))


def test_it_is_small_and_its_pretrainings_learnt():
    assert sum(path.stat().st_size for path in KEPT.rglob("*") if path.is_file()) < 20e6
    kept = json.loads((KEPT / TRAININGS).read_text(encoding="utf-8"))
    assert kept, "no pretraining is kept"
    for one in kept.values():
        for task, chance in one["chance"].items():
            assert one["losses"][task] < chance, f"{one['model']}, seed {one['seed']}: {task} learnt nothing"
