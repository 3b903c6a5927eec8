"""Errors meant for the user: one clear sentence each, printed without a traceback."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable


class SteleError(Exception):
    """Something the user can mend: says the file or key, what was found, and what to write instead."""


class Damaged(SteleError):
    """A file is not the one that its record describes: it is not to be used, but made again."""


def disk_full(error: BaseException) -> SteleError | None:
    """The error for a full disk, where an exception came from one: libraries hide it behind their own."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, OSError) and found.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return SteleError(
                f"the disk is full, or a quota or a limit of file sizes is reached ({found.strerror}). Nothing "
                "half-written stays, and what was saved before does: make room, then give the same command again"
            )
        found = found.__cause__ or found.__context__
    return None


def nearest(found: str, valid: Iterable[str]) -> str | None:
    """The valid name closest to `found`; None when there is none at all."""
    matches = difflib.get_close_matches(found.lower(), by_lower := {v.lower(): v for v in valid}, n=1, cutoff=0.0)
    return by_lower[matches[0]] if matches else None


def unknown(kind: str, found: str, valid: Iterable[str], where: str = "") -> SteleError:
    """The error for a name that is not known: names what was found, the nearest valid name and all valid ones.

    >>> str(unknown("model", "mms", ["msm", "kept"], "config.yaml: models"))
    "config.yaml: models: unknown model 'mms'; did you mean 'msm'? Valid: kept, msm"
    """
    valid = sorted(valid)
    close = nearest(found, valid)
    hint = f"; did you mean {close!r}?" if close else "."
    return SteleError(f"{where + ': ' if where else ''}unknown {kind} {found!r}{hint} Valid: {', '.join(valid)}")
