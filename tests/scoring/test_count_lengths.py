"""Lengths of documents: counted by hand, the same in any batches, means in the record, and what is planned."""

import csv
import sys
from pathlib import Path

import pytest

from stele.artifacts.records import read_record
from stele.artifacts.results import RunKey
from stele.errors import SteleError
from stele.files.digests import sha256
from stele.scoring import count_lengths
from tests.jobs import job
from tests.sealed import write_sealed

sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))  # tiny_models

ROW = RunKey("statistics", "clef", "count")
DOCUMENTS = {"a": ("one two", "three"), "b": ("", "one two"), "c": ("one", "two three"), "d": ("", "")}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory) -> Path:
    """The record of a tokenizer with a token a word, which adds two and would cut after eight."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "one", "two", "three"])}
    backend = Tokenizer(models.WordLevel(words, "[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    backend.enable_truncation(3)
    folder = tmp_path_factory.mktemp("tokenizer")
    PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]").save_pretrained(folder)
    (folder / "config.json").write_text("{}")
    write_sealed(folder / "record.json", {"job": "checkpoint", "content": "t", "labels": ["stand-in checkpoint"]})
    return folder / "record.json"


@pytest.fixture
def clef(tmp_path) -> Path:
    """The record of a CLEF in German, of which two documents are judged for a topic that counts."""
    folder = tmp_path / "clef/de"
    folder.mkdir(parents=True)
    texts = [
        f"<DOC>\n<DOCNO>{name}</DOCNO>\n<TITLE>{title}</TITLE>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n"
        for name, (title, text) in DOCUMENTS.items()
    ]
    (folder / "news.sgml").write_text("".join(texts))
    (folder / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 c 0\n")
    (folder / "topics.txt").write_text("")
    return write_sealed(tmp_path / "clef/record.json", {"job": "dataset", "labels": ["generated data"]})


@pytest.fixture
def lengths(tmp_path, clef, tokenizer):
    """lengths(dataset, language) -> the file of counted lengths."""

    def call(dataset="clef", language="de") -> Path:
        line = ["--dataset", dataset, "--language", language, "--data", f"clef:all={clef}"]
        output = tmp_path / f"lengths_{language}.csv"
        count_lengths.run(job(count_lengths, [*line, "--tokenizer", str(tokenizer), "--output", str(output)]))
        return output

    return call


@pytest.mark.parametrize("batch", [1, 3, 1000])
def test_documents_are_counted_by_their_length_whatever_the_batches(lengths, monkeypatch, batch):
    monkeypatch.setattr(count_lengths, "BATCH", batch)
    path = lengths()
    assert [*csv.reader(path.open())] == [["tokens", "documents"], ["0", "1"], ["2", "1"], ["3", "2"]]
    record = read_record(path.with_suffix(".json"))
    assert record["documents"] == {"number": 4, "tokens": 8}
    assert record["judged_documents"] == {"number": 2, "tokens": 5}
    assert record["content"] == sha256(path) and record["labels"] == ["generated data", "stand-in checkpoint"]


def test_what_has_no_documents_is_an_error(lengths, tmp_path):
    with pytest.raises(SteleError, match="mrtydi: the lengths of its documents are not counted"):
        lengths("mrtydi")
    with pytest.raises(SteleError):
        lengths(language="fr")
    assert not list(tmp_path.glob("*.csv"))


def test_table_3_and_figure_1_are_planned_of_the_languages_in_scale(jobs):
    of = jobs(papers=["clir_lm"])
    codes = sorted({code for pair in of.data.languages("clef") for code in pair.split("-")})
    records = [f"results/statistics/clef/count/lengths_{code}.json" for code in codes]
    kind = of.rows.kind(ROW)
    inputs = {"data": [of.paths.dataset("clef", "all")], "lengths": records}
    assert {"en", "fr"} <= {*codes} and of.rows.inputs(ROW) == inputs
    tokenizer = kind.length_inputs("clef")["tokenizer"]
    assert of.rows.downloads(ROW) == {of.paths.dataset("clef", "all"), tokenizer}
    assert of.tables.results("clir_lm/03") == [of.paths.result(ROW)]
    files = [f"results/statistics/clef/count/lengths_{code}.csv" for code in ("en", "fr")]
    assert of.figures.results("clir_lm/01") == files
    with pytest.raises(SteleError, match="the lengths of its documents are not counted"):
        kind.length_inputs("mrtydi")


def test_without_clef_or_its_languages_nothing_is_counted(jobs):
    state, reason = jobs(scale="paper").rows.problem(ROW)
    assert state == "unavailable" and "user_data: {clef" in reason
    assert jobs(languages=["en", "sw"]).rows.problem(ROW)[0] == "not in scale"
