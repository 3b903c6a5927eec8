"""All benchmarks of the table run at a tiny size, and ours and the peers do the same work; the table and its page."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from tests.speed import table

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
    import subprocess
    import sys

    line = [sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"]
    begin = table.cpu_seconds()
    subprocess.run(line, check=True)
    assert table.cpu_seconds() - begin > 0.25


def test_memory_that_rises_for_a_moment_is_seen():
    with table.Memory() as memory:
        held = np.ones(20_000_000)
        time.sleep(0.5)  # some looks, on a busy machine too
        del held
    assert 100 < memory.rise < 400


def test_the_page_keeps_the_rows_of_others():
    row = lambda item, ratio: [item, "peer", "1 s", "2 s", ratio, "1", "0, 0", "here"]  # noqa: E731
    first = table.page("", [row("b: x", "2"), row("a: y", "3")])
    second = table.page(first, [row("b: x", "4")])
    assert second == first.replace("| 2 | 1 | 0, 0", "| 4 | 1 | 0, 0")
    assert [line.split(" | ")[0] for line in second.splitlines()[-2:]] == ["| a: y", "| b: x"]
    assert math.isinf(table.Row("a", "b", 0.0, 1.0, 1, (0, 0), "").ratio)


@pytest.mark.parametrize(("family", "inner"), [("e5", 2), ("qwen3", 3)])
def test_operations_of_a_family_by_hand(tmp_path, family, inner):
    """Query, key, value, output, and the feed-forward layer's maps: two, or three where one is a gate."""
    from stele.encoders.load import load_encoder
    from tests.speed.encoders import FAMILIES, make_folder, operations

    model = load_encoder(make_folder(tmp_path, FAMILIES[family], 64, 2)).model("passage")
    tokens, squares = 3 + 5, 9 + 25
    layer = tokens * 2 * (4 * 64 * 64 + inner * 64 * 256) + 2 * 2 * squares * 64
    assert operations(model, np.array([3, 5])) == 2 * layer
