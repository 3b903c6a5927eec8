"""Readers of files from outside: whatever is wrong with a file, it is read or refused with one error that names it."""

import importlib
import inspect
import os
import pkgutil
import random
import re
from functools import wraps

import pytest

from stele import benchmarks
from stele.benchmarks.reader import BenchmarkReader, CollectionReader, SpanTrainingReader, TrainingReader
from stele.errors import SteleError
from tests.readers.benchmark_files import BENCHMARKS
from tests.readers.damage import damaged
from tests.readers.dataset_files import DATASETS
from tests.readers.handed_files import FEWER
from tests.readers.readers import BESIDE, FOLDERS, READERS

KINDS = (BenchmarkReader, CollectionReader, TrainingReader, SpanTrainingReader)
CASES = int(os.environ.get("STELE_FUZZ_CASES", "1000"))
ARGUMENTS = ("pretraining recipe", "fine-tuning recipe", "mining recipe")  # given as text, and named so


@pytest.fixture
def laid(tmp_path, monkeypatch):
    """Puts a reader's files into a folder; the path of the one that is damaged."""

    def lay(name):
        file, content, _ = READERS[name]
        folder = tmp_path / re.sub(r"\W", "_", name) / FOLDERS.get(name, "given")
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
    refused, cases = 0, max(1, CASES // 50) if name in FEWER else CASES
    for case in range(cases):
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
    assert refused > cases / 20


@pytest.mark.parametrize("name", [name for name in READERS if name not in ARGUMENTS])
def test_no_traceback_for_a_folder_in_place_of_a_file_and_for_none(laid, name):
    path, (_, _, read) = laid(name), READERS[name]
    path.unlink()
    if name != "result":  # those that are not there yet are told apart by the caller
        _read_or_refused(read, path)
    path.mkdir()
    _read_or_refused(read, path)


def test_every_benchmark_is_among_the_readers(laid, monkeypatch):
    """Each reader of a benchmark or a training set is called by these tests."""
    called, readers = set(), set()
    for name in (found.name for found in pkgutil.iter_modules(benchmarks.__path__) if found.name != "reader"):
        module = importlib.import_module(f"stele.benchmarks.{name}")
        classes = (value for value in vars(module).values() if inspect.isclass(value))
        readers |= {kind for kind in classes if kind.__module__ == module.__name__ and issubclass(kind, KINDS)}
    for reader in sorted(readers, key=lambda reader: len(reader.__mro__)):  # a base before what inherits from it
        for name, method in inspect.getmembers(reader, inspect.isfunction):
            monkeypatch.setattr(reader, name, _noting(method, reader, called))
    for name in (*BENCHMARKS, *DATASETS):
        READERS[name][2](laid(name))
    assert len(readers) > 20 and readers <= called


def _noting(read, name, called):
    @wraps(read)
    def noting(*arguments, **named):
        called.add(name)
        return read(*arguments, **named)

    return noting


def _read_or_refused(read, path):
    try:
        read(path)
    except SteleError as error:
        dataset = next((folder for folder in path.parents if folder.name == "dataset"), path.parent)
        assert path.name in str(error) or str(dataset) in str(error)
