"""WikiText-103 to Documents through the command."""

import pytest

from stele.artifacts.documents import read_documents
from stele.artifacts.records import read_record
from stele.command.cli import main

TEXT = """ \n = Valkyria = \n \n It was the third game . It sold well @-@ done copies . \n A second paragraph . \n \n
 = = Gameplay = = \n \n As with previous games , it is tactical . \n ... \n x = y = z \n \n = = = Empty = = = \n \n
 = = Plot = = \n \n The end . \n \n = = Signs = = \n \n – \n \n = Without text = \n \n = 1 + 1 = 2 = \n \n Sums . \n"""


def command(record, output, *more):
    return ["corpora", "wikitext103", "--dataset", str(record), "--output", str(output / "record.json"), *more]


def test_titles_part_articles_and_headings_sections(dataset, tmp_path):
    assert main(command(dataset(TEXT, "wiki.train.raw"), tmp_path / "out")) == 0
    first, second = read_documents(tmp_path / "out")
    assert (first.title, second.title) == ("Valkyria", "1 + 1 = 2")
    assert first.sentences[:3] == ["It was the third game .", "It sold well @-@ done copies .", "A second paragraph ."]
    assert first.sentences[3:] == ["As with previous games , it is tactical .", "x = y = z", "The end ."]
    assert first.paragraphs == [0, 2, 3, 4, 5]
    assert [tuple(section) for section in first.sections] == [("Gameplay", 3), ("Plot", 5)]
    assert second.sentences == ["Sums ."] and second.doc_id == "wikitext103-1"
    record = read_record(tmp_path / "out/record.json")
    assert (record["documents"], record["sentences"], record["labels"]) == (2, 7, ["generated data"])


def test_a_limit_takes_the_first_articles_and_says_so(dataset, tmp_path):
    assert main(command(dataset(TEXT, "wiki.train.raw"), tmp_path / "out", "--limit", "1")) == 0
    assert [document.title for document in read_documents(tmp_path / "out")] == ["Valkyria"]
    assert "limited" in " ".join(read_record(tmp_path / "out/record.json")["labels"])


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        ("Some text .\n", "wiki.train.raw", "text before the first"),
        (b" = A = \n \n caf\xe9 \n", "wiki.train.raw", "wiki.train.raw"),
        ("", "wiki.train.raw", "no article in it"),
        (TEXT, "wiki.train.tokens", "wiki.train.raw, found none (files: record.json, wiki.train.tokens)"),
    ],
)
def test_what_is_no_wikitext_is_refused_and_nothing_is_written(dataset, tmp_path, capsys, data, name, message):
    assert main(command(dataset(data, name), tmp_path / "out")) == 1
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error
    assert not (tmp_path / "out").exists()
