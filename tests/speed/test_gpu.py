"""`make gpu` runs whole with six packages alone, at sizes that a CPU can take; its arithmetic and its page."""

import json
import os
import subprocess
import sys
import time
from importlib.metadata import distribution
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement

from tests.speed import gpu, gpu_items
from tests.speed.encoders import Family
from tests.speed.table import ROOT

NEEDED = ("torch", "transformers", "numpy", "pydantic", "pyyaml", "safetensors")
SECTIONS = {"product": 1, "steps": 9, "encoding": 7, "search": 1, "processes": 1, "losses": 4}


def only(folder: Path, packages: tuple[str, ...]) -> Path:
    """A folder with links to some installed packages and to those that they need, no others."""
    folder.mkdir()
    left, seen = list(packages), set()
    while left:
        package = distribution(left.pop())
        if package.name in seen:
            continue
        seen.add(package.name)
        for name in {file.parts[0] for file in package.files if ".." not in file.parts}:
            if not (folder / name).exists():
                (folder / name).symlink_to(package.locate_file(name))
        for line in package.requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                left.append(needed.name)
    return folder


@pytest.mark.slow
def test_all_items_run_with_six_packages_alone(tmp_path):
    paths = [ROOT, ROOT / "src", only(tmp_path / "site", NEEDED)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "STELE_DEVICE": "cpu"}
    # without site-packages
    command = [sys.executable, "-S", "-m", "tests.speed.gpu", "--tiny", "--to", tmp_path]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, stderr=subprocess.DEVNULL)
    report = json.loads((tmp_path / "gpu.json").read_text())
    assert report["versions"]["sentence-transformers"] == "not installed"
    rows = {section: [row for row in report["rows"] if row["section"] == section] for section in SECTIONS}
    assert {section: len(of_section) for section, of_section in rows.items()} == SECTIONS
    assert not any({"skipped", "failed"} & row.keys() for row in report["rows"]), report["rows"]
    assert all(row["sequences/s"] > 0 and row["share of the product"] > 0 for row in rows["steps"])
    assert {row["note"] for row in rows["encoding"]} == {"sentence-transformers is not installed"}
    assert rows["search"][0]["passages"] == gpu_items.TINY.passages
    page = (tmp_path / "gpu.md").read_text()
    assert all(row["item"] in page for row in report["rows"]) and "No GPU measurements yet" not in page
    assert page.startswith((ROOT / "docs/gpu.md").read_text().partition(gpu.FIGURES)[0])


def test_a_share_is_of_operations_by_the_seconds_of_warm_steps():
    bench, clock = gpu_items.Bench(torch.device("cpu"), gpu_items.TINY), gpu_items.Clock(60)
    bench.peak, clock.times = 1e12, [9.0, 10.0, 12.0, 14.0]
    figures = bench.rates(clock, operations=6e11, texts=100, size="base")
    assert figures == {"sequences/s": 50, "ms a step": 2000, "share of the product": pytest.approx(0.3), "wanted": 0.5}


def raises(error):
    raise error


def test_an_item_that_cannot_be_measured_says_why_and_the_others_go_on():
    def measured(run, left=60.0, seconds=30.0):
        return gpu.measure(gpu_items.Item("steps", "MSM", seconds, run), left)

    assert measured(lambda: {"s": 1}) == {"s": 1}
    assert measured(lambda: time.sleep(20), seconds=0.2) == {"skipped": "took longer than 0 s"}
    assert measured(lambda: {"s": 1}, left=3) == {"skipped": "the 450 s of all items were over"}
    assert measured(lambda: raises(torch.OutOfMemoryError("out of memory\ntried"))) == {"skipped": "out of memory"}
    bench, unknown = gpu_items.Bench(torch.device("cpu"), gpu_items.TINY), Family("next_year", "mean")
    assert "has no next_year" in measured(lambda: bench.encoding(unknown))["skipped"]
    assert measured(lambda: raises(KeyError("x"))) == {"failed": "KeyError: 'x'"}


def test_the_page_keeps_what_is_written_by_hand_and_lists_what_is_missing():
    rows = [
        {"section": "steps", "item": "MSM", "sequences/s": 1234.5, "wanted": 0.5},
        {"section": "steps", "item": "DPR", "sequences/s": 10.0},
        {"section": "search", "item": "all", "skipped": "one GPU"},
    ]
    report = {"device": "1 x H", "date": "today", "versions": {"torch": "2"}, "tiny": False, "seconds": 3.0}
    page = gpu.page("# On a GPU\n\nBy hand.\n\n## Figures\n\nOld.\n", {**report, "rows": rows})
    assert page.splitlines()[:4] == ["# On a GPU", "", "By hand.", ""]
    assert "| item | sequences/s | wanted |\n| --- | --- | --- |\n| MSM | 1230 | 0.5 |\n| DPR | 10 |  |\n" in page
    assert "Old." not in page and "Skipped:\n\n- search, all: one GPU\n" in page
