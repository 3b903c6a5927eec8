"""Datasets as the catalogue knows them: which languages and parts they have, and which files a part is made of.

Pure functions of datasets.yaml and languages.yaml; nothing is read or fetched here but those two.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from stele import catalogue
from stele.errors import SteleError, unknown
from stele.files.paths import relative

ALL = "all"
WALLS = {
    "none": "free to download",
    "licence": "under a licence that each user has to agree to or pay for",
    "drive": "on a web page that gives no direct address of the files",
    "private": "not published",
    "script": "not released: a script of its authors makes it on your machine",
}
WORDS = ("title", "licence", "how", "note")  # about a dataset, not of it
CHECKS = ("sha256", "md5", "bytes")

Source = dict[str, Any]


def dataset(name: str) -> dict[str, Any]:
    """The catalogue's entry of a dataset; an unknown name is an error that says the nearest."""
    return catalogue.get("datasets", name)


def languages_of(entry: Mapping[str, Any], table: Mapping[str, Mapping[str, Any]] | None = None) -> list[str]:
    """The languages that a dataset has, in order; none for one that is not divided by language.

    Languages of a set with `codes` that have no entry in languages.yaml go by the set's own code.
    """
    if "languages" in entry:
        return list(entry["languages"])
    if "field" not in entry:
        return []
    table = catalogue.load("languages") if table is None else table
    named = {str(row[entry["field"]]): language for language, row in table.items() if row.get(entry["field"])}
    if "codes" in entry:
        return [named.get(code, code) for code in entry["codes"]]
    return list(named.values())


def parts(entry: Mapping[str, Any], languages: Iterable[str] | None = None) -> list[str]:
    """The parts of a dataset that `languages` (all of them when None) ask for."""
    if entry["parts"] == ALL:
        return [ALL]
    have = languages_of(entry)
    wanted = None if languages is None else set(languages)
    return [language for language in have if wanted is None or language in wanted]


def chosen_by_language(entry: Mapping[str, Any]) -> bool:
    """Whether a dataset of one part has files of single languages that can be had without the others."""
    return not entry.get("one_pool") and any("each" in file for file in entry["files"])


def is_dated(entry: Mapping[str, Any]) -> bool:
    """Whether a dataset is a dump that can be had of any date."""
    return "date" in entry.get("fields", {})


def resolve(
    name: str,
    part: str,
    languages: Sequence[str] | None = None,
    *,
    generated: bool = False,
    date: str | None = None,
) -> Source:
    """What one part of a dataset is made of: paths, addresses, checksums and counts, with nothing left to fill in.

    `languages` narrows a part "all" to some languages (None: all), but a dataset of `one_pool` keeps all of its own
    when its data are real. With `generated`, there are the given languages and no others. `date` is that of a dump,
    where another one than the catalogue's is wanted.
    """
    entry, table = dataset(name), catalogue.load("languages")
    if date is not None:
        if not is_dated(entry):
            raise SteleError(f"dataset {name!r} is no dump that has a date (found date {date!r})")
        entry = {**entry, "version": date, "fields": {**entry["fields"], "date": date}}
    have = languages_of(entry, table)
    if entry["parts"] == ALL:
        if part != ALL:
            raise SteleError(f"dataset {name!r} has one part, 'all' (found {part!r})")
        every = languages is None or (entry.get("one_pool") and not generated)
        chosen = have if every else [language for language in have if language in set(languages)]
    elif part in have:
        chosen = [part]
    else:
        more = f" (want a language with `{entry['field']}` in catalogue/languages.yaml)" if "field" in entry else ""
        raise unknown(f"part of dataset {name!r}{more}", part, have)
    return resolve_entry(name, entry, part, chosen, table)


def resolve_entry(
    name: str, entry: Mapping[str, Any], part: str, languages: Sequence[str], table: Mapping[str, Mapping[str, Any]]
) -> Source:
    """`resolve` for an entry, languages and a language table that are given; an entry already resolved comes back."""
    if "part" in entry:
        return dict(entry)
    files, counts = [], {}
    for file in entry["files"]:
        for language in _each(file, languages):
            values = _values(entry, part, language, table)
            files.append(_file(name, file, values, alone=entry["parts"] == ALL))
    for what, count in entry.get("counts", {}).items():
        each = _each(count, languages)
        counts[what] = [_count(name, count, _values(entry, part, language, table)) for language in each]
    kept = ("title", "version", "licence", "wall", "how", "note", "release", "cut")
    return {
        "dataset": name,
        "part": part,
        "languages": list(languages),
        **{key: entry[key] for key in kept if key in entry},
        "files": files,
        "counts": counts,
    }


def mirror_path(url: str) -> str:
    """Where the file of `url` lies below a mirror: {host}/{path}.

    >>> mirror_path("https://dumps.wikimedia.org/swwiki/20220801/a%20b.txt")
    'dumps.wikimedia.org/swwiki/20220801/a b.txt'
    """
    address = urlsplit(url)
    path = unquote(address.path).lstrip("/")
    if address.scheme not in ("http", "https") or not address.netloc or not path:
        raise SteleError(f"{url!r} is no address of a file (want https://HOST/PATH)")
    return relative(f"{address.netloc}/{path}", url)


def availability(source: Mapping[str, Any], user_data: Path | str | None) -> str | None:
    """None when a part can be had, else the reason why not: a wall, or a user_data folder that is not there.

    `source` is an entry of datasets.yaml with its name under "dataset", or a resolved part.
    """
    name = source["dataset"]
    if user_data is not None:
        return None if Path(user_data).expanduser().is_dir() else f"user_data.{name}: {user_data} is not a folder"
    if source["wall"] == "none":
        return None
    return (
        f"needs {source['title']} ({source['version']}), which is {WALLS[source['wall']]} [{source['licence']}]. "
        f"How to get it: {' '.join(source['how'].split())} Then add to config.yaml: user_data: {{{name}: YOUR_FOLDER}}"
    )


def _each(item: Mapping[str, Any], languages: Sequence[str]) -> list[str | None]:
    return list(languages) if "each" in item else [None]


def _values(
    entry: Mapping[str, Any], part: str, language: str | None, table: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """The values of {name} in an entry's paths and addresses for one language."""
    language = language or (part if part != ALL else None)
    values: dict[str, str] = {}
    if language is not None:
        row = table.get(language, {entry["field"]: language} if "field" in entry else {})
        values = {key: str(value) for key, value in row.items() if isinstance(value, str)}
        if "wikipedia" in values:
            values["wiki"] = values["wikipedia"].replace("-", "_") + "wiki"
        values["language"] = language
    return values | {key: str(value) for key, value in entry.get("fields", {}).items()}


def _fill(name: str, text: str, values: Mapping[str, str]) -> str:
    try:
        return string.Formatter().vformat(text, (), values)
    except KeyError as error:
        language = values.get("language")
        of = f" of language {language!r} in languages.yaml" if language else ""
        raise SteleError(f"dataset {name!r}: {text!r} needs the field {error.args[0]!r}{of}") from None


def _own(value: Any, item: Mapping[str, Any], values: Mapping[str, str]) -> Any:
    """A value that may differ by language: this language's (under its code or its `each` field), else None."""
    if not isinstance(value, Mapping):
        return value
    keys = (values.get(item.get("each", "language")), values.get("language"))
    return next((value[key] for key in keys if key in value), None)


def _file(name: str, file: Mapping[str, Any], values: Mapping[str, str], alone: bool) -> Source:
    """One file with its templates filled in. `own_name`: its name alone tells it from the files of other parts."""
    filled = {"path": _fill(name, file["path"], values)}
    if "url" in file:
        filled["url"] = _fill(name, file["url"], values)
    for key in ("alternatives", "like", "variants"):
        if key in file:
            filled[key] = [_fill(name, text, values) for text in file[key]]
    for key in CHECKS:
        if (value := _own(file.get(key), file, values)) is not None:
            filled[key] = value
    if "checksums" in file:
        sums = file["checksums"]
        filled["checksums"] = {"algorithm": sums["algorithm"], "url": _fill(name, sums["url"], values)}
        filled["checksums"]["alternatives"] = [_fill(name, text, values) for text in sums.get("alternatives", ())]
    for key in ("optional", "unpack"):
        if key in file:
            filled[key] = file[key]
    filled["own_name"] = alone or "{" in file["path"].rpartition("/")[2]
    return filled


def _count(name: str, count: Mapping[str, Any], values: Mapping[str, str]) -> Source:
    """One thing to count; `of` is the key of this language in `expect`, None where the number is of the whole part."""
    filled: Source = {"count": count["count"]}
    if "file" in count:
        filled["files"] = [_fill(name, count["file"], values)]
    if "files" in count:
        filled["files"] = [_fill(name, text, values) for text in count["files"]]
    expected = count.get("expect")
    own = _own(expected, count, values) if values.get("language") else None
    if own is not None:
        filled["expect"] = own
    elif expected is not None and not (values.get("language") and isinstance(expected, Mapping)):
        filled["expect"] = expected
    if values.get("language"):
        filled["of"] = values[count["each"]] if count.get("each") in values else values["language"]
    return filled
