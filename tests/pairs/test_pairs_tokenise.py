"""`pairs tokenise`: text pairs come out as the tokens of their two sides, cut at the recipe's lengths."""

import json
from collections import Counter

import pytest
from knowledge_texts import Article
from mining_texts import EMPTY, ids, new_tokenizer, text_of

from stele.errors import SteleError
from stele.files.digests import files_digest
from stele.pairs import tokenise
from stele.pairs.mining.segments import encoder
from stele.recipes.mining import ClkRecipe
from stele.training.store import Store
from tests.jobs import job

ENTITY = [Article([*text_of([12, 9], 100 * n)], entity=n) for n in range(20)]
OTHER = [Article([*text_of([7], 2100 + 10 * n)], entity=n) for n in range(20)]


@pytest.fixture
def pairs(knowledge_pairs):
    return knowledge_pairs({"en": ENTITY, "fr": OTHER}, method="clk", passage_words=12)


def run(folder, pairs, checkpoint, **recipe):
    output = folder / "store" / "record.json"
    recipe = json.dumps({"method": "clk", **recipe})
    given = ["--recipe", recipe, "--pairs", str(pairs.path), "--tokenizer", str(checkpoint), "--output", str(output)]
    tokenise.run(job(tokenise, given))
    return output, json.loads(output.read_text()), Store(output.parent)


def test_examples_are_the_pairs(tmp_path, pairs, checkpoint):
    """Without special tokens, in the order of the pairs; ten with the two special ones are eight."""
    output, record, store = run(tmp_path, pairs, checkpoint, query_tokens=10, passage_tokens=14)
    expected = [[ids(row["query"])[:8], ids(row["passage"])[:12]] for row in pairs.rows]
    assert len(expected) == 40 == len(store)
    assert [[side.tolist() for side in store[n]] for n in range(len(store))] == expected
    assert (record["examples"], record["segments"]) == (40, 80)
    assert record["tokens"] == sum(len(side) for pair in expected for side in pair)
    cut = sum(len(ids(row["query"])) > 8 for row in pairs.rows)
    assert record["counts"] == {"queries_cut": cut} and 0 < cut < 40
    assert record["recipe"] == {"method": "clk", "query_tokens": 10, "passage_tokens": 14}, "what it did, no defaults"
    assert record["method"] == "clk" and record["language"] == "en-fr" and len(record["tokenizer_probe"]) == 16
    assert record["labels"] == ["generated data", "stand-in checkpoint"]
    assert set(record["inputs"]) == {"pairs", "tokenizer"} and record["content"] == files_digest(output.parent)


def test_batches_do_not_matter(tmp_path, pairs, checkpoint, monkeypatch):
    _, whole, _ = run(tmp_path / "a", pairs, checkpoint)
    monkeypatch.setattr(tokenise, "BATCH", 7)
    assert run(tmp_path / "b", pairs, checkpoint)[1]["content"] == whole["content"]


def test_sides_without_tokens_are_dropped(checkpoint):
    counts = Counter()
    batch = (["w1 w2", EMPTY, "w3"], ["w4", "w5", EMPTY])
    made = list(tokenise.examples([batch], encoder(new_tokenizer()), ClkRecipe(), counts))
    assert [[side.tolist() for side in pair] for pair in made] == [[ids("w1 w2"), ids("w4")]] and counts["empty"] == 2


def test_pairs_of_another_method_are_refused(tmp_path, pairs, checkpoint):
    with pytest.raises(SteleError, match="found pairs of clk, want pairs of ds_clk"):
        run(tmp_path, pairs, checkpoint, method="ds_clk")
    assert not (tmp_path / "store").exists()


def test_no_pairs_are_an_empty_store(tmp_path, knowledge_pairs, checkpoint):
    none = knowledge_pairs({"en": ENTITY[:1], "fr": OTHER[1:2]}, method="clk")
    _, record, store = run(tmp_path, none, checkpoint)
    assert len(store) == 0 and record["examples"] == 0


def test_damaged_pairs_are_an_error_that_names_them(tmp_path, pairs, checkpoint):
    path = pairs.folder / "pairs.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SteleError, match=r"pairs\.parquet: not a readable file of pairs"):
        run(tmp_path, pairs, checkpoint)
    assert not (tmp_path / "store").exists()
