"""Read any data set in BEIR's layout or in that of MTEB's retrieval tasks: it needs a catalogue entry but no code.

BEIR: `corpus.jsonl` with {_id, title, text}, `queries.jsonl` with {_id, text}, `qrels/{split}.tsv` with a header line
and query-id, corpus-id, score. MTEB: the same columns as Parquet or JSON lines (newer sets call ids `id`), in folders
`corpus`, `queries` and `qrels` (or `default`), or `{subset}-corpus`, `{subset}-queries` and `{subset}-qrels`. The
nearest such name on a file's path, of a folder or of the file, gives its role. Of several subsets in one folder, the
one named after the query set's language is read; of several splits of corpus and queries, the split of the judgments.

The rules are those of both programs. Only judged queries count: the file of queries covers all splits. A query without
a relevant document stays and scores 0. A passage is title, a space and text (`passage_format: title_text`), without
white space around them; the title may be missing. A score is a whole number, which MTEB's files may store as a float.
Judged ids that no document has are counted in a warning and stay judged, as in trec_eval.

In BEIR's layout, which has judgments in a TSV file, the document with a query's own id is not a hit of the query (BEIR
`EvaluateRetrieval.evaluate`, ignore_identical_ids=True). In MTEB's layout each task decides this
(AbsTaskRetrieval.ignore_identical_ids, false by default), and here the benchmark's entry does. As in MTEB, a query's
`instruction` follows its text after a space, and "; " joins the turns of a conversation; `excluded_ids` (BRIGHT) are
not hits of their query. Candidates to re-rank (`top_ranked`) and images, sound or video are refused.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from stele.benchmarks._files import below, field, folder_of, identifier, lines, refuse_again, tsv_rows
from stele.benchmarks._tables import (
    all_numbers,
    column_names,
    filled_columns,
    is_parquet,
    table_passages,
    table_rows,
)
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Judgments, LeftOut, Passage, Query, QuerySet
from stele.errors import SteleError
from stele.files.reading import plain_name

logger = logging.getLogger(__name__)

HEAD = ["query-id", "corpus-id", "score"]
ROLE = re.compile(r"(?:(?P<subset>.+)-)?(?P<role>corpus|quer(?:ies|y)|qrels|default|instructions?|top_ranked)")
ROLES = {"default": "qrels", "query": "queries", "instructions": "instruction"}
SHARD = re.compile(r"(.*?)[-_.]?[0-9]*(?:-of-[0-9]+)?")  # a split's file name
SUFFIXES = ("", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv", ".csv", ".txt")  # others are notes and backups
SENSES = ("image", "audio", "video")  # columns of MTEB's tasks that are not text retrieval
NOT_EXCLUDED = "N/A"  # BRIGHT's mark for an empty list
SHOWN = 5  # ids in a message
LARGEST = 10**9  # a score has at most nine digits


class Beir(RetrievalReader):
    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the judged queries in the order of their file. Raises SteleError if the file lacks one of them."""
        judged = _judged(data, query_set.language)
        instructions, seen = _instructions(data, query_set.language), set()
        for where, name, row in _query_rows(data, query_set.language, text=None, instruction=str):
            seen.add(name)
            if name in judged:
                if instructions and name not in instructions:
                    raise SteleError(f"{where}: query {name} has no instruction, but other queries have one")
                yield Query(name, _text(row["text"], instructions.get(name, row["instruction"]), where))
        if lacking := sorted(judged.keys() - seen):
            asked, qrels = (_shown(_files(data, query_set.language, role)) for role in ("queries", "qrels"))
            raise SteleError(
                f"{asked}: {len(lacking)} judged queries are not in it ({', '.join(lacking[:SHOWN])}); "
                f"queries and judgments ({qrels}) must be of one release"
            )

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        for path in _texts(data, collection, "corpus"):
            yield from map(_trimmed, table_passages(path, _id(path), untitled=True))

    def left_out(self, data: Data, query_set: QuerySet) -> LeftOut:
        """Documents that are not hits of a query: its `excluded_ids`, and in BEIR's layout the one with its own id."""
        documents: dict[str, frozenset[str]] = {}
        if _with_role(data, query_set.language, "queries"):  # judgments may be given alone
            for where, name, row in _query_rows(data, query_set.language, excluded_ids=list):
                names = {
                    identifier(value, where, "excluded_ids") for value in row["excluded_ids"] if value != NOT_EXCLUDED
                }
                if names:
                    documents[name] = frozenset(names)
        return LeftOut(documents, True if _is_tsv(_qrels(data, query_set.language)) else None)

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Maps query id -> {document id: score}; warns of judged ids that no document has."""
        judged = _judged(data, query_set.language)
        named = {name for documents in judged.values() for name in documents}
        if lacking := _not_in_corpus(data, query_set.language, named):
            logger.warning(
                "%s: %d of %d judged documents are not in the corpus (%s); they stay judged, and are never found",
                _shown(_files(data, query_set.language, "qrels")), len(lacking), len(named), ", ".join(lacking[:SHOWN]),
            )  # fmt: skip
        return judged


def _trimmed(passage: Passage) -> Passage:
    """Trims white space around a passage's title and text, joined by a space: some tokenizers would encode it."""
    title, text = passage.title.lstrip(), passage.text.rstrip()
    return Passage(passage.id, title if text else title.rstrip(), text if title else text.lstrip())


def _query_rows(data: Data, language: str, **columns: type | None) -> Iterator[tuple[str, str, dict]]:
    """Yields (place, id, columns) of the queries; all columns but the text may be missing."""
    seen: set[str] = set()
    for path in _texts(data, language, "queries"):
        key = _id(path)
        for where, row in table_rows(path, {key: None, **columns}, optional=columns.keys() - {"text"}):
            name = refuse_again(identifier(row[key], where, key), seen, where, key)
            seen.add(name)
            yield where, name, row


def _text(value: Any, instruction: str, where: str) -> str:
    """Joins a query's text and instruction as MTEB does; of a conversation it joins all turns."""
    if not isinstance(value, list):
        text = field({"text": value}, "text", str, where)
        return f"{text} {instruction}" if instruction else text
    turns = [
        f"{field(turn, 'role', str, where)}: {field(turn, 'content', str, where)}" if isinstance(turn, dict)
        else field({"text": turn}, "text", str, where)
        for turn in value
    ]  # fmt: skip
    if not turns:
        raise SteleError(f"{where}: text is a conversation without turns; want at least one")
    return " ".join(filter(None, [instruction, "; ".join(turns)]))


def _instructions(data: Data, language: str) -> dict[str, str]:
    """Maps query id -> instruction, for data sets with instructions in separate files; otherwise empty."""
    columns = {"query-id": None, "instruction": str}
    rows = (row for path in _split_files(data, language, "instruction") for row in table_rows(path, columns))
    return {identifier(row["query-id"], where, "query-id"): row["instruction"] for where, row in rows}


def checked_rows(path: Path, seen: set[str]) -> int:
    """Counts the rows of a file of corpus, queries or judgments; checks each row as a later reading would.

    `seen` has the ids of the files read together with it, and gets this file's ids. Raises SteleError, with the file
    and the line, for a damaged row and a repeated id.
    """
    _, role = role_of(path)
    before = len(seen)
    if role == "qrels":
        return sum(map(len, _read_judgments(path).values()))
    key = _id(path)
    columns = {key: None, "title": str, "text": str} if role == "corpus" else {key: None, "text": None}
    for where, row in table_rows(path, columns, optional=["title"]):
        seen.add(refuse_again(identifier(row[key], where, key), seen, where, key))
        if role == "queries":
            _text(row["text"], "", where)
    return len(seen) - before


def checked_judgments(paths: Sequence[Path]) -> int:
    """Counts the judgments of a data set and checks them against its queries and corpus; `paths` are all its files.

    Raises SteleError, with the file, if nothing could be scored: no judgment, none above 0, a judged query that is
    blank or missing, no relevant document in the corpus. It also does so for single queries, whose mean would have no
    interval.
    """
    data = {"": {"all": Path(os.path.commonpath(paths))}}
    subsets = sorted({subset for subset, role in map(role_of, paths) if role and subset}) or [""]
    numbers: dict[Path, int] = {}  # of a file, which several subsets may share
    queries = []
    for subset in subsets:
        judged, qrels = _judged(data, subset), _qrels(data, subset)
        numbers[qrels] = sum(map(len, judged.values()))
        queries.append(len(judged))
        relevant = {name for scores in judged.values() for name, score in scores.items() if score > 0}
        if not relevant:
            raise SteleError(f"{qrels}: no score above 0, so no document is relevant; want scores from 1 on")
        if len(_not_in_corpus(data, subset, relevant)) == len(relevant):
            some = ", ".join(sorted(relevant)[:SHOWN])
            raise SteleError(
                f"{qrels}: not one of the {len(relevant)} relevant documents ({some}) is in the corpus; both must be "
                "of one release"
            )
        for query in Beir().queries(data, QuerySet(subset, subset, subset)):
            if not query.text.strip():
                raise SteleError(f"{_shown(_files(data, subset, 'queries'))}: query {query.id} has no text; add one")
    if max(queries) == 1:
        raise SteleError(f"{_shown([*numbers])}: one query is judged; want two at least, else no interval can be given")
    return sum(numbers.values())


def _id(path: Path) -> str:
    """Name of a file's column of ids: `_id`, as in BEIR, or `id`, as in MTEB's newer sets."""
    names = column_names(path)
    return "id" if "id" in names and "_id" not in names else "_id"


def _judged(data: Data, language: str) -> Judgments:
    if ranked := _with_role(data, language, "top_ranked"):
        raise SteleError(
            f"{_shown(ranked)}: a re-ranking task, whose candidates alone are ranked; Stele searches the whole corpus, "
            "which gives other numbers: remove this file to do so"
        )
    return _read_judgments(_qrels(data, language))


def _read_judgments(path: Path) -> Judgments:
    judged: Judgments = {}
    for where, row in _judgment_rows(path):
        query, document = (identifier(value, where, name) for name, value in zip(HEAD, row[:2], strict=False))
        refuse_again(document, judged.setdefault(query, {}), where, f"judgment of query {query} on document")
        judged[query][document] = _score(row[2], where)
    if not judged:
        raise SteleError(f"{path}: no judgments found")
    return judged


def _qrels(data: Data, language: str) -> Path:
    (path,) = _files(data, language, "qrels")
    return path


def _is_tsv(path: Path) -> bool:
    """Whether a file of judgments is a TSV file, as in BEIR; MTEB's files are Parquet or JSON lines."""
    if is_parquet(path):
        return False
    return not next((line for _, line in lines(path) if line.strip()), "").startswith("{")


def _judgment_rows(path: Path) -> Iterator[tuple[str, list]]:
    """Yields ("file, line N", [query, document, score]) from a TSV file with a header line or from MTEB's files."""
    if not _is_tsv(path):
        yield from ((where, list(row.values())) for where, row in table_rows(path, dict.fromkeys(HEAD)))
        return
    for number, (where, row) in enumerate(tsv_rows(path, len(HEAD))):
        if number == 0 and row != HEAD:
            raise SteleError(f"{where}: want the head line {' '.join(HEAD)} with tabs; found {' '.join(row)!r}")
        if number:
            yield where, row


def _score(value: object, where: str) -> int:
    """Parses a score, a whole number: text in a TSV file, any type in Parquet. Raises SteleError for anything else."""
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,9}", value):
        return int(value)
    if isinstance(value, int | float) and abs(value) < LARGEST and value % 1 == 0:  # no comparison holds of NaN
        return int(value)
    raise SteleError(f"{where}: score must be a whole number (gains are graded 0, 1, 2...), found {value!r}")


def _not_in_corpus(data: Data, language: str, names: Collection[str]) -> list[str]:
    """Selects the ids that no document of the corpus has; none if the corpus is not among the data."""
    if not _with_role(data, language, "corpus"):
        return []
    lacking = set(names)
    for path in _split_files(data, language, "corpus"):
        key = _id(path)
        for where, row in table_rows(path, {key: None}):
            lacking.discard(identifier(row[key], where, key))
    return sorted(lacking)


def _texts(data: Data, language: str, role: str) -> Sequence[Path]:
    """Finds the files of corpus or queries. Raises SteleError if they hold images, sound or video."""
    files = _files(data, language, role)
    for path in files:
        if senses := filled_columns(path, SENSES):
            raise SteleError(f"{path}: found {' and '.join(senses)}; Stele encodes text only")
    return files


def _split_files(data: Data, language: str, role: str) -> Sequence[Path]:
    """Finds a role's files in the split of the judgments, or in the only split, as MTEB's loader does.

    Raises SteleError if there are several splits, or if a numbered export lacks a file.
    """
    files = _with_role(data, language, role)
    splits = {path: split_of(path) for path in files}
    if len(set(splits.values())) > 1 and (qrels := _with_role(data, language, "qrels")):
        wanted = {split_of(path) for path in qrels}
        files = [path for path in files if splits[path] in wanted]
    if len({splits[path] for path in files}) > 1 or (splits and not files):
        raise SteleError(
            f"{_shown(list(splits))}: {role} of several splits; name the judgments' split in `files` of the "
            "dataset, and number the files of one split"
        )
    return all_numbers(files)


def _files(data: Data, language: str, role: str) -> Sequence[Path]:
    """Finds a role's files: one or more for corpus and queries, one for judgments. Raises SteleError otherwise."""
    files = _with_role(data, language, role) if role == "qrels" else _split_files(data, language, role)
    if not files:
        held = sorted(path.name for folder in _folders(data, language) for path in below(folder))
        raise SteleError(
            f"{_shown(_folders(data, language))}: no {role} of {language} (a file {role}.jsonl, {role}.parquet or in a "
            f"folder {role}); found {', '.join(held[:12]) or 'nothing'}"
        )
    if role == "qrels" and len(files) > 1:
        raise SteleError(f"{_shown(files)}: found judgments of several splits; name one in `files` of the dataset")
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
    """Parses a file's path in a data set's folder into (subset, role), nearest name first; ("", "") for other files.

    >>> role_of(Path("de-corpus/dev-00000-of-00001.parquet")), role_of(Path("qrels/test.tsv"))
    (('de', 'corpus'), ('', 'qrels'))
    """
    if Path(plain_name(path.name)).suffix not in SUFFIXES:
        return "", ""
    for name in (path.name.partition(".")[0], *reversed(path.parts[:-1])):
        if found := ROLE.fullmatch(name):
            return found["subset"] or "", ROLES.get(found["role"], found["role"])
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


def _shown(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths))
