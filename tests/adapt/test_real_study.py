"""What evidence/real.tar.gz holds: its verdicts follow from the values per query, and the page from its verdicts."""

import json
import subprocess
import sys

import pytest

from stele.artifacts import records
from stele.artifacts.record_shape import seal
from stele.command import cli
from tests.conftest import ROOT

TEMPLATE = ROOT / "docs/real.md.j2"


def script(name, *arguments):
    command = [sys.executable, str(ROOT / f"evidence/real/{name}.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def names(real_study):
    return sorted(path.parent for path in real_study.glob("*/verdict.json"))


def test_the_kept_files_are_those_of_the_manifest(names):
    assert names
    for folder in names:
        assert cli.main(["tables", "verify", "--results-dir", str(folder)]) == 0


def test_the_verdicts_are_those_that_the_kept_values_give(names):
    for folder in names:
        run = script("judge", folder)
        assert run.returncode == 0, run.stderr
        comparisons = json.loads((folder / "verdict.json").read_text())["comparisons"]
        assert run.stdout.splitlines() == [comparison["sentence"] for comparison in comparisons]


@pytest.mark.parametrize("key", ["mean", "seeds_needed"])
def test_a_changed_verdict_is_seen(names, tmp_path, key):
    kept = {name: records.read_record(name / "verdict.json") for name in names}
    folder, row = next((n, row) for n, v in kept.items() for row in v["comparisons"] if row[key] is not None)
    copied, verdict = tmp_path / "copied", kept[folder]
    copied.mkdir()
    for path in folder.iterdir():
        (copied / path.name).symlink_to(path)
    (copied / "verdict.json").unlink()
    row[key] += {"mean": 0.001, "seeds_needed": -1}[key]
    (copied / "verdict.json").write_text(json.dumps(seal(verdict)))
    run = script("judge", copied)
    assert run.returncode and "says otherwise" in run.stderr


def test_the_page_is_made_from_the_verdicts(real_study):
    run = script("page", real_study, TEMPLATE)
    assert run.returncode == 0, run.stderr
    assert run.stdout == (ROOT / "docs/real.md").read_text(encoding="utf-8")


def test_a_sentence_that_the_verdicts_do_not_bear_out_is_refused(real_study, names, tmp_path):
    verdict = json.loads((names[0] / "verdict.json").read_text())
    row = verdict["comparisons"][0]
    method = row["model"].removeprefix(f"{verdict['base']}-")
    stated = (names[0].name, method, row["benchmark"], "as it was", "tied")
    (tmp_path / "page.md.j2").write_text("{{ comparison" + repr(stated) + ".mean }}")
    run = script("page", real_study, tmp_path / "page.md.j2")
    assert run.returncode and "write it anew" in run.stderr
