"""Readers of files from outside: whatever is wrong with a file, it is read or refused with one error that names it."""

import os
import random

import pytest

from stele.errors import SteleError
from tests.readers.damage import damaged
from tests.readers.readers import BESIDE, FOLDERS, READERS

CASES = int(os.environ.get("STELE_FUZZ_CASES", "200"))  # before a release: 1000
ARGUMENTS = ("pretraining recipe", "fine-tuning recipe", "mining recipe")  # given as text, and named so


@pytest.fixture
def laid(tmp_path, monkeypatch):
    """Puts a reader's files into a folder; the path of the one that is damaged."""

    def lay(name):
        file, content, _ = READERS[name]
        folder = tmp_path / FOLDERS.get(name, "given")
        for other, its in {**BESIDE.get(name, {}), file: content}.items():
            (folder / other).parent.mkdir(parents=True, exist_ok=True)
            (folder / other).write_bytes(its)
        return folder / file

    return lay


@pytest.mark.parametrize("name", READERS)
def test_a_valid_file_is_read(laid, name):
    READERS[name][2](laid(name))


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_refused_by_its_name(laid, name):
    path, (_, valid, read) = laid(name), READERS[name]
    refused = 0
    for case in range(CASES):
        content = damaged(valid, random.Random(f"{name} {case}"))
        path.write_bytes(content)
        try:
            read(path)
        except SteleError as error:
            refused += 1
            where = "--recipe" if name in ARGUMENTS else path.name.partition(".")[0]
            assert where in str(error) or str(path.parent) in str(error), f"case {case}: {error}"
            str(error).encode("utf-8")
        except Exception as error:
            raise AssertionError(f"case {case} of {name}: {type(error).__name__} over {content[:300]!r}") from error
    assert refused > CASES / 20


@pytest.mark.parametrize("name", [name for name in READERS if name not in ARGUMENTS])
def test_no_traceback_for_a_folder_in_place_of_a_file_and_for_none(laid, name):
    path, (_, _, read) = laid(name), READERS[name]
    path.unlink()
    if name != "result":  # those that are not there yet are told apart by the caller
        _read_or_refused(read, path)
    path.mkdir()
    _read_or_refused(read, path)


def _read_or_refused(read, path):
    try:
        read(path)
    except SteleError as error:
        assert path.name in str(error) or str(path.parent) in str(error)
