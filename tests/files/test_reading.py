"""JSON that Stele wrote itself: a note that nobody has to read, and a state that a job goes on from."""

import pytest

from stele.errors import SteleError
from stele.files.reading import read_note, read_state

DAMAGED = [b"", b"{", b"[" * 100_000, b'{"a": "\xff"}']


@pytest.mark.parametrize("content", [*DAMAGED, b"[1]", b"7"])
def test_a_note_that_cannot_be_read_is_none(tmp_path, content):
    path = tmp_path / "note.json"
    assert read_note(path) == read_note(tmp_path) == {}
    path.write_bytes(content)
    assert read_note(path) == {}
    path.write_text('{"a": 1}')
    assert read_note(path) == {"a": 1}


@pytest.mark.parametrize("content", ['{"log": 5}', '{"log": null}', '{"log": {"a": 1}}'])
def test_a_note_whose_keys_have_other_types_is_none(tmp_path, content):
    (tmp_path / "note.json").write_text(content)
    assert read_note(tmp_path / "note.json", log=list) == {}
    (tmp_path / "note.json").write_text('{"other": 5}')
    assert read_note(tmp_path / "note.json", log=list) == {"other": 5}


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_state_names_itself_and_what_to_do(tmp_path, content):
    path = tmp_path / "progress.json"
    assert read_state(path) is None
    path.write_bytes(content)
    with pytest.raises(SteleError, match=r"progress\.json: not .*; remove it and run again"):
        read_state(path)
    path.write_text("7")
    assert read_state(path) == 7
