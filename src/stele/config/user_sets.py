"""Entries of config.yaml for the user's own data sets, made from their folders."""

import logging
import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from stele.benchmarks._beir_files import role_of, split_of
from stele.catalogue import read_yaml, shipped
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.datasets import OWN, Dataset
from stele.catalogue.user_data import listing
from stele.catalogue.user_documents import UNDETERMINED
from stele.errors import SteleError
from stele.files.paths import PARTS
from stele.files.strict import Values

log = logging.getLogger(__name__)

KEYS = ("user_data", "add_datasets", "add_benchmarks", "add_settings")  # keys of config.yaml, by data set
COUNTED = {"passages": "corpus", "queries": "queries"}  # judgments are checked against both
WANTED = "corpus.jsonl, queries.jsonl and qrels/test.tsv, as BEIR has them, or the same in MTEB's layout"
SPLIT = "test"
BENCHMARK: Values = {
    "metrics": ["ndcg@10", "recall@100"],
    "depth": 100,
    "encoding": {"query_length": 512, "passage_length": 512, "passage_format": "title_text"},
    "module": "beir",
}


def user_sets(
    folders: Sequence[Path], languages: Sequence[str] | None, declared: Mapping[str, Any] | None = None
) -> dict[str, dict[str, Any]]:
    """The keys of config.yaml for folders in BEIR's or MTEB's layout; a set is named after its folder.

    A set has the languages, or pairs (en-de), of its subsets ({language}-corpus and so on), else the single requested
    language, else `und`. What `declared`, the keys of config.yaml and of earlier calls, says of its metrics and so on
    stays. Raises SteleError for a folder that lacks a part, and for two folders of one name, including those there.
    """
    values: dict[str, dict[str, Any]] = {key: {} for key in KEYS}
    before, edited = ((declared or {}).get(key) or {} for key in ("user_data", "add_benchmarks"))
    # only the catalogue's names: an earlier call may have added this very set
    known = {name for kind in (Benchmark, Dataset) for name in shipped(f"catalogue/{kind.FILE}.yaml")} | PARTS
    for folder in map(Path.expanduser, folders):
        name = name_of(folder, known)
        other = values["user_data"].get(name) or before.get(name)
        place = Path(other).expanduser() if other else folder
        if other and not place.exists():
            log.warning("--data: %s no longer exists; %s replaces it", other, folder)
        elif name in values["user_data"] or place.resolve() != folder.resolve():
            raise SteleError(f"--data: {other} and {folder} would both be called {name}; rename one")
        files = files_of(folder)
        codes = sorted({subset for subset, _ in files.values() if subset})
        if wrong := [code for code in codes if not re.fullmatch("[a-z]{2,8}(-[a-z]{2,8})?", code)]:
            raise SteleError(
                f"--data {folder}: subset {wrong[0]!r}: want a language's code of 2 to 8 small letters, or two as en-de"
            )
        for file, (subset, role) in files.items():
            if codes and not subset and all((code, role) in files.values() for code in codes):
                own = ", ".join(f"{code}-{role}" for code in codes)
                raise SteleError(f"--data {folder}: {file} would not be read beside {own}; keep what is of the set")
        codes = codes or (list(languages) if languages and len(languages) == 1 else [UNDETERMINED])
        counts = {
            what: {"count": "retrieval_rows", "files": [file for file, (_, actual) in files.items() if actual == role]}
            for what, role in COUNTED.items()
        }
        counts["judgments"] = {"count": "retrieval_judgments", "files": list(files)}
        values["user_data"][name] = str(folder.resolve())
        values["add_datasets"][name] = {
            "title": name,
            "version": OWN,
            "parts": "all",
            "languages": codes,
            "files": [{"path": file} for file in files],
            "counts": counts,
            "licence": "yours",
            "wall": "private",
            "how": "It is a folder of yours.",
        }
        values["add_benchmarks"][name] = {
            "title": name,
            **BENCHMARK,
            **(edited.get(name) or {}),
            # always from this folder
            "languages": [*codes],
            "data": [name],
            "judgments": [name],
            "module": BENCHMARK["module"],
        }
        values["add_settings"][name] = {"direct": {"kind": "dense"}}
    return values


def name_of(folder: Path, known: Container[str]) -> str:
    """The name of a set, made from its folder's name, with `_own` if that name is taken.

    >>> name_of(Path("data/My-Set.v2"), {}), name_of(Path("nq"), {"nq"})
    ('my_set_v2', 'nq_own')
    """
    name = re.sub("[^a-z0-9]+", "_", folder.resolve().name.lower()).strip("_") or "set"
    return f"{name}_own" if name in known else name


def files_of(folder: Path) -> dict[str, tuple[str, str]]:
    """(subset, role) by file that is read; of several splits, `test`. Raises SteleError for an incomplete folder."""
    roles = {name: role_of(Path(name)) for name in listing(folder)}
    files = {name: (subset, role) for name, (subset, role) in roles.items() if role}
    if lacking := [role for role in (*COUNTED.values(), "qrels") if role not in {role for _, role in files.values()}]:
        role_names = ", ".join(list(roles)[:5]) or "nothing"
        raise SteleError(f"--data {folder}: no {lacking[0]} in it (found {role_names}); want {WANTED}")
    splits = {split_of(Path(name)) for name, (_, role) in files.items() if role == "qrels"}
    if len(splits) > 1 and SPLIT not in splits:
        raise SteleError(f"--data {folder}: judgments of {' and '.join(sorted(splits))}; keep those of one split")
    if len(splits) > 1:
        files = {name: roles[name] for name in files if roles[name][1] != "qrels" or split_of(Path(name)) == SPLIT}
    judged: dict[str, list[str]] = {}
    for name, (subset, role) in files.items():
        judged.setdefault(subset, []).extend([name] if role == "qrels" else [])
    for subset in {*judged} - {""} or {""}:
        names = judged[subset] or judged.get("", [])
        if len(names) != 1:
            found = ", ".join(names) or f"none of {SPLIT}"
            raise SteleError(f"--data {folder}: want one file of judgments of {subset or 'one split'}, found {found}")
    return files


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merges two configurations; the keys of `over` win; models, languages and data sets are merged by name."""
    by_name = [key for key in ("models", "add_languages", *KEYS) if values.get(key)]
    return {**values, **over, **{key: {**values[key], **(over.get(key) or {})} for key in by_name}}


def earlier_sets(path: Path, benchmarks: Sequence[str]) -> dict[str, Any]:
    """The keys of config.yaml for a card's earlier benchmarks and the datasets that they read."""
    before = read_yaml(path) if benchmarks else {}
    known = {**shipped(f"catalogue/{Benchmark.FILE}.yaml"), **before.get("add_benchmarks", {})}
    described = [known[name] for name in benchmarks if name in known]  # config.yaml keeps its own
    read = [dataset for entry in described for key in ("data", "judgments") for dataset in entry.get(key, ())]
    sets = {
        key: {name: entry for name, entry in before.get(key, {}).items() if name in {*benchmarks, *read}}
        for key in KEYS
    }
    return {key: entries for key, entries in sets.items() if entries}
