"""Run files: canonical order, and the same bytes each time."""

import gzip
import random

import numpy as np

from stele.artifacts.run import canonical
from stele.artifacts.run_files import read_run, write_run


def test_canonical_order_is_trec_evals():
    """float32 scores, then ids descending as bytes; ranks play no part."""
    hits = [("a", 1.0), ("é", 1.0), ("Z", 1.0), ("b", 1.0 + 1e-10), ("日", 1.0), ("top", 2.0)]
    assert [name for name, _ in canonical(hits)] == ["top", "日", "é", "b", "a", "Z"]


def test_a_run_read_back_is_the_run_written_and_the_order_of_its_lines_is_nothing(tmp_path):
    rng = random.Random(1)
    scores = np.float32([rng.gauss(0, 30) for _ in range(200)])
    run = {f"q{i}": canonical((f"d{j}", s) for j, s in enumerate(scores[i : i + 50])) for i in range(0, 150, 50)}
    path = tmp_path / "a.trec.gz"
    write_run(path, run.items(), "tag")
    assert dict(read_run(path).items()) == run  # nine digits give every float32 back
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert lines[0].split()[:2] + lines[0].split()[5:] == ["q0", "Q0", "tag"]
    rng.shuffle(lines)
    shuffled = tmp_path / "b.txt"
    shuffled.write_text("\n".join(line.replace(" ", "\t") for line in lines))
    assert dict(read_run(shuffled).items()) == {query: run[query] for query in read_run(shuffled).queries}


def test_the_same_run_is_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_run(tmp_path / f"{name}.trec.gz", [("q", [("d", 1.5)])], "tag")
    assert (tmp_path / "a.trec.gz").read_bytes() == (tmp_path / "b.trec.gz").read_bytes()
