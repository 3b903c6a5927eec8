"""Texts in pairs: the nearest translations in both directions and their P@1; alignment and uniformity."""

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from recorded import put, record

from stele.benchmarks.xda import Xda
from stele.benchmarks.xsa import Xsa
from stele.encoders import neighbours
from stele.encoders.encode import Encoder
from stele.encoders.neighbours import nearest_translations
from stele.errors import SteleError
from stele.evaluation.similarity import nearest
from stele.retrieval import encode_pairs
from stele.scoring import score
from tests.jobs import job
from tests.pretended_gpu import on_pretended_gpu

CPU = torch.device("cpu")


@pytest.fixture
def table(tmp_path):
    """Four sentences in three languages, vectors in their texts; the third lacks its French one."""
    rows = [("de", "en", "fr"), ("1 0 a", "3 0", "0 1"), ("0 1", "0 2", "1 0")]
    rows += [("1 1", "1 1", " "), ('1 1 "x', "4 3.9", "1 1")]
    folder = tmp_path / "xnli"
    folder.mkdir()
    (folder / "xnli.15way.orig.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    (folder / "xnli.15way.tok.tsv").write_text("another\n")
    return folder


@pytest.fixture
def encoded(monkeypatch) -> list[str]:
    """The texts that were encoded, in vectors that stand in them."""
    texts = []

    def encode(self, given, kind):
        assert kind == "query"
        texts.extend(given)
        return np.array([[float(x) for x in text.split()[:2]] for text in given], dtype=np.float32)

    monkeypatch.setattr(Encoder, "encode", encode)
    return texts


def made_of(tmp_path: Path, encoder: Path, data: list[str], benchmark: str, pooling: str, *languages: str) -> Path:
    spec = json.dumps({"pooling": pooling, "query_length": 16, "passage_length": 16})
    line = ["--benchmark", benchmark, "--languages", *languages, "--encoder", str(encoder), "--data", *data]
    line += ["--encoding", spec, "--output", str(tmp_path / "out/vectors.json")]
    encode_pairs.run(job(encode_pairs, line))
    return tmp_path / "out/vectors.json"


def ranked(tmp_path, encoder, data: str, *pairs: str, benchmark: str = "xsa") -> Path:
    return made_of(tmp_path, encoder, [data], benchmark, "cls", *pairs)


def scored(tmp_path, benchmark: str, made, *more: str) -> dict:
    score.run(job(score, [benchmark, "--run", str(made), *more, "--output", str(tmp_path / "r.json")]))
    return json.loads((tmp_path / "r.json").read_text())


def run_lines(made, name: str) -> list[list[str]]:
    return [line.split() for line in gzip.open(made.parent / f"runs/{name}.trec.gz", "rt")]


@pytest.mark.parametrize("again", ["de-fr", "fr-de"])
def test_a_pair_is_given_once(tmp_path, encoder, table, encoded, again):
    """Its second search would take the place of the first, and the pair's row would be gone."""
    with pytest.raises(SteleError, match=f"{again}: a pair is searched in both directions; give it once"):
        ranked(tmp_path, encoder, f"xnli_15way:all={record(table, content='xnli')}", "de-fr", again)


# --- sentences --------------------------------------------------------------------------------------------------------
def test_sentences_are_read_by_column_without_those_that_some_language_lacks(table):
    parallel = Xsa().parallel_texts({"xnli_15way": {"all": table}}, ["fr", "de"])
    assert parallel.ids == ["00000", "00001", "00003"] and parallel.left_out == {"empty": 1}
    assert parallel.texts == {"fr": ["0 1", "1 0", "1 1"], "de": ["1 0 a", "0 1", '1 1 "x']}
    alone = Xsa().parallel_texts({"xnli_15way": {"all": table}}, ["de", "en"])
    assert alone.ids == parallel.ids, "a pair's sentences do not depend on the other pairs"
    (table / "xnli.15way.orig.tsv").rename(table / "of_my_own.tsv")
    (table / "xnli.15way.tok.tsv").unlink()
    assert Xsa().parallel_texts({"mine": {"all": table}}, ["fr", "de"]) == parallel


def test_each_language_is_encoded_once_and_both_directions_are_scored(tmp_path, encoder, table, encoded):
    made = ranked(tmp_path, encoder, f"xnli_15way:all={record(table, content='x')}", "de-en", "de-fr", "en-fr")
    assert len(encoded) == 9
    written = json.loads(made.read_text())
    assert written["left_out"] == {"empty": 1} and written["similarity"] == "csls"
    assert not (tmp_path / "out/vectors").exists() and len(written["outputs"]) == 6
    assert run_lines(made, "de-en")[1][:3] == ["00001", "Q0", "00001"]
    result = scored(tmp_path, "xsa", made)
    # k = 10 is all three. de (1,0) (0,1) (1,1) and en (1,0) (0,1) (4,3.9): each is nearest to its own. fr has the first
    # two exchanged: only the third is right, in both directions
    for metric in ("p@1", "p_forward@1", "p_backward@1"):
        values = result["metrics"][metric]["languages"]
        assert values == {"de-en": 1.0, "de-fr": pytest.approx(1 / 3), "en-fr": pytest.approx(1 / 3)}
    assert result["counts"]["queries"] == 18 and result["counts"]["missing_queries"] == 0


def test_texts_that_were_cut_are_counted_on_both_sides_of_a_direction(tmp_path, encoder, table):
    path = table / "xnli.15way.orig.tsv"
    path.write_text(path.read_text().replace("3 0", "3 0 " + "and so on " * 20))
    made = ranked(tmp_path, encoder, f"xnli_15way:all={record(table, content='x')}", "de-en")
    searches = json.loads(made.read_text())["searches"].values()
    cut = {facts["pool"]: (facts["cut_queries"], facts["cut_passages"]) for facts in searches}
    assert cut == {"en": (0, 1), "de": (1, 0)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("de\ten\n1\n", "line 2: want 2 columns, as in the header, found 1"),
        ("de\tfr\na\tb\n", "want one column 'en' in its header; found de, fr"),
        ("de\ten\na\t\n", "no line has a sentence for every language"),
    ],
)
def test_a_damaged_table_is_one_clear_error(tmp_path, text, said):
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(SteleError, match=said):
        Xsa().parallel_texts({"xnli_15way": {"all": tmp_path}}, ["de", "en"])
    (tmp_path / "b.tsv").write_text(text)
    with pytest.raises(SteleError, match=r"want xnli\.15way\.orig\.tsv, or one table of .*found b\.tsv, t\.tsv"):
        Xsa().parallel_texts({"xnli_15way": {"all": tmp_path}}, ["de", "en"])


# --- the nearest ------------------------------------------------------------------------------------------------------
@pytest.fixture
def sides():
    """1,000 vectors and their translations, with hubs, and twenty of them twice."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1000, 32)) + 0.5 * rng.standard_normal(32)
    y = x + 0.9 * rng.standard_normal((1000, 32))
    x[-20:], y[-20:] = x[:20], y[:20]
    return x.astype(np.float32), y.astype(np.float32)


def brute_force(x, y) -> np.ndarray:
    """CSLS of all pairs, by its definition, in float64."""
    x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x.astype(float), y.astype(float)))
    cosines = x @ y.T
    near_x, near_y = (np.sort(of, axis=1)[:, -10:].mean(axis=1) for of in (cosines, cosines.T))
    return 2 * cosines - near_x[:, None] - near_y


def test_of_a_thousand_the_same_are_found_as_in_float64_and_by_brute_force(sides):
    x, y = sides
    scores = brute_force(x, y).astype(np.float32)
    of_x, of_y = nearest_translations(x, y, CPU)
    assert of_x.rows.tolist() == scores.argmax(axis=1).tolist() and of_y.rows.tolist() == scores.argmax(axis=0).tolist()
    np.testing.assert_allclose(of_x.scores, scores.max(axis=1), atol=1e-6)
    for (rows, values), given in ((of_x, (x, y)), (of_y, (y, x))):
        places, wanted = nearest(*given, "csls")  # as of embeddings that are given
        assert rows.tolist() == places.tolist() and values.tolist() == wanted.tolist()
    assert 0.2 < (of_x.rows == np.arange(1000)).mean() < 0.98, "otherwise nothing is compared"


@pytest.mark.parametrize("block", [100, 1 << 25])
def test_of_equal_texts_the_first_counts(block, monkeypatch):
    monkeypatch.setattr(neighbours, "BLOCK", block)
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(60, 16)).astype(np.float32) for _ in range(2))
    x[:], y[10:50] = x[0], x[0] + 0.1 * y[0]  # one side has collapsed, the other has forty times the same text
    of_x, of_y = nearest_translations(x, y, CPU)
    for (rows, values), given in ((of_x, (x, y)), (of_y, (y, x))):
        places, wanted = nearest(*given, "csls")
        assert rows.tolist() == places.tolist()
        np.testing.assert_allclose(values, wanted, atol=1e-7)


def test_on_a_gpu_the_nearest_are_the_same(sides):
    def compare():
        on_gpu, on_cpu = (nearest_translations(*sides, device) for device in (torch.device("cuda"), CPU))
        for actual, wanted in zip(on_gpu, on_cpu, strict=True):
            assert actual.rows.tolist() == wanted.rows.tolist()

    assert on_pretended_gpu(compare) == 0


# --- documents --------------------------------------------------------------------------------------------------------
TEI = """<?xml version="1.0" encoding="utf-8"?>
<TEI.2><teiHeader><fileDesc><availability><p>Header</p></availability></fileDesc></teiHeader>
<text><body>{}</body></text></TEI.2>"""


def test_documents_of_the_corpus_are_ranked_under_their_paths(tmp_path, encoder, encoded):
    folder = tmp_path / "un"
    for name, en, es in (("1990/a/1", "1 0", "0 1"), ("1990/a/2", "0 1", "1 0"), ("1991/s/3", "1 1", "2 2")):
        for language, text in (("en", en), ("es", es)):
            path = folder / f"UNv1.0-TEI/{language}/{name}.xml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TEI.format(f'<p id="1"><s id="1:1" lang="{language}">{text}</s></p>'))
    (folder / "UNv1.0-TEI/en/1990/a/9.xml").write_text(TEI.format("<p><s>1 2</s></p>"))
    made = ranked(tmp_path, encoder, f"uncorpus:all={record(folder, content='x')}", "en-es", benchmark="xda")
    assert len(encoded) == 6
    assert json.loads(made.read_text())["left_out"] == {"without_partner": 1, "empty": 0, "damaged": 0}
    hits = dict(line[:3:2] for line in run_lines(made, "es-en"))
    assert hits == {"1990/a/1": "1990/a/2", "1990/a/2": "1990/a/1", "1991/s/3": "1991/s/3"}
    result = scored(tmp_path, "xda", made)
    assert result["metrics"]["p@1"]["languages"] == {"en-es": pytest.approx(1 / 3)}
    assert Xda().judgments({"uncorpus": {"all": folder}}, Xda().query_sets(["en-es"])[0])["1991/s/3"] == {"1991/s/3": 1}


# --- Table 8: questions and gold passages of XOR-Retrieve -------------------------------------------------------------
def question(name: str, text: str, language: str) -> dict:
    return {"id": name, "question": text, "answers": ["x"], "lang": language, "split": "dev"}


def dpr(text: str, *passages: str) -> dict:
    contexts = [{"title": "T", "text": passage} for passage in passages]
    none = {"negative_ctxs": [], "hard_negative_ctxs": []}
    return {"question": text, "answers": ["x"], "positive_ctxs": contexts, **none}


@pytest.fixture
def data(tmp_path) -> list[str]:
    """Vectors stand in the texts: two numbers. Telugu's second question has no passage, Russian's only one neither."""
    questions = [
        *(question("1", "3 0 ?", "ar"), question("2", "0 2 ?", " ar"), question("3", "-1 0 ?", "ar")),
        *(question("4", "1 1", "te"), question("5", "is it", "te"), question("6", "is he", "ru")),
    ]
    answered = [dpr("0 2 ? ", "1 0 b", "9 9 second"), dpr("3 0 ?", "5 0 a"), dpr("-1 0 ?", "1 0 c"), dpr("1 1", "-2 2")]
    put(tmp_path / "q/xor_dev_retrieve_eng_span_v1_1.jsonl", questions)
    (tmp_path / "d").mkdir()
    (tmp_path / "d/dpr_dev_data.json").write_text(json.dumps(answered))
    folders = {"xor_tydi": "q", "xor_dpr_train": "d"}
    return [f"{name}:all={record(tmp_path / folder, content=folder)}" for name, folder in folders.items()]


@pytest.fixture
def by_hand(monkeypatch):
    def encode(self, texts, kind):
        texts = [text[1] if isinstance(text, tuple) else text for text in texts]
        return np.array([[float(x) for x in text.split()[:2]] for text in texts], dtype=np.float32)

    monkeypatch.setattr(Encoder, "encode", encode)


def test_questions_and_passages_that_were_cut_are_counted(tmp_path, encoder, data):
    """By the tokens that the encoder reads: 16 of each side."""
    path = tmp_path / "q/xor_dev_retrieve_eng_span_v1_1.jsonl"
    path.write_text(path.read_text().replace("-1 0 ?", "-1 0 " + "and so on " * 20))
    long = dpr("-1 0 " + "and so on " * 20, "long " * 30)
    answered = [dpr("0 2 ?", "1 0 b"), dpr("3 0 ?", "who wrote " * 20), long]
    (tmp_path / "d/dpr_dev_data.json").write_text(json.dumps(answered))
    facts = json.loads(made_of(tmp_path, encoder, data, "xor_retrieve", "mean", "ar").read_text())["vectors"]["ar"]
    assert (facts["pairs"], facts["cut_queries"], facts["cut_passages"]) == (3, 1, 2)


def test_alignment_and_uniformity_by_hand(tmp_path, encoder, data, by_hand, caplog):
    made = made_of(tmp_path, encoder, data, "xor_retrieve", "mean", "ar", "te", "ru")
    assert "ru: no question with a gold passage" in caplog.text
    written = json.loads(made.read_text())
    counts = {code: (facts["pairs"], facts["without_passage"]) for code, facts in written["vectors"].items()}
    assert counts == {"ar": (3, 0), "te": (1, 1)}
    metrics = ["--metrics", "alignment", "uniformity_query", "uniformity_passage", "--data", *data[:1]]
    result = scored(tmp_path, "xor_retrieve", made, "--setting", "align_uniform", "--model", "tiny", *metrics)
    # ar, as unit vectors: questions (1,0) (0,1) (-1,0), passages (1,0) (1,0) (1,0): squared distances 0, 2, 4
    # te: (1,1)/sqrt 2 and (-1,1)/sqrt 2: 2. A single vector has no uniformity.
    assert result["metrics"]["alignment"]["languages"] == {"ar": pytest.approx(2.0), "te": pytest.approx(2.0)}
    # pairs of questions are 2, 4 and 2 apart
    expected = math.log((2 * math.exp(-4) + math.exp(-8)) / 3)
    assert result["metrics"]["uniformity_query"]["languages"] == {"ar": pytest.approx(expected)}
    assert result["metrics"]["uniformity_passage"]["average"] == pytest.approx(0.0)
    assert result["metrics"]["alignment"]["average"] == pytest.approx(2.0)
    assert result["labels"] == ["stand-in checkpoint"]
    assert result["provenance"]["encoder"] == written["inputs"]["encoder"]


def test_without_a_passage_there_is_nothing_to_encode(tmp_path, encoder, data, by_hand):
    with pytest.raises(SteleError, match="no question in ru has a gold passage"):
        made_of(tmp_path, encoder, data, "xor_retrieve", "mean", "ru")
    assert not (tmp_path / "out/vectors").exists()
