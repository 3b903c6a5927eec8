"""Count the contents of a dataset's files, so that wrong or incomplete files are noticed before use."""

import gzip
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from stele.benchmarks._beir_files import role_of, split_of
from stele.benchmarks._tables import is_parquet
from stele.benchmarks.beir import checked_judgments, checked_rows
from stele.errors import SteleError
from stele.files.reading import open_bz2, open_xz, parse_json, reading
from stele.progress import track
from stele.registry import Registry

KINDS: Registry = Registry("way to count")
OPEN = {".gz": gzip.open, ".bz2": open_bz2, ".xz": open_xz}
LARGE = 256 << 20  # bytes from which on counting shows its progress


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file to read, decompressed by its suffix. Raises SteleError, naming the file, if it is damaged."""
    with reading(path, advice="fetch it again"), open(path, "rb") as raw:
        yield OPEN[path.suffix](raw) if path.suffix in OPEN else raw


@KINDS.register("lines")
def lines(path: Path) -> int:
    """Number of lines; the last one may lack its newline."""
    count, last = 0, b"\n"
    with reading(path):
        size = path.stat().st_size
    total = None if path.suffix == ".gz" else size >> 20  # the unpacked size of a .gz is not known beforehand
    with opened(path) as handle:
        blocks = iter(lambda: handle.read(1 << 20), b"")
        for block in track(blocks, total, f"count {path.name}", unit="MB") if size > LARGE else blocks:
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")


@KINDS.register("filled_lines")
def filled_lines(*paths: Path) -> int:
    """Number of lines that are not blank, summed over files."""
    count = 0
    for path in paths:
        with opened(path) as handle:
            count += sum(bool(line.strip()) for line in handle)
    return count


@KINDS.register("records")
def records(*paths: Path) -> int:
    """Number of rows, summed over files of JSON lines or Parquet (recognised by the first bytes)."""
    count = 0
    for path in paths:
        count += _parquet_rows(path) if is_parquet(path) else filled_lines(path)
    return count


@KINDS.register("retrieval_rows")
def retrieval_rows(*paths: Path) -> int | dict[str, int]:
    """Checks and counts rows of files in BEIR's or MTEB's layout, by language if the files are language subsets."""
    rows: Counter[str] = Counter()
    seen: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for path in paths:
        subset, _ = role_of(path)
        rows[subset] += checked_rows(path, seen[subset, split_of(path)])
    return rows[""] if len(rows) == 1 and "" in rows else dict(rows)


@KINDS.register("retrieval_judgments")
def retrieval_judgments(*paths: Path) -> int:
    """Counts judgments in BEIR's or MTEB's layout and checks them against queries and corpus (all in `paths`)."""
    return checked_judgments(paths)


@KINDS.register("rows")
def rows(path: Path) -> int:
    """Number of lines below the header."""
    return max(0, lines(path) - 1)


@KINDS.register("squad_questions")
def squad_questions(path: Path) -> int:
    """Number of questions in a file in SQuAD's format."""
    return _of_paragraphs(path, "qas")


@KINDS.register("squad_sentences")
def squad_sentences(path: Path) -> int:
    """Number of sentences in a file in SQuAD's format with LAReQA's sentence breaks."""
    return _of_paragraphs(path, "sentences")


@KINDS.register("mentions")
def mentions(path: Path) -> dict[str, int]:
    """Number of mentions by language in a wikinews_mentions file of Mewsli-X (one article per line)."""
    by_language: dict[str, int] = {}
    with opened(path) as handle:
        for number, line in enumerate(handle, start=1):
            where = f"{path}, line {number}"
            with reading(where, "line in Mewsli-X's format", "want context.language and mentions"):
                article = parse_json(line, where)
                language = article["context"]["language"]
                by_language[language] = by_language.get(language, 0) + len(article["mentions"])
    return by_language


@KINDS.register("mentions_in_text")
def mentions_in_text(path: Path) -> dict[str, int]:
    """Number of mentions by language. Raises SteleError if a restored text differs from the md5 in the release."""
    wrong: list[str] = []
    with opened(path) as handle:
        for number, line in enumerate(handle, start=1):
            article = parse_json(line, f"{path}, line {number}", "line in Mewsli-X's format")
            try:
                text, name = article["context"]["text"], article["context"]["document_id"]
                wanted = {mention["metadata"]["text_md5"] for mention in article["mentions"]}
            except (KeyError, TypeError, AttributeError):
                raise SteleError(
                    f"{path}: an article lacks context.text, context.document_id or metadata.text_md5; want a "
                    f"wikinews_mentions file written by get-mewsli-x.sh"
                ) from None
            if wanted != {hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()}:
                wrong.append(name)
    if wrong:
        raise SteleError(
            f"{path}: {len(wrong):,} texts differ from the release, by text_md5 ({', '.join(wrong[:3])}...); "
            f"run get-mewsli-x.sh again on the dumps of 2019-01-01"
        )
    return mentions(path)


@KINDS.register("parallel_lines")
def parallel_lines(path: Path, other: Path) -> int:
    """Number of line pairs of two parallel files. Raises SteleError if the files have different numbers of lines."""
    here, there = lines(path), lines(other)
    if here != there:
        raise SteleError(f"{path} has {here:,} lines, {other} has {there:,}; they should pair up line by line")
    return here


def _parquet_rows(path: Path) -> int:
    import pyarrow.parquet

    with reading(path, "Parquet file", "fetch it again"):
        return pyarrow.parquet.read_metadata(path).num_rows


def _of_paragraphs(path: Path, what: str) -> int:
    with opened(path) as handle, reading(path, "file in SQuAD's format", f"want data, paragraphs, {what}"):
        value = parse_json(handle.read(), path)
        return sum(len(paragraph[what]) for article in value["data"] for paragraph in article["paragraphs"])
