"""Result files and small specs for the tests of tables."""

from pathlib import Path

import pytest
from chromium import Chromium
from specs import write_result, write_spec

from stele.papers.table import load_spec
from stele.tables.values.cell import table_cells
from stele.tables.values.context import Context
from stele.tables.values.lookup import Results

SPEC = """
    paper: msm
    number: 99
    caption: Two systems & their scores.
    stub: Method
    target: {benchmark: mrtydi, setting: zero_shot_marco, metric: mrr@100}
    columns:
    - {key: ar, header: AR, target: {language: ar}}
    - {key: sw, header: SW, target: {language: sw}}
    - {key: avg, header: AVG, target: {average: [ar, sw]}}
    groups:
    - key: all
      rows:
      - {key: first, label: First, target: {model: first}, printed: [40.0, 20.0, 30.0]}
      - {key: second, label: Second, target: {model: second}, printed: [50.0, 30.0, 40.0]}
"""


class Workbench:
    """A folder of results and specs, and the cells they give."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.results_dir = folder / "results"

    def spec(self, text: str = SPEC, **replace: str):
        return load_spec(write_spec(self.folder, text, **replace))

    def result(
        self, model, languages, *, benchmark="mrtydi", setting="zero_shot_marco", metric="mrr@100", labels=(), **more
    ):
        metrics = {metric: {"languages": languages, "average": sum(languages.values()) / len(languages), **more}}
        return write_result(self.results_dir, (benchmark, model, setting), metrics, labels=list(labels))

    def cells(self, table, **context):
        """Address without its group -> cell."""
        cells = table_cells(table, Context(**context), Results(self.results_dir))
        return {cell.address.partition("/")[2]: cell for cell in cells}


@pytest.fixture
def bench(tmp_path):
    return Workbench(tmp_path)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium = Chromium(tmp_path_factory.mktemp("chromium"))
    chromium("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def msm(root):
    """Number -> spec, for the tables of MSM."""
    return {n: load_spec(root / f"paper_tables/msm/table_{n:02d}.yaml") for n in range(1, 17)}
