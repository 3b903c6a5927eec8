"""Any data set in BEIR's layout, or in that of MTEB's retrieval tasks: an entry of the catalogue, and no code.

BEIR: `corpus.jsonl` with {_id, title, text}, `queries.jsonl` with {_id, text}, `qrels/{split}.tsv` with a head line and
query-id, corpus-id, score. MTEB: the same columns as Parquet (in newer sets ids are called `id`), in folders `corpus`,
`queries` and `qrels` (or `default`), or `{subset}-corpus`, `{subset}-queries` and `{subset}-qrels`. A file's role is
the nearest such name on its path, by folder or file; of several subsets in one folder the one is read that bears the
name of the query set's language.

Rules, as in both programs: the queries are the judged ones, whatever else the file of queries holds (it is of all
splits); a query without a relevant document stays and scores 0; a passage is title, a blank and text
(`passage_format: title_text`), the title may be missing. A score is a whole number; Parquet may hold it as a float
(MTEB's older sets do). Judged ids that no document bears are counted in a warning and stay judged, as in trec_eval.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from stele.benchmarks._files import below, folder_of, identifier, refuse_again, tsv_rows
from stele.benchmarks._tables import column_names, is_parquet, table_passages, table_rows
from stele.benchmarks.types import Data, Passage, Query, QuerySet
from stele.errors import SteleError

logger = logging.getLogger(__name__)

AVERAGE = "macro"  # mean over languages, or subsets

Judgments = dict[str, dict[str, int]]
HEAD = ["query-id", "corpus-id", "score"]
ROLE = re.compile(r"(?:(?P<subset>.+)-)?(?P<role>corpus|queries|qrels|default)")
SHOWN = 5  # ids in a message
LARGEST = 10**9  # a score has at most nine digits


def query_sets(languages: Sequence[str]) -> list[QuerySet]:
    """One query set and one collection a language, or subset."""
    return [QuerySet(language, language, language) for language in languages]


def queries(data: Data, query_set: QuerySet) -> Iterator[Query]:
    """The judged queries, in the order of their file."""
    judged = _judged(data, query_set.language)
    seen: set[str] = set()
    for path in _files(data, query_set.language, "queries"):
        key = _id(path)
        for where, row in table_rows(path, {key: None, "text": str}):
            name = refuse_again(identifier(row[key], where, key), seen, where, key)
            seen.add(name)
            if name in judged:
                yield Query(name, row["text"])
    if lacking := sorted(judged.keys() - seen):
        asked, qrels = (_shown(_files(data, query_set.language, role)) for role in ("queries", "qrels"))
        raise SteleError(
            f"{asked}: {len(lacking)} judged queries are not in it ({', '.join(lacking[:SHOWN])}); "
            f"queries and judgments ({qrels}) must be of one release"
        )


def passages(data: Data, collection: str) -> Iterator[Passage]:
    """The documents, streamed."""
    for path in _files(data, collection, "corpus"):
        yield from table_passages(path, _id(path), untitled=True)


def judgments(data: Data, query_set: QuerySet) -> Judgments:
    """Query id -> {document id: score}; ids that no document bears are counted in a warning."""
    judged = _judged(data, query_set.language)
    named = {name for documents in judged.values() for name in documents}
    if lacking := _not_in_corpus(data, query_set.language, named):
        logger.warning(
            "%s: %d of %d judged documents are not in the corpus (%s); they stay judged, and no system can find them",
            _shown(_files(data, query_set.language, "qrels")), len(lacking), len(named), ", ".join(lacking[:SHOWN]),
        )  # fmt: skip
    return judged


def _id(path: Path) -> str:
    """What a file calls ids: `_id`, as BEIR does, or `id`, as MTEB's newer sets do."""
    names = column_names(path)
    return "id" if "id" in names and "_id" not in names else "_id"


def _judged(data: Data, language: str) -> Judgments:
    judged: Judgments = {}
    (path,) = _files(data, language, "qrels")
    for where, row in _judgment_rows(path):
        query, document = (identifier(value, where, name) for name, value in zip(HEAD, row[:2], strict=False))
        refuse_again(document, judged.setdefault(query, {}), where, f"judgment of query {query} on document")
        judged[query][document] = _score(row[2], where)
    if not judged:
        raise SteleError(f"{path}: no judgments")
    return judged


def _judgment_rows(path: Path) -> Iterator[tuple[str, list]]:
    """("file, line N", [query, document, score]) of a TSV file, whose first line names the columns, or of Parquet."""
    if is_parquet(path):
        yield from ((where, list(row.values())) for where, row in table_rows(path, dict.fromkeys(HEAD)))
        return
    for number, (where, row) in enumerate(tsv_rows(path, len(HEAD))):
        if number == 0 and row != HEAD:
            raise SteleError(f"{where}: want the head line {' '.join(HEAD)}, parted by tabs; found {' '.join(row)!r}")
        if number:
            yield where, row


def _score(value: object, where: str) -> int:
    """A score, which is a whole number: as text in a TSV file, as a number of any type in Parquet."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,9}", value):
        return int(value)
    if isinstance(value, int | float) and abs(value) < LARGEST and value % 1 == 0:  # no comparison holds of NaN
        return int(value)
    raise SteleError(f"{where}: score must be a whole number (gains are graded 0, 1, 2...), found {value!r}")


def _not_in_corpus(data: Data, language: str, names: Collection[str]) -> list[str]:
    """Of some ids, those that no document bears; none where the corpus is not among the data."""
    if not (files := _with_role(data, language, "corpus")):
        return []
    lacking = set(names)
    for path in files:
        key = _id(path)
        for where, row in table_rows(path, {key: None}):
            lacking.discard(identifier(row[key], where, key))
    return sorted(lacking)


def _files(data: Data, language: str, role: str) -> list[Path]:
    """The files of a role; a corpus and queries may be in several, judgments are in one."""
    if not (files := _with_role(data, language, role)):
        held = sorted(path.name for folder in _folders(data, language) for path in below(folder))
        raise SteleError(
            f"{_shown(_folders(data, language))}: no {role} of {language} (a file {role}.jsonl, {role}.parquet or in a "
            f"folder {role}); found {', '.join(held[:12]) or 'nothing'}"
        )
    if role == "qrels" and len(files) > 1:
        raise SteleError(f"{_shown(files)}: judgments of several splits; give one (`files` of its dataset names it)")
    return files


def _with_role(data: Data, language: str, role: str) -> list[Path]:
    files = [
        (subset, path)
        for folder in _folders(data, language)
        for path in below(folder)
        for subset, actual in [role_of(path.relative_to(folder) if path != folder else Path(path.name))]
        if actual == role and not path.name.startswith(".")
    ]
    of_language = [path for subset, path in files if subset == language]
    return sorted(of_language or [path for subset, path in files if not subset])


def role_of(path: Path) -> tuple[str, str]:
    """(subset, role) of a file by its path in a data set's folder, nearest name first; ("", "") of another file.

    >>> role_of(Path("de-corpus/dev-00000-of-00001.parquet")), role_of(Path("qrels/test.tsv"))
    (('de', 'corpus'), ('', 'qrels'))
    """
    for name in (path.name.partition(".")[0], *reversed(path.parts[:-1])):
        if found := ROLE.fullmatch(name):
            return found["subset"] or "", {"default": "qrels"}.get(found["role"], found["role"])
    return "", ""


def _folders(data: Data, language: str) -> list[Path]:
    """The folders, or single files, of a language in all data sets that were given."""
    given = [Path(folder) for parts in data.values() if (folder := parts.get(language) or parts.get("all"))]
    return given or [folder_of(data, "", language)]


def _shown(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths))
