"""Reading the benchmarks' files: streamed, checked, and every fault reported with its file and line."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from stele import catalogue
from stele.benchmarks.types import Data
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError
from stele.files.reading import DECODER, JsonObject, check_surrogates, open_bytes, parse_json, reading

BLOCK = 1 << 20  # characters read at a time


# --- finding files ---
def folder_of(data: Data, dataset: str, part: str) -> Path:
    """The folder of one part of a dataset; a dataset given whole (part "all") serves every part.

    Raises SteleError where it is not among the data.
    """
    parts = data.get(dataset, {})
    folder = parts.get(part) or parts.get("all")
    if folder is None:
        names = ", ".join(f"{name}:{key}" for name in sorted(data) for key in sorted(data[name])) or "nothing"
        raise SteleError(f"needs the data {dataset}:{part}; given: {names}. Add --data {dataset}:{part}=record.json")
    return Path(folder)


def located(folder: Path, name: str) -> Path:
    """The file called `name` in a dataset's folder or below it, unpacked (`name` without .gz) or not.

    A user may give the one file itself, whatever its name. Raises SteleError where there is none, or there are several.
    """
    if folder.is_file():
        return folder
    plain = name.removesuffix(".gz")
    wanted = dict.fromkeys((name, plain, plain + ".gz"))
    for candidate in wanted:
        if (folder / candidate).is_file():
            return folder / candidate
    for candidate in wanted:
        files = sorted(path for path in below(folder) if path.name == candidate)
        if len(files) > 1:
            places = ", ".join(map(str, files))
            raise SteleError(f"{folder}: {candidate} is there {len(files)} times: {places}; keep one")
        if files:
            return files[0]
    held = sorted(path.name for path in below(folder))[:12]
    raise SteleError(f"{folder}: no file {name}; found {', '.join(held) if held else 'nothing'}")


def file_of_part(data: Data, dataset: str, part: str, name: str) -> Path:
    """The file `name` of a dataset with a file a part; another one that was given for all parts is an error."""
    path = located(folder_of(data, dataset, part), name)
    if part not in data[dataset] and path.name not in (name, f"{name}.gz"):
        raise SteleError(
            f"{path}: given for all of {dataset}, whose {part} is {name}; give {dataset}:{part}={path}, or a folder"
        )
    return path


def name_in_files(language: str, files: str) -> str:
    """How the files of a benchmark call a language, by a field of languages.yaml; the language itself where none says.

    >>> name_in_files("fr", "tatoeba"), name_in_files("ru", "belebele"), name_in_files("hin_Latn", "belebele")
    ('fra', 'rus_Cyrl', 'hin_Latn')
    """
    return getattr(catalogue.entries(Language).get(language), files, None) or language


def present(folder: Path, pattern: str) -> set[str]:
    """The names, without their last suffix, of the files in a dataset's folder or below it that match a pattern."""
    return {path.stem for path in below(folder) if path.match(pattern)}


def below(folder: Path) -> Iterator[Path]:
    """All files in a folder, in folders that are links too (a user's own data is linked); a file is itself."""
    if folder.is_file():
        yield folder
    for place, _, names in os.walk(folder, followlinks=True):
        yield from (Path(place, name) for name in names)


# --- reading ---
@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """A text file, unpacked as its first bytes say, as UTF-8 with an optional byte order mark."""
    with open_bytes(path) as handle, io.TextIOWrapper(handle, encoding="utf-8-sig", newline="\n") as text:
        yield text


@contextmanager
def opened(path: Path) -> Iterator[IO[str]]:
    """A text file open for reading; what is wrong with it is a SteleError."""
    with reading(path), open_text(path) as handle:
        yield handle


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields (line number from 1, line without its end); a damaged file is an error that names the line."""
    number = 0
    with reading(lambda: f"{path}, after line {number}" if number else str(path)), open_text(path) as handle:
        for number, line in enumerate(handle, start=1):
            yield number, line.rstrip("\r\n")


def json_lines(path: Path) -> Iterator[tuple[str, JsonObject]]:
    """Yields ("file, line N", object) for each line of a JSON-lines file.

    Blank lines are passed over; a file without any object is an error.
    """
    empty = True
    for number, line in lines(path):
        if line.strip():
            where, empty = f"{path}, line {number}", False
            yield where, checked_object(parse_json(line, where, "line of JSON"), where)
    if empty:
        raise SteleError(f"{path}: nothing in it, want a JSON object a line; get it again")


def json_array(path: Path) -> Iterator[tuple[str, JsonObject]]:
    """Yields ("file, line N", object) for each item of a file that is one JSON array, without loading it whole."""
    text, line, position, started = "", 1, 0, False
    with reading(lambda: f"{path}, line {line}"), open_text(path) as handle:
        while True:
            position = _skip(text, position, " \t\r\n," if started else " \t\r\n")
            if position >= len(text):
                line, text, position, block = line + text.count("\n"), "", 0, handle.read(BLOCK)
                if not block:
                    raise SteleError(f"{path}, line {line}: the JSON array is not closed; the file is cut short")
                text = block
                continue
            if not started:
                if text[position] != "[":
                    raise SteleError(f"{path}, line {line}: want a JSON array, found {text[position]!r}")
                started, position = True, position + 1
                continue
            if text[position] == "]":
                line, rest = line + text.count("\n", 0, position), text[position + 1 :]
                while not rest.strip() and (rest := handle.read(BLOCK)):
                    pass
                if rest.strip():
                    found = rest.strip()[:40]
                    raise SteleError(f"{path}, line {line}: the JSON array ends, and {found!r} comes; want one alone")
                return
            line, text, position = line + text.count("\n", 0, position), text[position:], 0
            where = f"{path}, line {line}"
            item, position, text = _decode(text, handle, where)
            check_surrogates(text[:position], item)
            yield where, checked_object(item, where)


def _skip(text: str, position: int, characters: str) -> int:
    while position < len(text) and text[position] in characters:
        position += 1
    return position


def _decode(text: str, handle: IO[str], where: str) -> tuple[Any, int, str]:
    """Decodes one value at the start of `text`, reading on as far as it needs; returns value, its end, and the text."""
    size = BLOCK
    while True:
        try:
            item, end = DECODER.raw_decode(text)
            return item, end, text
        except json.JSONDecodeError as error:
            block = handle.read(size)
            if not block:
                raise SteleError(f"{where}: not JSON, or cut short ({error})") from None
            text, size = text + block, size * 2


def json_file(path: Path) -> JsonObject:
    """A JSON file that is one object (small files only)."""
    with opened(path) as handle:
        return checked_object(parse_json(handle.read(), path), path)


def tsv_rows(path: Path, columns: int) -> Iterator[tuple[str, list[str]]]:
    """Yields ("file, line N", row) of a tab-separated file, quotes as Python's csv reads them.

    Raises SteleError for a row of another number of columns.
    """
    csv.field_size_limit(1 << 27)
    where = str(path)
    with reading(lambda: where), open_text(path) as handle:
        rows = csv.reader(handle, delimiter="\t")
        for row in rows:
            where = f"{path}, line {rows.line_num}"
            if len(row) != columns:
                raise SteleError(f"{where}: want {columns} tab-separated columns, found {len(row)}")
            yield where, row


# --- checking ---
def checked_object(value: Any, where: Path | str) -> JsonObject:
    """`value`, a JSON object. Raises SteleError for anything else."""
    if not isinstance(value, dict):
        raise SteleError(f"{where}: want a JSON object, found {type(value).__name__}")
    return value


def field(item: Any, name: str, kind: type, where: str) -> Any:
    """The field `name` of a JSON object. Raises SteleError where it is missing or of another type."""
    if name not in checked_object(item, where):
        raise SteleError(f"{where}: no field {name!r}; found {', '.join(sorted(item)) or 'none'}")
    value = item[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise SteleError(f"{where}: field {name!r} must be {_NAMES[kind]}, found {type(value).__name__}")
    return value


def optional(item: JsonObject, name: str, kind: type, where: str) -> Any:
    """The field `name` of a JSON object, an empty one where it is not there or null."""
    return field({name: item.get(name) or kind()}, name, kind, where)


_NAMES = {str: "a string", int: "an integer", list: "a list", dict: "an object", bool: "true or false"}


def identifier(value: Any, where: str, name: str = "id") -> str:
    """An id as a string. Raises SteleError where it is empty or has white space, which a run file could not hold."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value or value.split() != [value]:
        raise SteleError(f"{where}: {name} must be a string without white space, found {value!r}")
    return value


def refuse_again(value: str, seen: Container[str], where: str, kind: str = "id") -> str:
    """Returns `value`. Raises SteleError where it has been seen before."""
    if value in seen:
        raise SteleError(f"{where}: {kind} {value!r} appears twice")
    return value
