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

import logging
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from stele.benchmarks._beir_files import files_of, role_of, shown, split_files, text_files, with_role
from stele.benchmarks._files import field, identifier, lines, refuse_again, tsv_rows
from stele.benchmarks._tables import column_names, is_parquet, table_passages, table_rows
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.types import Data, Judgments, LeftOut, Passage, Query, QuerySet
from stele.errors import SteleError

logger = logging.getLogger(__name__)

HEAD = ["query-id", "corpus-id", "score"]
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
            query_files, qrels = (shown(files_of(data, query_set.language, role)) for role in ("queries", "qrels"))
            raise SteleError(
                f"{query_files}: {len(lacking)} judged queries are not in it ({', '.join(lacking[:SHOWN])}); "
                f"queries and judgments ({qrels}) must be of one release"
            )

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        for path in text_files(data, collection, "corpus"):
            yield from map(_trimmed, table_passages(path, _id(path), untitled=True))

    def left_out(self, data: Data, query_set: QuerySet) -> LeftOut:
        """Documents that are not hits of a query: its `excluded_ids`, and in BEIR's layout the one with its own id."""
        documents: dict[str, frozenset[str]] = {}
        if with_role(data, query_set.language, "queries"):  # judgments may be given alone
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
        named = set().union(*judged.values())
        if lacking := _not_in_corpus(data, query_set.language, named):
            logger.warning(
                "%s: %d of %d judged documents are not in the corpus (%s); they stay judged, and are never found",
                shown(files_of(data, query_set.language, "qrels")),
                len(lacking), len(named), ", ".join(lacking[:SHOWN]),
            )  # fmt: skip
        return judged


def _trimmed(passage: Passage) -> Passage:
    """Trims white space around a passage's title and text, joined by a space: some tokenizers would encode it."""
    title, text = passage.title.lstrip(), passage.text.rstrip()
    return Passage(passage.id, title if text else title.rstrip(), text if title else text.lstrip())


def _query_rows(data: Data, language: str, **columns: type | None) -> Iterator[tuple[str, str, dict]]:
    """Yields (place, id, columns) of the queries; all columns but the text may be missing."""
    seen: set[str] = set()
    for path in text_files(data, language, "queries"):
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
    rows = (row for path in split_files(data, language, "instruction") for row in table_rows(path, columns))
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
    numbers: dict[Path, int] = {}  # number of each file, which several subsets may share
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
                f"{qrels}: none of the {len(relevant)} relevant documents ({some}) is in the corpus; both must be "
                "of one release"
            )
        for query in Beir().queries(data, QuerySet(subset, subset, subset)):
            if not query.text.strip():
                raise SteleError(f"{shown(files_of(data, subset, 'queries'))}: query {query.id} has no text; add one")
    if max(queries) == 1:
        raise SteleError(f"{shown([*numbers])}: only one query is judged; want at least two, for an interval")
    return sum(numbers.values())


def _id(path: Path) -> str:
    """Name of a file's column of ids: `_id`, as in BEIR, or `id`, as in MTEB's newer sets."""
    names = column_names(path)
    return "id" if "id" in names and "_id" not in names else "_id"


def _judged(data: Data, language: str) -> Judgments:
    if ranked := with_role(data, language, "top_ranked"):
        raise SteleError(
            f"{shown(ranked)}: a re-ranking task, whose candidates alone are ranked; Stele searches the whole corpus, "
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
        raise SteleError(f"{path}: no judgments found; get it again")
    return judged


def _qrels(data: Data, language: str) -> Path:
    (path,) = files_of(data, language, "qrels")
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
    if isinstance(value, int | float) and abs(value) < LARGEST and value % 1 == 0:  # False for NaN
        return int(value)
    raise SteleError(f"{where}: score must be a whole number (gains are graded 0, 1, 2...), found {value!r}")


def _not_in_corpus(data: Data, language: str, names: Collection[str]) -> list[str]:
    """Selects the ids that no document of the corpus has; none if the corpus is not among the data."""
    if not with_role(data, language, "corpus"):
        return []
    lacking = set(names)
    for path in split_files(data, language, "corpus"):
        key = _id(path)
        for where, row in table_rows(path, {key: None}):
            lacking.discard(identifier(row[key], where, key))
    return sorted(lacking)
