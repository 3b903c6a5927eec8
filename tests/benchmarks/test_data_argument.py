"""What records count of datasets, for estimates; and the forms that a dataset can be given in."""

import json

import pytest

from stele.benchmarks.arguments import data_folders, data_paths, record_count
from stele.benchmarks.belebele import Belebele
from stele.benchmarks.lareqa import Lareqa
from stele.benchmarks.mlqa import Mlqa
from stele.errors import SteleError
from stele.retrieval.searches.search_job import expected_passages
from stele.sources.download.counts import KINDS
from tests.sealed import write_sealed


@pytest.fixture
def records(tmp_path):
    collected = {}
    for part, counts in {"sw": {"passages": 3}, "te": {"candidates": {"all": 4, "te": 1}}, "en": {"dev": 9}}.items():
        path = tmp_path / part / "record.json"
        path.parent.mkdir()
        write_sealed(path, {"counts": counts})
        collected[f"mrtydi_corpus:{part}"] = path
    return collected


def test_counts_are_summed_over_records_and_unknown_ones_are_none(records, tmp_path):
    assert record_count(records, "passages", "candidates") == 7
    assert record_count(records, "train") is None
    (tmp_path / "corpus.tsv").write_text("")
    assert record_count({"x:all": tmp_path / "corpus.tsv"}, "passages") is None  # a user's file has no record


def test_a_collection_is_expected_to_have_the_passages_of_its_language(tmp_path):
    """A user's set of several languages is one part; its bar of progress ended at a half with two of them."""
    for language, rows in {"de": 2, "sw": 3}.items():
        (path := tmp_path / f"{language}-corpus/part.jsonl").parent.mkdir()
        path.write_text("".join(f'{{"_id": "{number}", "text": "x"}}\n' for number in range(rows)))
    counted = KINDS.get("retrieval_rows")(*tmp_path.glob("*/part.jsonl"))
    write_sealed(tmp_path / "record.json", {"counts": {"passages": {**counted, "all": 5}}})
    inputs = {"mine:all": tmp_path / "record.json"}
    assert [expected_passages(inputs, name) for name in ("de", "sw", "und")] == [2, 3, 5]


def test_a_dataset_is_given_by_its_record_its_folder_or_the_one_file(records, tmp_path):
    (tmp_path / "qrels.txt").write_text("")
    given = data_paths([f"mrtydi:sw={tmp_path}/sw/record.json", f"mrtydi:te={tmp_path}/te", f"nq={tmp_path}/qrels.txt"])
    assert data_folders(given) == {
        "mrtydi": {"sw": tmp_path / "sw", "te": tmp_path / "te"},
        "nq": {"all": tmp_path / "qrels.txt"},
    }
    for wrong, message in {
        "mrtydi": "want DATASET:PART=PATH",
        "mrtydi:=x": "want",
        "a:b=/nowhere": "no such record",
    }.items():
        with pytest.raises(SteleError, match=message):
            data_paths([wrong])


@pytest.mark.parametrize(
    ("reader", "read", "name", "languages", "part"),
    [
        (Mlqa(), Mlqa.answers, "test-context-en-question-de.json", ["de-en", "es-es"], "es-es"),
        (Belebele(), Belebele.judgments, "deu_Latn.jsonl", ["de-de", "es-es"], "es"),
        (Lareqa(), lambda *given: list(Lareqa.queries(*given)), "de.json", ["de", "es"], "es"),
    ],
)
def test_one_file_given_for_all_parts_serves_the_one_whose_name_it_has(tmp_path, reader, read, name, languages, part):
    """It served every pair of a row, each with the same numbers."""
    question = {"id": "q", "question": "?", "answers": [{"text": "A", "answer_start": 0}]}
    paragraph = {"context": "A b.", "sentences": ["A b."], "sentence_breaks": [[0, 4]], "qas": [question]}
    row = {"link": "a", "flores_passage": "A b.", "question": "?"}
    content = row if name.endswith("jsonl") else {"data": [{"paragraphs": [paragraph]}]}
    (path := tmp_path / name).write_text(json.dumps(content))
    dataset, (first, other) = type(reader).__name__.lower(), reader.query_sets(languages)
    assert read(reader, {dataset: {"all": path}}, first)
    with pytest.raises(SteleError, match=f"{name}: given for all of {dataset}, whose .*; give {dataset}:{part}="):
        read(reader, {dataset: {"all": path}}, other)
    assert read(reader, {dataset: {part: path}}, other)
