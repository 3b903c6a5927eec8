"""The files of a test collection by their names: judgments, topics, and documents.

A file of judgments is named `*qrels*`, one of topics `*topics*` (TREC, CLEF, NTCIR, FIRE and Anserini all do so) or
`*queries*`; all others hold documents, but for what stands beside them on a publisher's disc.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import PurePath

QRELS = re.compile(r"qrel", re.IGNORECASE)
TOPICS = re.compile(r"(^|[._-])(topics?|query|queries)([._-]|$)", re.IGNORECASE)
PACKED = "documents.sgml"  # of documents that were a file each
_OTHER = re.compile(r"readme.*|record\.json|\..*|.*\.(dtd|md|md5|sha\d*|html?|pdf|tbl)", re.IGNORECASE)


def role(path: PurePath | str) -> re.Pattern[str] | None:
    """What a file is by its name: QRELS, TOPICS or None.

    >>> role("qrels.1-25.spanish.gz") is QRELS, role("CL.topics.arabic.trec11.txt") is TOPICS, role("ism_001")
    (True, True, None)
    """
    name = PurePath(path).name
    return next((pattern for pattern in (QRELS, TOPICS) if pattern.search(name)), None)


def document_files(paths: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Those of some paths that hold documents: by their names, those that `patterns` match; all where none does."""
    named = [(path, path.rpartition("/")[2]) for path in paths]
    files = [(path, name) for path, name in named if not (_OTHER.fullmatch(name) or role(name))]
    chosen = [path for path, name in files if any(fnmatch(name, pattern) for pattern in patterns)]
    return chosen or [path for path, _ in files]
