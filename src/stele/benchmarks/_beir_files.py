"""Which files of a data set in BEIR's or MTEB's layout hold corpus, queries and judgments; beir.py has the rules."""

import re
from collections.abc import Sequence
from pathlib import Path

from stele import catalogue
from stele.benchmarks._files import below, folder_of
from stele.benchmarks._tables import all_numbers, filled_columns
from stele.benchmarks.types import Data
from stele.catalogue.schema.datasets import Dataset
from stele.errors import SteleError
from stele.files.reading import plain_name

ROLE = re.compile(r"(?:(?P<subset>.+)-)?(?P<role>corpus|quer(?:ies|y)|qrels|default|instructions?|top_ranked)")
ROLES = {"default": "qrels", "query": "queries", "instructions": "instruction"}
SHARD = re.compile(r"(.*?)[-_.]?[0-9]*(?:-of-[0-9]+(?:-[0-9a-f]{16})?)?")  # a split's file name
SUFFIXES = ("", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv", ".csv", ".txt")  # others are notes and backups
SENSES = ("image", "audio", "video")  # columns of MTEB's tasks that are not text retrieval


def text_files(data: Data, language: str, role: str) -> Sequence[Path]:
    """Finds the files of corpus or queries. Raises SteleError if they hold images, sound or video."""
    files = files_of(data, language, role)
    for path in files:
        if senses := filled_columns(path, SENSES):
            raise SteleError(f"{path}: found {' and '.join(senses)}; Stele encodes text only")
    return files


def split_files(data: Data, language: str, role: str) -> Sequence[Path]:
    """Finds a role's files in the judgments' split, or else in the only split, as MTEB's loader does.

    Raises SteleError if there are several splits, or if a numbered export lacks a file.
    """
    files = with_role(data, language, role)
    splits = {path: split_of(path) for path in files}
    if len(set(splits.values())) > 1 and (qrels := with_role(data, language, "qrels")):
        wanted = {split_of(path) for path in qrels}
        files = [path for path in files if splits[path] in wanted]
    if len({splits[path] for path in files}) > 1 or (splits and not files):
        raise SteleError(
            f"{shown(list(splits))}: {role} of several splits; name the judgments' split in `files` of the "
            "dataset, and number the files of one split"
        )
    return all_numbers(files)


def files_of(data: Data, language: str, role: str) -> Sequence[Path]:
    """Finds a role's files: one or more for corpus and queries, one for judgments. Raises SteleError otherwise."""
    files = with_role(data, language, role) if role == "qrels" else split_files(data, language, role)
    if not files:
        file_names = sorted(path.name for folder in _folders(data, language) for path in below(folder))
        raise SteleError(
            f"{shown(_folders(data, language))}: no {role} of {language} (a file {role}.jsonl, {role}.parquet or in a "
            f"folder {role}); found {', '.join(file_names[:12]) or 'nothing'}"
        )
    if role == "qrels" and len(files) > 1:
        raise SteleError(f"{shown(files)}: found judgments of several splits; name one in `files` of the dataset")
    return files


def with_role(data: Data, language: str, role: str) -> list[Path]:
    files = [
        (subset, path)
        for folder in _folders(data, language)
        for path in below(folder)
        for subset, actual in [role_of(path.relative_to(folder) if path != folder else path.absolute())]
        if actual == role
    ]
    of_language = [path for subset, path in files if subset == language]
    paths = sorted(of_language or [path for subset, path in files if not subset])
    if role == "qrels" and len(paths) > 1:
        return _listed(data, paths) or paths
    return paths


def _listed(data: Data, paths: Sequence[Path]) -> list[Path]:
    """Selects the files that the datasets' entries list: of several splits in a user's folder, the chosen one."""
    known = catalogue.entries(Dataset)
    listed = {file.path for dataset in data if dataset in known for file in known[dataset].files}
    return [path for path in paths if any(path.as_posix().endswith(f"/{name}") for name in listed)]


def role_of(path: Path) -> tuple[str, str]:
    """Parses a file's path in a data set's folder into (subset, role), nearest name first; ("", "") for other files.

    >>> role_of(Path("de-corpus/dev-00000-of-00001.parquet")), role_of(Path("qrels/test.tsv"))
    (('de', 'corpus'), ('', 'qrels'))
    """
    if Path(plain_name(path.name)).suffix not in SUFFIXES:
        return "", ""
    for name in (path.name.partition(".")[0], *reversed(path.parts[:-1])):
        if match := ROLE.fullmatch(name):
            return match["subset"] or "", ROLES.get(match["role"], match["role"])
    return "", ""


def split_of(path: Path) -> str:
    """Split of a file, from its name or its folder's name; "" if neither has one.

    >>> [split_of(Path(name)) for name in ("qrels/test.tsv", "corpus/dev-00000-of-00002.parquet", "corpus.jsonl.gz")]
    ['test', 'dev', '']
    >>> split_of(Path("de-corpus/test/0000.parquet")), split_of(Path("corpus/0000.parquet"))
    ('test', '')
    """
    for name in (path.name.partition(".")[0], path.parent.name):
        if ROLE.fullmatch(name):
            return ""
        if split := SHARD.fullmatch(name)[1]:
            return "" if ROLE.fullmatch(split) else split
    return ""


def _folders(data: Data, language: str) -> list[Path]:
    """Finds the folders, or single files, of a language in all given data sets."""
    folders = [Path(folder) for parts in data.values() if (folder := parts.get(language) or parts.get("all"))]
    return folders or [folder_of(data, "", language)]


def shown(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths))
