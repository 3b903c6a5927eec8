"""Knowledge bases on disk: what is missing or damaged is named; symmetric pairs are those of equation 2."""

import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stele.artifacts import knowledge_base
from stele.artifacts.knowledge_base import (
    LINKS_SCHEMA,
    PAGES_SCHEMA,
    PAIRS_SCHEMA,
    links_path,
    read_pages,
    symmetric_pairs,
)
from stele.errors import SteleError


def written(folder, links, schema=LINKS_SCHEMA):
    columns = list(zip(*links, strict=True)) or [()] * len(schema)
    path = folder / "links.parquet"
    table = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    pq.write_table(pa.table(table, schema=schema), path)
    return path


def pairs(path, memory=128, threads=1):
    actual = list(symmetric_pairs(path, memory, threads, path.parent / "spill"))
    assert all(batch.schema == PAIRS_SCHEMA for batch in actual)
    return [tuple(row.values()) for batch in actual for row in batch.to_pylist()]


def by_definition(links):
    """T(s_i) in H(s_j) and T(s_j) in H(s_i), tried for every two sentences."""
    targets = {}
    for page, sentence, target in links:
        targets.setdefault((page, sentence), set()).add(target)
    return sorted(
        (*a, *b) for a in targets for b in targets if a[0] < b[0] and a[0] in targets[b] and b[0] in targets[a]
    )


def test_pairs_of_sentences_that_link_to_each_others_pages(tmp_path):
    links = [
        (0, 0, 1), (0, 0, 2), (0, 4, 1),  # two sentences of page 0 link to page 1
        (1, 2, 0), (1, 3, 2),  # one sentence of page 1 links back
        (2, 0, 3),  # nothing links to page 2 and is linked from it
        (3, 1, 2), (3, 7, 2), (3, 7, 0),
    ]  # fmt: skip
    assert pairs(written(tmp_path, links)) == [(0, 0, 1, 2), (0, 4, 1, 2), (2, 0, 3, 1), (2, 0, 3, 7)]
    assert pairs(written(tmp_path, [])) == []
    assert pairs(written(tmp_path, [(0, 0, 1), (1, 0, 2), (2, 0, 0)])) == []  # round in one direction only


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_those_of_the_definition_whatever_the_limits(tmp_path, seed):
    rng = random.Random(seed)
    links = {(rng.randrange(30), rng.randrange(4), rng.randrange(30)) for _ in range(900)}
    links = sorted(link for link in links if link[0] != link[2])
    path = written(tmp_path, links)
    assert pairs(path) == by_definition(links)
    assert pairs(path, memory=64, threads=2) == pairs(path, memory=1000, threads=1)
    assert [path.name for path in tmp_path.iterdir()] == ["links.parquet"]  # nothing spilled stays


def test_two_pages_linked_by_very_many_sentences(tmp_path):
    pages = np.repeat([0, 1], 1500)
    links = list(zip(pages, [*range(1500)] * 2, 1 - pages, strict=True))
    total, before = 0, (-1, -1)
    for batch in symmetric_pairs(written(tmp_path, links), 64, 2, tmp_path / "spill"):
        a, b = batch.column("sentence_a").to_numpy(), batch.column("sentence_b").to_numpy()
        assert before < (a[0], b[0]) and (np.diff(a.astype(np.int64) * 1500 + b) == 1).all()
        total, before = total + len(batch), (a[-1], b[-1])
    assert total == 1500 * 1500


def test_missing_damaged_and_wrong_files_are_named(tmp_path):
    record = tmp_path / "record.json"
    with pytest.raises(SteleError, match=r"pages\.parquet: no such file; build the knowledge base first"):
        read_pages(record)
    path = written(
        tmp_path, [(0, 0, 1)], pa.schema([("page", pa.int64()), ("sentence", pa.int32()), ("x", pa.int32())])
    )
    with pytest.raises(SteleError, match="want column page of type int32, found: page int64, sentence int32, x int32"):
        links_path(record)
    rng = np.random.default_rng(0)
    path = written(tmp_path, rng.integers(0, 1 << 30, (50_000, 3)))
    assert links_path(record) == path
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 3, len(data) // 2):
        data[at] ^= 255
    path.write_bytes(data)
    with pytest.raises(SteleError, match=r"links\.parquet: the join failed"):
        pairs(path)
    path.write_bytes(data[:-20])
    with pytest.raises(SteleError, match=r"links\.parquet: not a readable Parquet file"):
        links_path(record)


def test_pages_come_in_order_and_by_column(tmp_path):
    rows = [[0, 1], ["a", "b"], ["A", "B"], [5582, None], [3, 4]]
    pq.write_table(pa.table(rows, schema=PAGES_SCHEMA), tmp_path / "pages.parquet")
    assert read_pages(tmp_path / "record.json").schema == PAGES_SCHEMA
    assert read_pages(tmp_path / "record.json", ["entity"]).to_pydict() == {"entity": [5582, None]}


def test_limits_that_nothing_fits_in_are_refused(tmp_path):
    path = written(tmp_path, [(0, 0, 1)])
    with pytest.raises(SteleError, match="memory-mb 63: want at least 64"):
        pairs(path, memory=63)
    with pytest.raises(SteleError, match="threads 0: want at least 1"):
        pairs(path, threads=0)


def test_a_full_disk_is_an_error_that_says_so(tmp_path):
    def over_the_limit(connection):
        connection.execute("SET max_temp_directory_size = '1MiB'")
        connection.execute("CREATE TABLE t AS SELECT i, hash(i) AS h FROM range(20000000) AS r(i)")

    with (
        pytest.raises(
            SteleError, match=r"en: 64 MB of memory and the disk of .*spill are not enough for the join .* larger disk"
        ),
        knowledge_base.database(64, 1, tmp_path / "spill", "en") as connection,
    ):
        over_the_limit(connection)
    assert not list(tmp_path.iterdir())
