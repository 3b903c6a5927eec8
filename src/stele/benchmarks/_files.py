"""Read the benchmarks' files: stream them, check them, and report every fault with its file and line."""

import csv
import io
import json
import re
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from stele import catalogue
from stele.benchmarks.types import Data
from stele.catalogue.schema.languages import Language
from stele.catalogue.user_data import listing
from stele.errors import SteleError
from stele.files.paths import relative
from stele.files.reading import DECODER, JsonObject, check_surrogates, open_bytes, parse_json, reading

BLOCK = 1 << 20  # characters read at a time
_BLANK, _BETWEEN = re.compile(r"[ \t\r\n]*"), re.compile(r"[ \t\r\n,]*")  # before a JSON array, and between its items


# --- finding files ---
def folder_of(data: Data, dataset: str, part: str) -> Path:
    """Folder of one part of a dataset; one given as a whole (part "all") has every part, some in a folder of its name.

    Raises SteleError if the part is not among the data.
    """
    parts = data.get(dataset, {})
    folder = parts.get(part)
    if folder is None and "all" in parts:
        inner = Path(parts["all"], relative(part, f"the languages of {dataset}"))
        folder = inner if inner.is_dir() else parts["all"]
    if folder is None:
        names = ", ".join(f"{name}:{key}" for name in sorted(data) for key in sorted(data[name])) or "nothing"
        raise SteleError(f"needs the data {dataset}:{part}; given: {names}. Add --data {dataset}:{part}=record.json")
    return Path(folder)


def language_folder(data: Data, dataset: str, language: str) -> Path:
    """Folder of a language whose files are named as every language's. Raises SteleError if it is given for all."""
    folder = folder_of(data, dataset, language)
    if language not in data[dataset] and folder.name != language:
        raise SteleError(
            f"{folder}: given for all of {dataset}, whose {language} is one of several; give "
            f"{dataset}:{language}={folder}, or a folder that has a folder {language}"
        )
    return folder


def located(folder: Path, name: str) -> Path:
    """Finds the file `name`, gzipped or not, in a dataset's folder or below it.

    A user may give the file itself, under any name, as `folder`. Raises SteleError if there are no or several files.
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
            raise SteleError(f"{folder}: found {candidate} {len(files)} times ({places}); keep one")
        if files:
            return files[0]
    names = sorted(path.name for path in below(folder))[:12]
    raise SteleError(f"{folder}: no file {name}; found {', '.join(names) if names else 'nothing'}")


def file_of_part(data: Data, dataset: str, part: str, name: str) -> Path:
    """Finds a part's file `name`. Raises SteleError for a file of another name that was given for all parts."""
    path = located(folder_of(data, dataset, part), name)
    if part not in data[dataset] and path.name not in (name, f"{name}.gz"):
        raise SteleError(
            f"{path}: given for all of {dataset}, whose {part} is {name}; give {dataset}:{part}={path} or a folder"
        )
    return path


def name_in_files(language: str, files: str) -> str:
    """Name of a language in a benchmark's files, by a field of languages.yaml; the language itself if it has no entry.

    >>> name_in_files("fr", "tatoeba"), name_in_files("ru", "belebele"), name_in_files("hin_Latn", "belebele")
    ('fra', 'rus_Cyrl', 'hin_Latn')
    """
    return getattr(catalogue.entries(Language).get(language), files, None) or language


def below(folder: Path) -> Iterator[Path]:
    """Yields all files below a folder and its links to folders, without hidden ones, sorted; a file yields itself."""
    if folder.is_file():
        yield folder
    elif folder.is_dir():
        yield from (folder / name for name in listing(folder))


# --- reading ---
@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Opens a text file in UTF-8, with or without a byte order mark; decompresses it by its first bytes."""
    with open_bytes(path) as handle, io.TextIOWrapper(handle, encoding="utf-8-sig", newline="\n") as text:
        yield text


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields (line number from 1, line without its end).

    Raises SteleError, with the line, for a damaged file, and for a file whose only line ends are carriage returns.
    """
    number, line = 0, ""
    with reading(lambda: f"{path}, after line {number}" if number else str(path)), open_text(path) as handle:
        for number, line in enumerate(handle, start=1):
            yield number, line.rstrip("\r\n")
    if number == 1:
        refuse_old_line_ends(line, path)


def refuse_old_line_ends(only_line: str, path: Path) -> None:
    """Raises SteleError if the only line of a file holds several, which end in carriage returns alone."""
    if "\r" in only_line.rstrip("\r\n"):
        raise SteleError(f"{path}: its lines end as on old Macs; want line feeds (`tr '\\r' '\\n'` converts it)")


def json_lines(path: Path) -> Iterator[tuple[str, JsonObject]]:
    """Yields ("file, line N", object) for each line of a JSON-lines file.

    It skips blank lines. Raises SteleError for a line that is not an object and for a file without objects.
    """
    empty = True
    for number, line in lines(path):
        if line.strip():
            where, empty = f"{path}, line {number}", False
            yield where, checked_object(parse_json(line, where, "line of JSON"), where)
    if empty:
        raise SteleError(f"{path}: nothing in it, want a JSON object on each line; get it again")


def json_array(path: Path) -> Iterator[tuple[str, JsonObject]]:
    """Streams ("file, line N", object) for each item of one JSON array. Raises SteleError for any other content."""
    text, line, position, started = "", 1, 0, False
    with reading(lambda: f"{path}, line {line}"), open_text(path) as handle:
        while True:
            position = (_BETWEEN if started else _BLANK).match(text, position).end()
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
                    raise SteleError(f"{path}, line {line}: found {found!r} after the JSON array; want one array only")
                return
            line, text, position = line + text.count("\n", 0, position), text[position:], 0
            where = f"{path}, line {line}"
            item, position, text = _decode(text, handle, where)
            check_surrogates(text[:position], item)
            yield where, checked_object(item, where)


def _decode(text: str, handle: IO[str], where: str) -> tuple[Any, int, str]:
    """Decodes a value at the start of `text`, reading more as needed. Returns (value, end of it, text so far)."""
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
    """Reads a small JSON file that is one object. Raises SteleError for any other content."""
    with reading(path), open_text(path) as handle:
        return checked_object(parse_json(handle.read(), path), path)


def tsv_rows(path: Path, columns: int) -> Iterator[tuple[str, list[str]]]:
    """Yields ("file, line N", row) of a tab-separated file, with quoted fields as in Python's csv; skips blank lines.

    Raises SteleError for a row that does not have `columns` columns.
    """
    csv.field_size_limit(1 << 27)
    where = str(path)
    with reading(lambda: where), open_text(path) as handle:
        rows = csv.reader(handle, delimiter="\t")
        for row in filter(None, rows):
            where = f"{path}, line {rows.line_num}"
            if len(row) != columns:
                raise SteleError(f"{where}: want {columns} tab-separated columns, found {len(row)}")
            yield where, row


# --- checking ---
def checked_object(value: Any, where: Path | str) -> JsonObject:
    """Returns `value` if it is a JSON object. Raises SteleError for anything else."""
    if not isinstance(value, dict):
        raise SteleError(f"{where}: want a JSON object, found {type(value).__name__}")
    return value


def field(item: Any, name: str, kind: type, where: str) -> Any:
    """Value of a JSON object's field. Raises SteleError if it is missing or not of type `kind`."""
    if name not in checked_object(item, where):
        raise SteleError(f"{where}: no field {name!r}; found {', '.join(sorted(item)) or 'none'}")
    value = item[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise SteleError(f"{where}: field {name!r} must be {_NAMES[kind]}, found {type(value).__name__}")
    return value


def optional(item: JsonObject, name: str, kind: type, where: str) -> Any:
    """Value of a JSON object's field; an empty one if it is missing or null. Raises SteleError for another type."""
    return field({name: item.get(name) or kind()}, name, kind, where)


_NAMES = {str: "a string", int: "an integer", list: "a list", dict: "an object", bool: "true or false"}


def identifier(value: Any, where: str, name: str = "id") -> str:
    """Converts an id to a string. Raises SteleError if it is empty or has white space, which run files do not allow."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value or value.split() != [value]:
        raise SteleError(f"{where}: {name} must be a string without white space, found {value!r}")
    return value


def refuse_again(value: str, seen: Container[str], where: str, kind: str = "id") -> str:
    """Returns `value`. Raises SteleError if it was seen before."""
    if value in seen:
        raise SteleError(f"{where}: {kind} {value!r} appears twice")
    return value
