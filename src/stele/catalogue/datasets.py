"""Datasets of the catalogue: the languages and parts of each, and the files of each part.

The functions depend only on datasets.yaml and languages.yaml; they read and fetch nothing else.
"""

import string
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from stele import catalogue
from stele.catalogue import user_documents
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.datasets import Checksums, Count, Dataset, File, Part, PartCount, PartFile
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError, unknown
from stele.files.paths import relative
from stele.files.strict import Values

ALL = "all"
WALLS = {
    "none": "free to download",
    "licence": "under a licence that each user has to agree to or pay for",
    "drive": "on a web page that gives no direct address of the files",
    "private": "not published",
    "script": "not released: a script of its authors makes it on your machine",
}
# the file of stele/benchmarks that reads test collections, and of scoring/statistics
COLLECTION = "collection"
WORDS = {"title", "licence", "how", "note"}  # keys for readers; no job uses them
CHECKS = ("sha256", "md5", "bytes")

Languages = Mapping[str, Language]


def dataset(name: str) -> Dataset:
    """Returns the catalogue's entry of a dataset. Raises SteleError, with the nearest name, if it is unknown."""
    return catalogue.entry(Dataset, name)


def languages_of(entry: Dataset, table: Languages | None = None) -> list[str]:
    """Languages of a dataset, in order; [] for a dataset that is not divided by language.

    In a set with `codes`, a language without an entry in languages.yaml is named by the set's own code.
    """
    if entry.languages is not None:
        return list(entry.languages)
    if entry.field is None:
        return []
    table = catalogue.entries(Language) if table is None else table
    named = [(code, language) for language, row in table.items() if (code := getattr(row, entry.field))]
    if entry.codes is not None:
        first = dict(reversed(named))  # the first language of each code, since the user's languages may share one
        return [first.get(code, code) for code in entry.codes]
    return [language for _, language in named]


def evaluated_in(entry: Benchmark, table: Languages | None = None) -> list[str]:
    """Languages of a benchmark in real data; of one that is taken whole, all that its judgments have."""
    return languages_of(dataset(entry.judgments[0]), table) if entry.whole else entry.languages


def parts(entry: Dataset, languages: Iterable[str] | None = None, table: Languages | None = None) -> list[str]:
    """Parts of a dataset in `languages` (None: all of its languages); [ALL] if it is not divided by language."""
    if entry.parts == ALL:
        return [ALL]
    have = languages_of(entry, table)
    wanted = None if languages is None else set(languages)
    return [language for language in have if wanted is None or language in wanted]


def chosen_by_language(entry: Dataset) -> bool:
    """Whether a dataset of one part has separate files for each language, which can be fetched without the others."""
    return not entry.one_pool and any(file.each for file in entry.files)


def resolve(
    name: str,
    part: str,
    languages: Sequence[str] | None = None,
    *,
    generated: bool = False,
    date: str | None = None,
    table: Languages | None = None,
) -> Part:
    """Returns a part of a dataset: its paths, addresses, checksums and counts, with all templates filled in.

    `languages` narrows a part "all" to some languages (None: all), but a dataset of `one_pool` keeps all its languages
    if its data are real (not `generated`). `date` selects another dump than the catalogue's; `table` has all known
    languages (None: the catalogue's). Raises SteleError for an unknown dataset or part, and a date without a dump.
    """
    entry, table = dataset(name), catalogue.entries(Language) if table is None else table
    if date is not None:
        if "date" not in entry.fields:
            raise SteleError(f"dataset {name!r} is not a dated dump, so it takes no date (found {date!r})")
        entry = entry.model_copy(update={"version": date, "fields": {**entry.fields, "date": date}})
    have = languages_of(entry, table)
    if entry.parts == ALL:
        if part != ALL:
            raise SteleError(f"dataset {name!r} has only the part 'all' (found {part!r})")
        takes_all = languages is None or (entry.one_pool and not generated)
        chosen = have if takes_all else [language for language in have if language in set(languages)]
    elif part in have or entry.any_language:
        chosen = [part]
    else:
        hint = f" (want a language with `{entry.field}` in catalogue/languages.yaml)" if entry.field else ""
        raise unknown(f"part of dataset {name!r}{hint}", part, have)
    return resolve_entry(name, entry, part, chosen, table)


def resolve_entry(name: str, entry: Dataset, part: str, languages: Sequence[str], table: Languages) -> Part:
    """Does the work of `resolve` for a given entry, languages and language table."""
    files, counts = [], {}
    for file in entry.files:
        for language in _each(file, languages):
            for values in _shards(file, _values(entry, part, language, table)):
                files.append(_file(name, file, values, alone=entry.parts == ALL))
    for what, count in entry.counts.items():
        each = _each(count, languages)
        counts[what] = [_count(name, entry, count, _values(entry, part, language, table)) for language in each]
    copied = {"title", "version", "licence", "wall", "how", "note", "release", "cut", "collection"}
    about = {key: getattr(entry, key) for key in copied & entry.model_fields_set}
    if entry.exports:
        about["exports"] = [_fill(name, text, _values(entry, part, None, table)) for text in entry.exports]
    return Part(dataset=name, part=part, languages=list(languages), files=files, counts=counts, **about)


def mirror_path(url: str) -> str:
    """Path of the file of `url` below a mirror: {host}/{path}. Raises SteleError for an address of no file.

    >>> mirror_path("https://dumps.wikimedia.org/swwiki/20220801/a%20b.txt")
    'dumps.wikimedia.org/swwiki/20220801/a b.txt'
    """
    address = urlsplit(url)
    path = unquote(address.path).lstrip("/")
    if address.scheme not in ("http", "https") or not address.netloc or not path:
        raise SteleError(f"{url!r} is not the address of a file (want https://HOST/PATH)")
    return relative(f"{address.netloc}/{path}", url)


def availability(name: str, about: Dataset | Part, user_data: Path | str | None) -> str | None:
    """Reason why a dataset or part is unavailable (no download, or a missing user folder); None if it is available."""
    if user_data is not None:
        place = Path(user_data).expanduser()
        is_there = place.exists() if name == user_documents.DATASET else place.is_dir()
        return None if is_there else f"user_data.{name}: {user_data} is not a folder"
    if about.wall == "none":
        return None
    return (
        f"needs {about.title} ({about.version}), which is {WALLS[about.wall]} [{about.licence}]. "
        f"How to get it: {' '.join(about.how.split())} Then add to config.yaml: user_data: {{{name}: YOUR_FOLDER}}"
    )


def _each(item: File | Count, languages: Sequence[str]) -> list[str | None]:
    return list(languages) if item.each else [None]


def _shards(file: File, values: dict[str, str]) -> list[dict[str, str]]:
    """Template values of each shard of a file; those of the file itself if it has no shards."""
    number = (file.shards or {}).get(values.get("language"))
    return [values] if number is None else [{**values, "shard": str(shard)} for shard in range(number)]


def _values(entry: Dataset, part: str, language: str | None, table: Languages) -> dict[str, str]:
    """Template values: {name} -> text in an entry's paths and addresses, for one language."""
    language = language or (part if part != ALL else None)
    values: dict[str, str] = {}
    if language is not None:
        row = table.get(language, [(entry.field, language)] if entry.field else [])
        values = {key: value for key, value in row if isinstance(value, str)}
        if "wikipedia" in values:
            values["wiki"] = values["wikipedia"].replace("-", "_") + "wiki"
        values["language"] = language
    return values | entry.fields


def _fill(name: str, text: str, values: Mapping[str, str]) -> str:
    try:
        return string.Formatter().vformat(text, (), values)
    except KeyError as error:
        language = values.get("language")
        language_place = f" of language {language!r} in languages.yaml" if language else ""
        raise SteleError(f"dataset {name!r}: {text!r} needs the field {error.args[0]!r}{language_place}") from None


def _by_language(value: Any, item: File | Count, values: Mapping[str, str]) -> Any:
    """Resolves a value that may differ by language (key: its code or its `each` field); None if it has no such key.

    A value that also differs by shard is a list by shard.
    """
    if not isinstance(value, Mapping):
        return value
    keys = (values.get(item.each or "language"), values.get("language"))
    by_language = next((value[key] for key in keys if key in value), None)
    return by_language[int(values["shard"])] if isinstance(by_language, list) else by_language


def _file(name: str, file: File, values: Mapping[str, str], alone: bool) -> PartFile:
    """Returns one file of a part with its templates filled in."""
    filled: Values = {"path": _fill(name, file.path, values)}
    if file.url:
        filled["url"] = _fill(name, file.url, values)
    for key in ("alternatives", "like", "variants"):
        if texts := getattr(file, key):
            filled[key] = [_fill(name, text, values) for text in texts]
    for key in CHECKS:
        if (value := _by_language(getattr(file, key), file, values)) is not None:
            filled[key] = value
    if sums := file.checksums:
        others = [_fill(name, text, values) for text in sums.alternatives]
        filled["checksums"] = Checksums(
            algorithm=sums.algorithm, url=_fill(name, sums.url, values), alternatives=others
        )
    for key in {"optional", "unpack"} & file.model_fields_set:
        filled[key] = getattr(file, key)
    return PartFile(**filled, own_name=alone or "{" in file.path.rpartition("/")[2])


def _count(name: str, entry: Dataset, count: Count, values: dict[str, str]) -> PartCount:
    """Returns one count of a part with its templates filled in; it covers all shards of a file."""
    shards = {file.path: _shards(file, values) for file in entry.files}
    files = []
    for text in count.files or [count.file]:
        files += [_fill(name, text, file_values) for file_values in shards.get(text, [values])]
    filled: Values = {"files": files}
    language = values.get("language")
    expected = _by_language(count.expect, count, values) if language else count.expect
    if expected is not None:
        filled["expect"] = expected
    if language:
        filled["of"] = values.get(count.each, language)
    return PartCount(count=count.count, **filled)


class Counted(NamedTuple):
    """The module of scoring/statistics that counts a dataset, and the datasets that it reads.

    `lengths_in` is the model whose tokens measure document lengths; None if lengths are not counted.
    """

    module: str
    datasets: list[str]
    lengths_in: str | None = None


def counted_dataset(name: str) -> Counted:
    """Returns the module that counts a dataset or test collection, and the datasets that the module reads.

    >>> counted_dataset("trec3_es")
    Counted(module='collection', datasets=['trec3_es', 'trec3_es_topics'], lengths_in=None)
    >>> counted_dataset("mrtydi")
    Counted(module='mrtydi', datasets=['mrtydi'], lengths_in=None)
    """
    entry = catalogue.entries(Benchmark).get(name)
    if entry is None or entry.module != COLLECTION:
        return Counted(name, [name], entry and entry.lengths_in)
    return Counted(COLLECTION, list(dict.fromkeys([*entry.data, *entry.judgments])))


def module_of(benchmark: str) -> str:
    """Module of stele/benchmarks that reads a benchmark: as its entry states, else the module of the same name.

    >>> module_of("trec3_es"), module_of("mrtydi"), module_of("jsonl")
    ('collection', 'mrtydi', 'jsonl')
    """
    known = catalogue.entries(Benchmark)
    return (known[benchmark].module if benchmark in known else None) or benchmark
