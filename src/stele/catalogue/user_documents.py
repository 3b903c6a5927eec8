"""A user's own documents (`user_data.documents`): finds their files and languages.

Formats: plain text (.txt), JSON lines (.jsonl, .ndjson), Parquet, a dump of a Wikipedia; all but Parquet also
compressed. The language of a file is

1. the first folder on its path, or else the name of the file, that is a code of the catalogue or of `add_languages`:
   FOLDER/de/..., FOLDER/de.txt;
2. of JSON lines and Parquet, the field `language` of each row, a code of two to eight small letters;
3. the first such name that has two or three small letters: FOLDER/xal.txt;
4. of a dump, the wiki's: ltgwiki-...-pages-articles.xml;
5. `und` (undetermined) otherwise.
"""

import logging
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from stele import catalogue
from stele.catalogue.schema.languages import Language
from stele.catalogue.user_data import listing
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.digests import file_digests
from stele.files.document_rows import document_rows
from stele.files.reading import plain_name, read_note
from stele.progress import track

log = logging.getLogger(__name__)

DATASET = "documents"
UNDETERMINED = "und"  # ISO 639-3
DIGESTS, ROWS = Path("state/user_files.json"), Path("state/user_documents.json")
WANTED = "text (.txt), JSON lines (.jsonl), Parquet (.parquet) or a dump (*pages-articles*.xml)"
PACKED_TEXT = 4.5  # estimated bytes of text per compressed byte
_KINDS = {".txt": "text", ".jsonl": "rows", ".ndjson": "rows", ".parquet": "rows"}
_ABOUT = re.compile("(readme|licen[cs]e|copying)([._-].*)?", re.IGNORECASE)  # not documents
_DUMP = re.compile(r"(?P<wiki>[a-z_]+)wiki-.*(pages-articles.*|siteinfo-namespaces\.json)")


class OwnDocuments(NamedTuple):
    """Files below the user's folder that hold the documents of a language, and the approximate bytes of their text."""

    files: tuple[str, ...]
    size: float


def place_of(place: Path | str) -> tuple[Path, list[str]]:
    """Returns (folder, files below it) for the path that a user gives: a folder or a single file."""
    place = Path(place).expanduser()
    return (place.parent, [place.name]) if place.is_file() else (place, listing(place))


def kind_of(name: str) -> str | None:
    """Format of a file of documents by its name: text, rows or dump; None for another file.

    >>> [kind_of(name) for name in ("de/a.txt.gz", "a.jsonl", "ltgwiki-pages-articles.xml", "README.txt", "a.pdf")]
    ['text', 'rows', 'dump', None, None]
    """
    base = PurePosixPath(plain_name(name)).name
    if _DUMP.fullmatch(base):
        return "dump"
    return None if _ABOUT.fullmatch(base) else _KINDS.get(PurePosixPath(base).suffix)


def language_in(name: str, known: Mapping[str, Language]) -> str | None:
    """Language that the path of a file names, or None.

    >>> names = "text/lv/a.txt", "xal.jsonl.gz", "mine.txt", "ltgwiki-1-pages-articles.xml"
    >>> [language_in(name, {"lv": None}) for name in names]
    ['lv', 'xal', None, 'ltg']
    """
    path = PurePosixPath(name)
    parts = [*path.parts[:-1], path.name.partition(".")[0]]
    codes = [part for part in parts if part in known]
    if dump := _DUMP.fullmatch(plain_name(path.name)):  # more reliable than a folder such as raw/
        subdomain = dump["wiki"].replace("_", "-")
        codes += [code for code, entry in known.items() if entry and entry.wikipedia == subdomain]
        codes += re.findall("^[a-z]{2,8}$", subdomain)
    codes += [part for part in parts if re.fullmatch("[a-z]{2,3}", part)]
    return next(iter(codes), None)


def by_language(place: Path | str, known: Mapping[str, Language]) -> dict[str, OwnDocuments]:
    """Documents of a folder or file by language, in the order of codes.

    Raises SteleError if there are none. The languages of rows are cached by the digest of their file.
    """
    where = f"user_data.{DATASET} ({place})"
    if not Path(place).expanduser().exists():
        raise SteleError(f"{where}: no such folder or file; correct the path")
    folder, names = place_of(place)
    readable = [name for name in names if kind_of(name)]
    if not readable:
        others = f"found {', '.join(names[:5])}" if names else "it is empty"
        raise SteleError(f"{where}: no documents in it ({others}); want {WANTED}")
    empty = {name for name in readable if not (folder / name).stat().st_size}
    if len(empty) == len(readable):
        raise SteleError(f"{where}: all document files are empty: {', '.join(readable[:5])}")
    if empty:  # a language with only empty files is left out
        log.warning("%s: %d empty files are ignored: %s", where, len(empty), ", ".join(sorted(empty)[:5]))
        readable = [name for name in readable if name not in empty]
    if left_out := [name for name in names if not kind_of(name)]:
        log.warning("%s: %d files of other formats are ignored: %s", where, len(left_out), ", ".join(left_out[:5]))
    files: dict[str, set[str]] = {}  # language -> files; rows of one file may differ
    sizes: Counter[str] = Counter()
    by_field = []
    for name in readable:
        language = language_in(name, known)
        if language not in known and kind_of(name) == "rows":
            by_field.append(name)
            continue
        files.setdefault(language or UNDETERMINED, set()).add(name)
        packed = PACKED_TEXT if plain_name(name) != name else 1
        sizes[language or UNDETERMINED] += packed * (folder / name).stat().st_size
    for name, sizes_in_file in _languages_of_rows(folder, by_field).items():
        for stated, size in sizes_in_file.items():
            language = stated or language_in(name, known) or UNDETERMINED
            files.setdefault(language, set()).add(name)
            sizes[language] += size
    if undetermined := files.get(UNDETERMINED):
        log.warning(
            "%s: no language is stated for %s%s; `%s` is assumed. Name a folder or file by a language's code "
            "(de/, de.txt), or give each row a field `language`",
            where, min(undetermined), f" and {len(undetermined) - 1} more" * (len(undetermined) > 1), UNDETERMINED,
        )  # fmt: skip
    return {code: OwnDocuments(tuple(sorted(files[code])), float(sizes[code])) for code in sorted(files)}


def files_of(place: Path | str, language: str) -> list[str]:
    """Files that hold the documents of a language. Raises SteleError if there are none."""
    languages = by_language(place, catalogue.entries(Language))
    if language not in languages:
        raise SteleError(f"user_data.{DATASET} ({place}): no documents in {language}; it has {', '.join(languages)}")
    return list(languages[language].files)


def _languages_of_rows(folder: Path, names: list[str]) -> dict[str, dict[str, int]]:
    """Bytes of text by file and language ("" for rows without one): file -> language -> bytes."""
    digests = file_digests((folder / name for name in names), DIGESTS)
    remembered, sizes_by_file = read_note(ROWS), {}
    for name in names:
        size, sha256 = digests[folder / name]
        if not isinstance(remembered.get(sha256), dict):
            sizes: Counter[str] = Counter()
            rows = document_rows(folder / name, Counter())
            for row in track(rows, None, f"languages of {name}", "row") if size > 1 << 26 else rows:
                sizes[row.language or ""] += len(row.text.encode())
            remembered[sha256] = dict(sizes)
            with suppress(OSError):  # a read-only folder: the file is read again next time
                atomic_write_json(ROWS, remembered)
        sizes_by_file[name] = remembered[sha256]
    return sizes_by_file


def neutral_language(code: str) -> Language:
    """Default facts for a language code that neither the catalogue nor the user describes."""
    return Language(name=code, script="unknown", script_kind="alphabet", family=code)
