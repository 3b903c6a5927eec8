"""Documents in windows, of sentences or as long as the encoder reads: the windows, the scores, the search."""

import json
import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import test_retrieve as retrieval
from recorded import files, goes_on, retrieving, write_mrtydi

from stele.artifacts.run_files import read_run
from stele.benchmarks.lareqa import Lareqa
from stele.benchmarks.types import Passage, Query
from stele.command.arguments import Job
from stele.encoders.load import load_encoder
from stele.encoders.tokens import Chat
from stele.errors import SteleError
from stele.recipes.search import TokenWindows, Windows
from stele.retrieval import retrieve
from stele.retrieval.dense import vector_files
from stele.retrieval.dense.collection import CollectionEncoding
from stele.retrieval.dense.windows import by_tokens, document_hits, parse_windows, sentence_windows, token_spans
from stele.retrieval.searches import search_job
from tests.killing import kill_at, killed

SHI = Windows(sentences=5, stride=1, hits=100, best=3)
FEW = {"sentences": 2, "stride": 1, "hits": 12, "best": 3}
small_windows = retrieval.small_windows  # of the encoder: 16 texts a block


def numbered(count: int) -> str:
    return " ".join(f"Sentence {number} ends here." for number in range(count))


@pytest.mark.parametrize(("sentences", "expected"), [(0, 0), (1, 1), (4, 1), (5, 1), (6, 2), (9, 5)])
def test_how_many_windows_a_document_has(sentences, expected):
    windows = sentence_windows(numbered(sentences), "en", SHI)
    assert len(windows) == expected
    assert [text.count("ends here.") for text in windows] == [min(5, sentences)] * expected
    assert all(text.startswith(f"Sentence {number} ends") for number, text in enumerate(windows))


@pytest.mark.parametrize(("sentences", "starts"), [(5, [0]), (6, [0, 2]), (8, [0, 2, 4])])
def test_with_a_longer_stride_the_last_window_holds_the_last_sentence(sentences, starts):
    windows = sentence_windows(numbered(sentences), "en", SHI.model_copy(update={"stride": 2}))
    assert [int(text.split()[1]) for text in windows] == starts
    assert windows[-1].endswith(f"Sentence {sentences - 1} ends here.")


def test_line_breaks_end_no_sentence_and_signs_alone_make_no_window():
    assert sentence_windows(" One\r\nsentence\n goes on. ", "en", SHI) == ["One sentence goes on."]
    assert sentence_windows(" \n -- *** \n", "en", SHI) == []
    for language, text in (("zh", "这是一本书。你读吗？他说好。"), ("de", "Am 3. Mai. Er kam. Er ging.")):
        assert len(sentence_windows(text, language, SHI.model_copy(update={"sentences": 1}))) == 3


def test_a_document_scores_as_the_mean_of_its_three_best_retrieved_windows():
    hits = [("a#0", 9.0), ("b#7", 8.0), ("a#3", 6.0), ("b#1", 4.0), ("a#1", 3.0), ("a#2", 3.0), ("c#1#0", 1.0)]
    # a: (9 + 6 + 3) / 3, its fourth window left out; b: two windows; c#1, whose id looks like a window's: one
    assert document_hits(hits, 3) == [("b", 6.0), ("a", 6.0), ("c#1", 1.0)]
    assert document_hits(hits, 1) == [("a", 9.0), ("b", 8.0), ("c#1", 1.0)]
    assert document_hits([], 3) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"sentences": 2, "stride": 3, "hits": 1, "best": 1}', "stride: 3 leaves out sentences"),
        ('{"sentences": 0, "stride": 1, "hits": 1, "best": 1}', "sentences"),
        ('{"sentence": 2, "stride": 1, "hits": 1, "best": 1}', "sentences"),
        ("5", "want an object"),
        ('{"overlap": 1.0, "hits": 5}', "overlap"),
        ('{"overlap": 0.5, "hits": 5, "sentences": 5}', "sentences"),
    ],
)
def test_wrong_windows_are_refused(text, message):
    with pytest.raises(SteleError, match=f"--windows.*{message}"):
        parse_windows(text)


# --- the command ------------------------------------------------------------------------------------------------------
def documents() -> list[dict]:
    """40 documents of 0 to 7 sentences, of which some are longer than the encoder reads; one has signs alone."""
    rng, rows = np.random.default_rng(5), []
    for number in range(40):
        sentences = [" ".join(rng.choice(retrieval.WORDS, rng.integers(2, 14))) for _ in range(number % 8)]
        text = " ".join(f"{sentence.capitalize()}." for sentence in sentences) or "* * *"
        rows.append({"docid": f"D#{number}", "title": "not read", "text": text})
    return rows


@pytest.fixture
def data(tmp_path) -> list[str]:
    return write_mrtydi(tmp_path, "sw", documents(), {"D#1": "river nile", "D#2": "first novel"})


def arguments(tmp_path: Path, encoder: Path, data: list[str], name: str = "out", *more: str, **changes) -> Job:
    options = ["--windows", json.dumps(FEW), *more]
    return retrieving(tmp_path, encoder, data, name, *options, **{"languages": ("sw",), "depth": 1000, **changes})


def facts(tmp_path: Path, name: str) -> dict:
    return json.loads((tmp_path / name / "retrieval.json").read_text())["searches"]["sw"]


def by_hand(encoder: Path) -> tuple[dict[str, dict[str, float]], int, int]:
    """query -> document -> score, how many windows there are, and how many are cut, by brute force."""
    loaded, owners, texts = load_encoder(encoder.parent, retrieval.SPEC), [], []
    for document in documents():
        sentences = re.findall(r"[^.*]+\.", document["text"])
        for start in range(max(0, len(sentences) - 2) + 1) if sentences else ():
            owners.append(document["docid"])
            texts.append("".join(sentences[start : start + 2]).strip())
    vectors, scores = loaded.encode(texts, "passage").astype(np.float64), {}
    for number, query in enumerate(("river nile", "first novel")):
        similarity = vectors @ loaded.encode([query], "query")[0].astype(np.float64)
        of_documents = defaultdict(list)
        for row in np.argsort(-similarity)[: FEW["hits"]]:
            of_documents[owners[row]].append(similarity[row])
        scores[str(number)] = {name: np.mean(few[: FEW["best"]]) for name, few in of_documents.items()}
    return scores, len(texts), loaded.tokenize(texts, "passage").cut


def test_the_run_is_that_of_a_full_ranking_of_windows(tmp_path, encoder, data):
    retrieve.run(arguments(tmp_path, encoder, data))
    expected, windows, cut = by_hand(encoder)
    run = read_run(tmp_path / "out/runs/sw.trec.gz")
    assert run.queries == list(expected) and cut > 5
    for query, scores in expected.items():
        assert dict(run.hits(query)) == pytest.approx(scores, rel=1e-4)
    counts = {"documents": 40, "documents_without_text": 5, "windows": windows, "cut_windows": cut}
    assert facts(tmp_path, "out") == {"language": "sw", "pool": "sw", "queries": 2, "cut_queries": 0, **counts}


@pytest.mark.parametrize(
    ("module", "name", "call"),
    [(vector_files, "_save_progress", 3), (vector_files, "_write_ids", 1), (search_job, "write_run", 1)],
)
def test_it_goes_on_after_kill_9_with_all_counts(tmp_path, encoder, data, module, name, call):
    goes_on(retrieve, lambda folder: arguments(tmp_path, encoder, data, folder), module, name, call)
    assert facts(tmp_path, "killed") == facts(tmp_path, "whole")


def test_counts_that_were_lost_are_counted_again_and_a_kept_index_serves_again(tmp_path, encoder, data):
    keep = ["--keep-index", str(tmp_path / "index")]
    retrieve.run(arguments(tmp_path, encoder, data, "first", *keep))
    retrieve.run(arguments(tmp_path, encoder, data, "again", *keep))
    assert facts(tmp_path, "again") == facts(tmp_path, "first")
    assert np.load(tmp_path / "index/sw/ids.npy")[0] == b"D#1#0", "document 0 has no window"


def test_other_windows_start_anew(tmp_path, encoder, data):
    args = arguments(tmp_path, encoder, data)
    killed(lambda: retrieve.run(args), kill_at(search_job, "write_run"))
    other = json.dumps({**FEW, "sentences": 1})
    retrieve.run(arguments(tmp_path, encoder, data, "out", "--windows", other))
    retrieve.run(arguments(tmp_path, encoder, data, "clean", "--windows", other))
    assert files(tmp_path / "out") == files(tmp_path / "clean")


def test_sentences_are_split_in_the_language_of_the_documents(tmp_path):
    """It was that of the queries: CLEF's en-de, or English for NeuCLIRBench's collection of three languages."""
    given = {"inputs": {}, "encoder": None, "processes": SimpleNamespace(is_main=False), "state": tmp_path, "key": ""}
    document, one = Passage("d", "", "Am 3. Mai kam er. Er ging."), SHI.model_copy(update={"sentences": 1})
    settings = CollectionEncoding(lambda name: iter([document]), **given, normalize=True, windows=one)
    assert [window.text for window in settings.document_windows("de").read()] == ["Am 3. Mai kam er.", "Er ging."]


def test_a_collection_in_several_languages_is_refused(tmp_path, encoder, data, monkeypatch):
    monkeypatch.setattr(Lareqa, "queries", lambda *given: iter([Query("a", "who")]))
    mixed = [item.replace("mrtydi", "lareqa") for item in data[:1]]
    args = arguments(tmp_path, encoder, mixed, benchmark="lareqa", languages=("en", "de"))
    with pytest.raises(SteleError, match=r"documents of collection all .* must be in one language"):
        retrieve.run(args)


# --- windows as long as the encoder reads -----------------------------------------------------------------------------
HALF = TokenWindows(overlap=0.5, hits=1000)
SPEC = {**retrieval.SPEC, "passage_format": "title_text"}


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
def titled_data(tmp_path) -> list[str]:
    rows = [{"docid": name, "title": title, "text": text} for name, title, text in DOCUMENTS]
    return write_mrtydi(tmp_path, "sw", rows, {"D#1": "river nile", "D#2": "first novel"})


def test_a_document_ranks_by_its_best_window(tmp_path, encoder, titled_data):
    given = {"overlap": 0.5, "hits": 1000, "best": 1}
    retrieve.run(arguments(tmp_path, encoder, titled_data, "out", "--windows", json.dumps(given), spec=SPEC))
    model, run = loaded(encoder), read_run(tmp_path / "out/runs/sw.trec.gz")
    split = dict(zip([document.id for document in DOCUMENTS], by_tokens(model, HALF)(DOCUMENTS), strict=True))
    texts = {name: [model.spec.passage(*part) for part in parts] for name, parts in split.items() if parts}
    vectors = {name: model.encode(windows, "passage") for name, windows in texts.items()}
    for number, query in enumerate(("river nile", "first novel")):
        asked = model.encode([query], "query")[0]
        expected = {name: float((of_windows @ asked).max()) for name, of_windows in vectors.items()}
        assert dict(run.hits(str(number))) == pytest.approx(expected, rel=1e-4)
    counts = facts(tmp_path, "out")
    assert counts["windows"] == sum(map(len, split.values())) > 60 and counts["cut_windows"] == 0
    assert (counts["documents"], counts["documents_without_text"]) == (30, 1)
    assert json.loads((tmp_path / "out/retrieval.json").read_text())["windows"] == given
