"""Documents that are no hits of their query: those of its own id, and excluded ones."""

import json
from pathlib import Path

import numpy as np
import pytest

from stele import catalogue
from stele.catalogue.schema.benchmarks import Benchmark
from stele.errors import SteleError
from tests.scoring.scored import scored, trec

ARGUANA = {
    "queries.jsonl": '{"_id": "a-pro", "text": "meat"}\n{"_id": "b-pro", "text": "speech", "excluded_ids": ["N/A"]}\n',
    "corpus.jsonl": "".join(
        f'{{"_id": "{name}", "title": null, "text": "x"}}\n' for name in ("a-con", "a-pro", "b-con")
    ),
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\na-pro\ta-con\t1\nb-pro\tb-con\t1\n",
}
ITSELF_FIRST = {"a-pro": {"a-pro": 0.99, "a-con": 0.8}, "b-pro": {"b-pro": 0.99, "b-con": 0.7}}
SECOND = 1 / np.log2(3)  # nDCG of one relevant document, found second


@pytest.fixture
def arguana(tmp_path) -> Path:
    """A set in BEIR's layout whose queries are documents, and run.txt, which finds each query itself first."""
    for name, text in ARGUANA.items():
        (tmp_path / "set" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name).write_text(text)
    (tmp_path / "run.txt").write_text(trec(ITSELF_FIRST))
    return tmp_path / "set"


def ndcg(tmp_path: Path, folder: Path, run: str = "run.txt") -> float:
    name = "miracl_hard_negatives"  # read by the module beir
    result = scored(tmp_path, name, "--run", f"en={tmp_path / run}", "--data", f"{name}:en={folder}")
    assert result["counts"]["missing_queries"] == 0
    assert len(result["files"][f"{name}:en={folder}"]) == 16, "a digest of the files in the folder"
    return result["metrics"]["ndcg@10"]["average"]


def stated(monkeypatch, value: bool) -> None:
    entry = catalogue.entry(Benchmark, "miracl_hard_negatives")
    monkeypatch.setitem(entry.__dict__, "ignore_identical_ids", value)


def test_the_document_of_a_query_s_own_id_is_no_hit_in_beir_s_layout_unless_the_entry_says_so(
    tmp_path, arguana, monkeypatch
):
    assert ndcg(tmp_path, arguana) == 1.0
    (tmp_path / "run.json").write_text(json.dumps(ITSELF_FIRST))
    assert ndcg(tmp_path, arguana, "run.json") == 1.0
    stated(monkeypatch, False)
    assert ndcg(tmp_path, arguana) == pytest.approx(SECOND)


def test_a_query_that_found_itself_alone_scores_0_and_a_judged_one_stays_judged(tmp_path, arguana):
    (tmp_path / "run.txt").write_text(trec({"a-pro": {"a-pro": 1.0}, "b-pro": ITSELF_FIRST["b-pro"]}))
    assert ndcg(tmp_path, arguana) == 0.5
    path = arguana / "qrels/test.tsv"
    path.write_text(path.read_text() + "b-pro\tb-pro\t1\n")  # never found, as in BEIR: nDCG 1 / (1 + 1 / log2 3)
    assert ndcg(tmp_path, arguana) == pytest.approx(0.5 / (1 + SECOND))


def test_mteb_s_layout_does_not_tell_whether_a_query_is_its_own_hit_so_the_entry_must(tmp_path, arguana, monkeypatch):
    (arguana / "qrels/test.tsv").unlink()
    pairs = [{"query-id": f"{name}-pro", "corpus-id": f"{name}-con", "score": 1.0} for name in "ab"]
    (arguana / "qrels/test.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    with pytest.raises(SteleError, match=r"2 queries .* own id \(a-pro\).*add_benchmarks.*ignore_identical_ids: true"):
        ndcg(tmp_path, arguana)
    for value, expected in ((True, 1.0), (False, SECOND)):
        stated(monkeypatch, value)
        assert ndcg(tmp_path, arguana) == pytest.approx(expected)


def test_excluded_documents_are_no_hits_either(tmp_path, arguana):
    (tmp_path / "run.txt").write_text(trec({"a-pro": {"a-con": 1.0}, "b-pro": {"z": 1.0, "b-con": 0.5}}))
    assert ndcg(tmp_path, arguana) == pytest.approx((1 + SECOND) / 2)
    path = arguana / "queries.jsonl"
    path.write_text(path.read_text().replace("N/A", "z"))
    assert ndcg(tmp_path, arguana) == 1.0
