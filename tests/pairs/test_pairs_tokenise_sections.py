"""`pairs tokenise_sections`: the sections come out as the tokens of their sentences, the pairs as their numbers."""

import json

import pytest
from mining_texts import EMPTY, ids
from section_texts import command, page

from stele.errors import SteleError
from stele.files.digests import files_digest
from stele.pairs import pair_statistics, tokenise_sections
from stele.pairs.mining import segments
from stele.training.section_store import SectionStore
from tests.jobs import job


def numbered(entity, *sections, start=0):
    """A page whose sentences are words of the tests' tokenizer, all different."""
    made = page("x", entity, *sections)
    made.sentences = [f"w{start + 2 * n} w{start + 2 * n + 1}" for n in range(len(made.sentences))]
    return made


WIKIS = {
    "en": [
        numbered(1, (None, 2), ("History", 5), ("Life", 6)),
        numbered(2, ("Works", 5), start=100),
        numbered(3, ("Life", 5), ("History", 6), start=200),
    ],
    "es": [
        numbered(3, ("Vida", 7), ("Historia", 5), start=300),
        numbered(1, ("Historia", 8), ("Obra", 2), start=400),
    ],
}


@pytest.fixture
def pairs(tmp_path):
    return command(tmp_path / "mined", WIKIS)


def run(folder, pairs, checkpoint, **recipe):
    output = folder / "store" / "record.json"
    recipe = json.dumps({"method": "section", **recipe})
    given = ["--recipe", recipe, "--pairs", str(pairs.path), "--tokenizer", str(checkpoint), "--output", str(output)]
    tokenise_sections.run(job(tokenise_sections, given))
    return json.loads(output.read_text()), SectionStore(output.parent)


def test_sections_and_pairs_are_those_that_were_mined(tmp_path, pairs, checkpoint):
    record, store = run(tmp_path, pairs, checkpoint)
    assert len(pairs.rows) == 3 == len(store) == record["examples"]
    assert store.pairs.tolist() == [[row["first"], row["second"]] for row in pairs.rows]
    for number, section in enumerate(pairs.sections):
        assert [s.tolist() for s in store.sections[number]] == [ids(text) for text in section["sentences"]]
    assert record["sections"] == len(pairs.sections) == 3 + 2 + 2 + 2
    assert store.pages.tolist() == [0, 3, 5, 7, 9] and store.of_language(1) == (5, 9)
    assert record["method"] == "section" and record["language"] == "en-es" and record["recipe"] == {"method": "section"}
    assert record["labels"] == ["generated data", "stand-in checkpoint"] and record["dropped"] == {}
    assert record["content"] == files_digest(store.folder) and len(record["tokenizer_probe"]) == 16


def test_sentences_without_tokens_are_left_out(tmp_path, checkpoint):
    """A section of such is none, and its pair is dropped; in another section the sentences around them stay."""
    wikis = {code: [*pages] for code, pages in WIKIS.items()}
    empty = numbered(1, ("Historia", 8), ("Obra", 2), start=400)
    empty.sentences[:8] = [EMPTY] * 8
    some = numbered(3, ("Vida", 7), ("Historia", 5), start=300)
    some.sentences[3] = EMPTY
    wikis["es"] = [some, empty]
    mined = command(tmp_path / "mined", wikis)
    record, store = run(tmp_path, mined, checkpoint)
    assert len(mined.rows) == 3 and len(store) == 2 and record["dropped"] == {"empty": 1}
    assert record["counts"] == {"dropped_empty_sentences": 9} and record["sections"] == len(mined.sections) - 1
    life = store.sections[5]
    assert [s.tolist() for s in life] == [ids(text) for n, text in enumerate(some.sentences[:7]) if n != 3]


def test_batches_do_not_matter(tmp_path, pairs, checkpoint, monkeypatch):
    whole, _ = run(tmp_path / "a", pairs, checkpoint)
    monkeypatch.setattr("stele.artifacts.knowledge_base.GROUP_SECTIONS", 2)
    monkeypatch.setattr(segments.tokenised, "__defaults__", (4, 1 << 20))
    assert run(tmp_path / "b", pairs, checkpoint)[0]["content"] == whole["content"]


def test_pairs_of_another_method_and_damaged_ones_are_refused(tmp_path, pairs, checkpoint):
    with pytest.raises(SteleError, match="clk examples are made by `pairs knowledge_pairs`"):
        run(tmp_path, pairs, checkpoint, method="clk")
    for name in ("pairs.parquet", "sections.parquet"):
        whole = (pairs.folder / name).read_bytes()
        (pairs.folder / name).write_bytes(whole[:-20])
        with pytest.raises(SteleError, match=f"{name}: not a readable file of section pairs"):
            run(tmp_path, pairs, checkpoint)
        (pairs.folder / name).write_bytes(whole)
    assert not (tmp_path / "store").exists()
    assert run(tmp_path, pairs, checkpoint)[0]["examples"] == 3


def test_pair_statistics_count_them(tmp_path, pairs, knowledge_pairs):
    """Beside text pairs, with which they have nothing in common."""
    clk = knowledge_pairs(WIKIS, method="clk", min_characters=1)
    given = [f"clk={clk.path}", f"section_pairs={pairs.path}"]
    pair_statistics.run(job(pair_statistics, ["--pairs", *given, "--output", str(tmp_path / "s.csv")]))
    assert "| `en-es` | 3 | 3 |" in " ".join((tmp_path / "s.md").read_text().partition("## section_pairs")[2].split())
    assert "shared_with" not in (tmp_path / "s.csv").read_text()
