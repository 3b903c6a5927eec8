"""Windows as long as the encoder reads: which there are, that nothing is cut or lost, the ranking by the best one."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import test_retrieve as retrieval
import test_retrieve_windows as windows
from recorded import write_mrtydi

from stele.artifacts.run_files import read_run
from stele.benchmarks.types import Passage
from stele.encoders.load import load_encoder
from stele.encoders.tokens import Chat
from stele.recipes.search import TokenWindows
from stele.retrieval import retrieve
from stele.retrieval.dense.windows import by_tokens, token_spans

HALF = TokenWindows(overlap=0.5, hits=1000)
SPEC = {**retrieval.SPEC, "passage_format": "title_text"}
small_windows = retrieval.small_windows  # of the encoder: 16 texts a block


def loaded(encoder: Path, **more):
    return load_encoder(encoder.parent, {**SPEC, **more})


def text_of(words: int, seed: int = 0) -> str:
    return " ".join(np.random.default_rng(seed).choice(retrieval.WORDS, words))


@pytest.mark.parametrize("tokens", [0, 1, 10, 11, 12, 13, 40, 101])
@pytest.mark.parametrize("overlap", [0.0, 0.5, 0.75])
def test_windows_overlap_and_reach_the_end(tokens, overlap):
    spans = token_spans(tokens, 10, overlap)
    assert spans[0][0] == 0 and spans[-1][1] == tokens
    assert all(last - first <= 10 for first, last in spans)
    step = {0.0: 8, 0.5: 4, 0.75: 2}[overlap]
    assert [first for first, _ in spans] == [step * n for n in range(len(spans))]
    assert all(one[1] < other[1] for one, other in pairwise(spans)), "each reads something new"


@pytest.mark.parametrize("prompt", ["", "of it: ", "title: {title} | text: "])
def test_windows_fit_with_title_and_prompt_and_lose_nothing(encoder, prompt):
    model = loaded(encoder, passage_prompt=prompt, passage_length=40)
    documents = [Passage(str(n), "nile" if n % 2 else "", text_of(3 * n, n)) for n in range(30)]
    for document, parts in zip(documents, by_tokens(model, HALF)(documents), strict=True):
        texts = [text for _, text in parts]
        assert [title for title, _ in parts] == [document.title] * len(parts)
        if len(parts) < 2:
            assert texts == ([document.text] if document.title or document.text else [])
        else:
            assert model.tokenize([model.spec.passage(*part) for part in parts], "passage").cut == 0
            assert document.text.startswith(texts[0]) and document.text.endswith(texts[-1])
            assert {*" ".join(texts).split()} >= {*document.text.split()}
    assert len(parts) > 5


def test_windows_fit_into_a_chat_template(encoder):
    model = loaded(encoder, passage_prompt="of it", passage_length=40)
    model.chat = Chat(structured=False, variables={}, restore_suffix=True)
    model.tokenizer.chat_template = "{% for m in messages %}who {{ m.content }} wrote the {% endfor %}"
    (parts,) = by_tokens(model, HALF)([Passage("d", "nile", text_of(100))])
    assert len(parts) > 4
    assert model.tokenize([model.spec.passage(*part) for part in parts], "passage").cut == 0


def test_a_long_title_becomes_text_and_one_that_is_not_read_stands_nowhere(encoder):
    long = Passage("d", text_of(40), "who wrote")
    (parts,) = by_tokens(loaded(encoder), HALF)([long])
    assert {title for title, _ in parts} == {""} and parts[0][1].startswith(long.title[:8])
    assert parts[-1][1].endswith("who wrote")
    (alone,) = by_tokens(loaded(encoder, passage_format="text"), HALF)([long])
    assert alone == [("", "who wrote")]
    empty = [Passage("e", "", " "), Passage("f", "nile", "")]
    assert list(by_tokens(loaded(encoder), HALF)(empty)) == [[], [("nile", "")]]


# 30 documents of 0 to 58 words
DOCUMENTS = [Passage(f"D#{n}", "nile" if n % 3 else "", text_of(2 * n, n)) for n in range(30)]


@pytest.fixture
def data(tmp_path) -> list[str]:
    rows = [{"docid": name, "title": title, "text": text} for name, title, text in DOCUMENTS]
    return write_mrtydi(tmp_path, "sw", rows, {"D#1": "river nile", "D#2": "first novel"})


def arguments(tmp_path, encoder, data, name="out"):
    more = ["--windows", json.dumps({"overlap": 0.5, "hits": 1000, "best": 1})]
    return windows.arguments(tmp_path, encoder, data, name, *more, spec=SPEC)


def test_a_document_ranks_by_its_best_window(tmp_path, encoder, data):
    retrieve.run(arguments(tmp_path, encoder, data))
    model, run = loaded(encoder), read_run(tmp_path / "out/runs/sw.trec.gz")
    split = dict(zip([document.id for document in DOCUMENTS], by_tokens(model, HALF)(DOCUMENTS), strict=True))
    texts = {name: [model.spec.passage(*part) for part in parts] for name, parts in split.items() if parts}
    vectors = {name: model.encode(windows, "passage") for name, windows in texts.items()}
    for number, query in enumerate(("river nile", "first novel")):
        asked = model.encode([query], "query")[0]
        expected = {name: float((of_windows @ asked).max()) for name, of_windows in vectors.items()}
        assert dict(run.hits(str(number))) == pytest.approx(expected, rel=1e-4)
    facts = windows.facts(tmp_path, "out")
    assert facts["windows"] == sum(map(len, split.values())) > 60 and facts["cut_windows"] == 0
    assert (facts["documents"], facts["documents_without_text"]) == (30, 1)
    said = json.loads((tmp_path / "out/retrieval.json").read_text())["windows"]
    assert said == {"overlap": 0.5, "hits": 1000, "best": 1}
