"""Table 8 end to end: questions and gold passages of XOR-Retrieve, their vectors, alignment and uniformity by hand."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from recorded import put, record

from stele.encoders.encode import Encoder
from stele.errors import SteleError
from stele.retrieval import encode_pairs
from stele.scoring import score
from tests.jobs import job


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


def encoded(tmp_path: Path, encoder: Path, data: list[str], *languages: str) -> Path:
    line = ["--benchmark", "xor_retrieve", "--languages", *languages, "--encoder", str(encoder), "--data", *data]
    line += ["--encoding", '{"pooling": "mean", "query_length": 16, "passage_length": 16}']
    line += ["--output", str(tmp_path / "out/vectors.json")]
    encode_pairs.run(job(encode_pairs, line))
    return tmp_path / "out/vectors.json"


def test_texts_that_were_cut_are_counted(tmp_path, encoder, data):
    """By the tokens that the encoder reads: 16 of each side."""
    path = tmp_path / "q/xor_dev_retrieve_eng_span_v1_1.jsonl"
    path.write_text(path.read_text().replace("-1 0 ?", "-1 0 " + "and so on " * 20))
    long = dpr("-1 0 " + "and so on " * 20, "long " * 30)
    answered = [dpr("0 2 ?", "1 0 b"), dpr("3 0 ?", "who wrote " * 20), long]
    (tmp_path / "d/dpr_dev_data.json").write_text(json.dumps(answered))
    facts = json.loads(encoded(tmp_path, encoder, data, "ar").read_text())["vectors"]["ar"]
    assert (facts["pairs"], facts["cut_queries"], facts["cut_passages"]) == (3, 1, 2)


def test_alignment_and_uniformity_by_hand(tmp_path, encoder, data, by_hand, caplog):
    made = encoded(tmp_path, encoder, data, "ar", "te", "ru")
    assert "ru: no question with a gold passage" in caplog.text
    written = json.loads(made.read_text())
    counts = {code: (facts["pairs"], facts["without_passage"]) for code, facts in written["vectors"].items()}
    assert counts == {"ar": (3, 0), "te": (1, 1)}
    metrics = ["alignment", "uniformity_query", "uniformity_passage"]
    line = ["xor_retrieve", "--run", str(made), "--setting", "align_uniform", "--model", "tiny", "--metrics", *metrics]
    score.run(job(score, [*line, "--data", *data[:1], "--output", str(tmp_path / "r.json")]))
    result = json.loads((tmp_path / "r.json").read_text())
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
        encoded(tmp_path, encoder, data, "ru")
    assert not (tmp_path / "out/vectors").exists()
