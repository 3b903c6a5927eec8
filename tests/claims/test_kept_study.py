"""What evidence/ holds: right by its manifest, of the claims of today, small, and judged the same anywhere."""

import hashlib
import json
import re
import subprocess

import pytest

from stele.artifacts import records
from stele.artifacts.results import result_files
from stele.claims.judging.trainings import FILE as TRAININGS
from stele.claims.judging.verdicts import LOOKS_FILE as LOOKS
from stele.command import cli
from stele.files.digests import sha256
from stele.files.paths import STUDY
from stele.papers.claims import FILE
from tests.conftest import ROOT

JUDGED = ("msm", "kept")
SPECS = ("--specs", str(ROOT / "paper_tables"))


def test_the_kept_files_are_those_of_the_manifest(kept_study):
    assert cli.main(["tables", "verify", "--results-dir", str(kept_study)]) == 0


@pytest.fixture(scope="module")
def begun(kept_study):
    """What was written down when the study was begun."""
    return json.loads((kept_study / STUDY).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def results(kept_study):
    """The records of all results of single seeds."""
    return [records.read_record(path) for path in result_files(kept_study, each_seed=True)]


def test_it_was_begun_under_the_claims_and_the_looks_of_today(begun, kept_study):
    assert begun["scale"] == "study" and {"kept", "msm"} <= begun["claims_sha256"].keys()
    for paper, digest in begun["claims_sha256"].items():
        assert sha256(ROOT / "paper_tables" / paper / FILE) == digest, f"the claims of {paper} have changed since"
    assert sha256(kept_study / LOOKS) == begun["looks_sha256"], "the seeds of the first look have changed since"


def test_it_was_begun_before_its_first_result(begun, results):
    assert len(results) >= 702 and begun["begun"] < min(record["finished"] for record in results)


def test_what_was_run_had_the_claims_and_looks_that_it_was_begun_under(begun, results):
    """By the commits that results name; one with uncommitted changes (+) says nothing of its files."""
    commits = {record["commit"] for record in results if not record["commit"].endswith("+")}
    known = [commit for commit in sorted(commits) if _git("cat-file", "-e", f"{commit}^{{commit}}") is not None]
    if not known:
        pytest.skip(f"this clone has no history of {', '.join(sorted(commits))}, the commits that results name")
    claims = {f"paper_tables/{paper}/{FILE}": digest for paper, digest in begun["claims_sha256"].items()}
    for commit in known:
        for path, digest in (claims | {f"evidence/study/{LOOKS}": begun["looks_sha256"]}).items():
            content = _git("show", f"{commit}:{path}")
            assert content is not None and hashlib.sha256(content).hexdigest() == digest, f"{path} at {commit}"


def _git(*arguments):
    """What git writes, None where it knows no such thing."""
    found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    return found.stdout if found.returncode == 0 else None


@pytest.mark.parametrize("paper", JUDGED)
def test_the_verdicts_are_those_that_the_kept_scores_give(paper, capsys, kept_study):
    """Those in the archive are of the day on which it was packed."""
    assert cli.main(["claims", "judge", str(kept_study), "--paper", paper, "--format", "csv", *SPECS]) == 0
    assert capsys.readouterr().out == (ROOT / f"evidence/tables/claims/{paper}.csv").read_text(encoding="utf-8")


TEMPLATE = ROOT / "docs/study.md.j2"


def test_what_the_study_says_is_made_from_its_results(capsys, kept_study):
    papers = ["--paper", *JUDGED, *SPECS]
    assert cli.main(["claims", "judge", str(kept_study), *papers, "--template", str(TEMPLATE)]) == 0
    assert capsys.readouterr().out == (ROOT / "docs/study.md").read_text(encoding="utf-8")


def test_no_number_about_results_is_typed_into_what_the_study_says():
    prose = re.sub(r"\{[{%#].*?[#%}]\}", "", TEMPLATE.read_text(encoding="utf-8"), flags=re.DOTALL)
    prose = re.sub(r"(MRR|R)@\d+k?|95 %|seed 0|\.j2", "", prose)  # metrics, the level of controls, which curve
    words = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|half|third|tenth"
    assert re.findall(rf"\d[\d.]*|\b(?:{words})s?\b", prose) == []


def test_a_page_that_states_another_verdict_is_refused(capsys, kept_study, tmp_path):
    page = tmp_path / "page.md.j2"
    page.write_text('{{ claim("msm/bias", "supported").mean }}', encoding="utf-8")
    arguments = ["claims", "judge", str(kept_study), "--paper", "msm", *SPECS, "--template", str(page)]
    assert cli.main(arguments) == 1
    assert "the page says that msm/bias is supported, but it is undecided" in capsys.readouterr().err
    page.write_text('{{ claim("msm/biass", "supported").mean }}', encoding="utf-8")
    assert cli.main(arguments) == 1 and "did you mean 'msm/bias'" in capsys.readouterr().err


def test_it_is_small_and_its_pretrainings_learnt(kept_study):
    assert sum(path.stat().st_size for path in kept_study.rglob("*") if path.is_file()) < 20e6
    kept = json.loads((kept_study / TRAININGS).read_text(encoding="utf-8"))
    assert kept, "no pretraining is kept"
    for one in kept.values():
        for task, chance in one["chance"].items():
            assert one["losses"][task] < 0.9 * chance, f"{one['model']}, seed {one['seed']}: {task} learnt little"
