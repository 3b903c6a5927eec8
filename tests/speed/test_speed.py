"""All benchmarks of the table run at a tiny size, and ours and the peers do the same work; the table and its page."""

import ctypes
import math
import subprocess
import sys

import numpy as np
import pytest

from tests.speed import growth, table

ITEMS = {one.item: one for one in table.benchmarks() if not one.item.startswith("cluster: ")}


@pytest.mark.slow
@pytest.mark.parametrize("item", ITEMS)
def test_ours_and_the_peers_do_the_same_work(item):
    try:
        rows = table.measure(ITEMS[item], ITEMS[item].tiny, rounds=1)
    except (table.Unavailable, ImportError) as error:
        pytest.skip(str(error))
    assert [row.peer for row in rows] == list(ITEMS[item].peers)
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)
    subreaper = ctypes.c_int()
    ctypes.CDLL(None).prctl(37, ctypes.byref(subreaper))  # PR_GET_CHILD_SUBREAPER
    assert not subreaper.value, "orphans of later tests are left to init"


def made(results, unit="", peers=("a peer",)):
    """A benchmark whose ways return some results."""
    ways = [lambda value=value: value for value in results]
    prepare = lambda folder, **size: (ways[0], ways[1:], table.same)  # noqa: E731
    return table.Speed("made: one", prepare, dict.fromkeys(peers, 1.0), {}, {}, 2, unit)


def test_a_peer_of_other_results_is_an_error():
    with pytest.raises(SystemExit, match="made: one: the results differ"):
        table.measure(made([1, 2]), {}, 2)


def test_a_ratio_is_the_peer_s_cost_over_ours_and_the_least_of_the_rounds_counts():
    costs = iter([3.0, 6.0, 2.0, 8.0])
    prepare = lambda folder: (lambda: next(costs), [lambda: next(costs), 5.0], lambda a, b: True)  # noqa: E731
    both = table.Speed("made: two", prepare, {"a": 1, "b": 1}, {}, {}, 2, "MiB")
    assert [(row.ours, row.theirs, row.ratio) for row in table.measure(both, {}, 2)] == [(2, 6, 3), (2, 5, 2.5)]


def test_work_of_a_child_process_counts(monkeypatch):
    line = [sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"]
    begin = table.cpu_seconds()
    subprocess.run(line, check=True)
    assert table.cpu_seconds() - begin > 0.25


RISE = """
import time
import numpy as np
from tests.speed.table import Memory

with Memory() as memory:
    held = np.ones(50_000_000)
    time.sleep(0.5)  # some looks, on a busy machine too
    del held
print(memory.rise)
"""


def test_memory_that_rises_for_a_moment_is_seen():
    # in a process of its own: here the system may get back meanwhile what earlier tests left
    done = subprocess.run([sys.executable, "-c", RISE], cwd=table.ROOT, capture_output=True, text=True, check=True)
    assert 350 < float(done.stdout) < 450


def test_the_page_keeps_the_rows_of_others():
    row = lambda item, ratio: [item, "peer", "1 s", "2 s", ratio, "1", "0, 0", "here"]  # noqa: E731
    first = table.page("", [row("b: x", "2"), row("a: y", "3")])
    second = table.page(first, [row("b: x", "4")])
    assert second == first.replace("| 2 | 1 | 0, 0", "| 4 | 1 | 0, 0")
    assert [line.split(" | ")[0] for line in second.splitlines()[-2:]] == ["| a: y", "| b: x"]
    assert math.isinf(table.Row("a", "b", 0.0, 1.0, 1, (0, 0), "").ratio)


def test_both_tables_of_the_page_stay_when_one_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "PAGE", tmp_path / "speed.md")
    grown = ["a row", "1, 2, 3", "1, 2, 3", "1.00", "1, 1, 1", "0.00", "", "", "", "here"]
    table.write_page([["b: x", "peer", "1 s", "2 s", "2", "1", "0, 0", "here"]])
    table.write_page(growing=[grown])
    whole = table.PAGE.read_text()
    assert "| b: x | peer |" in whole and f"| {' | '.join(grown)} |" in whole.partition(growth.TITLE)[2]
    table.write_page()
    assert table.PAGE.read_text() == whole


@pytest.mark.slow
@pytest.mark.parametrize("item", growth.rows(), ids=lambda row: row.item)
def test_growth_is_measured_at_three_sizes(item):
    costs = growth.measure(item, item.tiny)
    assert len(growth.cells(item, costs, "here")) == len(growth.HEAD)
    assert all(cost.seconds > 0 and cost.megabytes > 10 for cost in costs)
    assert [cost.size for cost in costs] == sorted({cost.size for cost in costs}), "each is larger than the one before"


def test_memory_and_time_of_a_process_are_its_own():
    code = "import time, numpy; held = numpy.ones({n}); end = time.monotonic() + 0.5\n"
    code += "while time.monotonic() < end or time.process_time() < 0.5: pass\nprint('made')"
    small, large = (growth.run([sys.executable, "-c", code.format(n=n)]) for n in (1, 25_000_000))
    assert small[0] == "made\n" and small[1] > 0.5 and 150 < large[2] - small[2] < 250
    with pytest.raises(SystemExit, match="no such thing"):
        growth.run([sys.executable, "-c", "raise SystemExit('no such thing')"])


def test_memory_at_another_size_lies_on_the_curve():
    steep = [growth.Cost(10, 1, 60), growth.Cost(100, 1, 150), growth.Cost(1000, 1, 1050)]
    assert growth.at_size(steep, 2000) == pytest.approx(2050, rel=1e-3)
    assert growth.at_size([cost._replace(megabytes=50 + n) for n, cost in enumerate(steep)], 10**9) == 52, "flat"


def test_an_exponent_above_the_limit_needs_a_reason(monkeypatch):
    row = ["a row", "", "", "1.20", "", "0.00"]
    assert growth.too_steep(row) and not growth.too_steep(["a row", "", "", "1.04", "", "0.00"])
    monkeypatch.setattr(growth, "WHY", {"a row": "sorting"})
    assert not growth.too_steep(row) and "A row: sorting" in growth.about()


@pytest.mark.parametrize(("family", "inner"), [("e5", 2), ("qwen3", 3)])
def test_operations_of_a_family_by_hand(tmp_path, family, inner):
    """Query, key, value, output, and the feed-forward layer's maps: two, or three where one is a gate."""
    from stele.encoders.load import load_encoder
    from tests.speed.encoders import FAMILIES, make_folder, operations

    model = load_encoder(make_folder(tmp_path, FAMILIES[family], 64, 2)).model("passage")
    tokens, squares = 3 + 5, 9 + 25
    layer = tokens * 2 * (4 * 64 * 64 + inner * 64 * 256) + 2 * 2 * squares * 64
    assert operations(model, np.array([3, 5])) == 2 * layer
