"""Held-out documents: none is trained on, not in a copy either; and what an encoder finds in them."""

import numpy as np
import pytest

from stele.adapt.neighbours import accuracy, unit
from stele.artifacts.documents import Document, DocumentWriter, read_sentences
from stele.command import cli
from stele.errors import SteleError
from tests.sealed import write_sealed


def corpus(folder, texts):
    folder.mkdir()
    with DocumentWriter(folder) as writer:
        for number, sentences in enumerate(texts):
            writer.add(Document("de", f"d{number}", list(sentences), [0]))
    write_sealed(folder / "record.json", {"job": "corpora", "corpus": "cc100", "language": "de", "labels": []})
    return folder / "record.json"


def sides(tmp_path, texts):
    record = corpus(tmp_path / "documents", texts)
    found = {}
    for side in ("training", "held_out"):
        output = tmp_path / side / "record.json"
        words = ["adapt", "hold_out", "--side", side, "--documents", str(record), "--output", str(output)]
        assert cli.main(words) == 0
        found[side] = [tuple(sentences) for _, sentences in read_sentences(output)]
    return found["training"], found["held_out"]


def test_a_tenth_is_held_out_and_no_copy_of_it_is_trained_on(tmp_path):
    texts = [(f"sentence {number % 40} a", "b") for number in range(60)]  # 20 texts come twice
    training, held_out = sides(tmp_path, texts)
    assert len({*held_out}) == 4 and not {*training} & {*held_out}
    assert sorted(training + held_out) == sorted(texts)


@pytest.mark.parametrize(("number", "what"), [(1, "one document"), (1000, "1,000 documents of one text")])
def test_documents_of_one_text_are_refused_with_what_is_wanted(tmp_path, capsys, number, what):
    record = corpus(tmp_path / "documents", [("the same", "text")] * number)
    output = str(tmp_path / "training/record.json")
    assert cli.main(["adapt", "hold_out", "--side", "training", "--documents", str(record), "--output", output]) == 1
    assert f"found {what} in de; want at least two different documents" in capsys.readouterr().err


def test_a_neighbour_is_found_where_nothing_else_is_as_close():
    generator = np.random.default_rng(3)
    vectors = generator.normal(size=(50, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert accuracy(vectors, vectors)["found"] == 50
    assert accuracy(vectors, np.roll(vectors, 1, axis=0))["found"] == 0
    equal = generator.normal(size=(33, 24)).astype(np.float32)
    equal /= np.linalg.norm(equal, axis=1, keepdims=True)
    equal[-1] = equal[0]
    assert accuracy(equal, equal)["found"] == 31  # of equals none
    collapsed = np.tile(vectors[:1], (50, 1))
    assert accuracy(collapsed, collapsed) == {"sentences": 50, "found": 0, "cosine": 1.0}


def test_a_vector_without_length_is_an_error():
    with pytest.raises(SteleError, match="zero vector"):
        unit(np.zeros((1, 4), dtype=np.float32))
