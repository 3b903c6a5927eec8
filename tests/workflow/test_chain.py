"""The short chain: every stage runs once, and its table has a number of ours."""

import csv

from tests.workflow.conftest import TABLE, planned


def test_the_chain_is_built(chain):
    with (chain / TABLE).with_suffix(".csv").open(encoding="utf-8") as handle:
        cells = list(csv.DictReader(handle))
    ours = [float(cell["measured"]) for cell in cells if cell["measured"]]
    assert ours and all(0 < value <= 100 for value in ours)
    assert planned(chain, TABLE) == {}, "what is built is not built again"
