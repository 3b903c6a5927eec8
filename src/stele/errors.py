"""Errors meant for the user: one clear sentence each, printed without a traceback."""

import difflib
import errno
import re
import threading
from collections.abc import Collection, Iterable, Mapping


class SteleError(Exception):
    """An error that the user can correct: names the file or key, what was found, and what to write instead.

    A name from outside may hold bytes that are no UTF-8; they are shown as escapes, so that every log can hold them.
    """

    def __str__(self) -> str:
        return super().__str__().encode("utf-8", "backslashreplace").decode("utf-8")


class UsageError(SteleError):
    """A command line that its command does not understand."""


class Damaged(SteleError):
    """A file that is not the one its record describes, so it must be made again."""


# how libraries say that there is no memory where they raise no MemoryError
_NO_MEMORY = re.compile(
    r"(cannot|can't|could not|unable to|failed to) (allocate|mmap)|failed to map segment|out of memory|bad_alloc"
    r"|can't start new thread",
    re.IGNORECASE,
)
# how libraries say that the disk is full where they raise no OSError with its number: safetensors, numpy, faiss
_NO_ROOM = re.compile(
    r"no space left on device|quota exceeded|file too large|\b\d+ requested and \d+ written", re.IGNORECASE
)


def exhausted(error: BaseException) -> SteleError | None:
    """The error for a full disk or full memory, where an exception came from one: libraries hide it behind their own.

    >>> print(exhausted(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")))
    memory is full, or a limit of it is reached (DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 \
bytes). What was saved before stays: give the same command more memory (ulimit -v, the job's request)
    >>> print(exhausted(RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.")))
    memory is full, or a limit of it is reached (CUDA out of memory. Tried to allocate 2.00 GiB.). What was saved \
before stays: use a GPU with more memory, or a smaller encode_chunk in the recipe
    """
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    for cause in reversed(causes):  # the earliest first
        if _is_memory(cause):
            reason = " ".join(str(cause).split())[:200] or type(cause).__name__
            way = "give the same command more memory (ulimit -v, the job's request)"
            if isinstance(cause, RuntimeError) and re.search(r"cuda|\b(hip|gpu)\b", reason, re.IGNORECASE):
                way = "use a GPU with more memory, or a smaller encode_chunk in the recipe"
            return SteleError(
                f"memory is full, or a limit of it is reached ({reason}). What was saved before stays: {way}"
            )
        if _is_room(cause):
            reason = getattr(cause, "strerror", None) or " ".join(str(cause).split())[:200]
            return SteleError(
                f"the disk is full, or a quota or a limit of file sizes is reached ({reason}). Nothing "
                "half-written stays, and what was saved before does: free some space, then give the same command again"
            )
    return None


def without_threads() -> SteleError | None:
    """The error for a process that can start no thread: its memory is used up. OpenBLAS then raises SIGINT, as a
    user's Ctrl-C does.
    """
    try:
        threading.Thread(target=int).start()
    except (RuntimeError, MemoryError) as error:
        return exhausted(error)
    return None


def _is_room(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return not isinstance(error, SteleError) and bool(_NO_ROOM.search(str(error)))


def _is_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return isinstance(error, RuntimeError | ImportError | SystemError) and bool(_NO_MEMORY.search(str(error)))


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that `name` may be a slip of, else None.

    A slip has at most one edit for every three letters, or one in all; or it is a name's first three letters or more.

    >>> nearest("zero_sho", ["zero_shot_nq", "zero_shot"]), nearest("pretrain", ["pretraining"])
    ('zero_shot', 'pretraining')
    >>> nearest("sv", ["sw", "th"]), nearest("qwerty", ["bert"])
    ('sw', None)
    """
    by_lower = {candidate.lower(): candidate for candidate in valid}
    alike = difflib.get_close_matches(name.lower(), by_lower, n=20, cutoff=0.3)
    close = min(alike, key=lambda candidate: edits(name.lower(), candidate), default=None)
    if close is None or edits(name.lower(), close) > max(1, len(name) // 3):
        close = next((candidate for candidate in alike if candidate.startswith(name.lower()) and len(name) > 2), None)
    return by_lower[close] if close else None


def edits(word: str, other: str) -> int:
    """How many letters to add, drop, replace or exchange with the next (optimal string alignment).

    >>> edits("mms", "msm"), edits("table_5", "table_05"), edits("qwerty", "bert")
    (1, 1, 3)
    """
    before, last = [], list(range(len(other) + 1))
    for i, letter in enumerate(word, start=1):
        row = [i]
        for j, its in enumerate(other, start=1):
            cost = min(row[-1] + 1, last[j] + 1, last[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == its:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def unknown(
    kind: str, name: str, valid: Iterable[str], where: str = "", aliases: Mapping[str, str] | None = None
) -> SteleError:
    """The error for a name that is not known: names what was found, the nearest valid name and the valid ones.

    Of more than twenty valid names the ten that are most alike are listed.

    `aliases`: other names, each with the one to give instead.

    >>> str(unknown("model", "mms", ["msm", "kept"], "config.yaml: models"))
    "config.yaml: models: unknown model 'mms'; did you mean 'msm'? Valid: kept, msm"
    >>> str(unknown("language", "tha", [f"{first}{last}" for first in "opqrstu" for last in "abcdefgh"]))
    "unknown language 'tha'; did you mean 'th'? The nearest of 56: th, ta, uh, ua, tg, tf, te, td, tc, tb"
    """
    valid = sorted(valid)
    names = {**(aliases or {}), **{each: each for each in valid}}
    close = nearest(name, names)
    hint = f"; did you mean {names[close]!r}?" if close else "."
    listed = f"Valid: {', '.join(valid)}"
    if len(valid) > 20:
        listed = f"The nearest of {len(valid)}: {', '.join(difflib.get_close_matches(name, valid, n=10, cutoff=0))}"
    return SteleError(f"{where + ': ' if where else ''}unknown {kind} {name!r}{hint} {listed}")


def check_known(kind: str, name: str, valid: Collection[str], where: str = "") -> None:
    """Raises SteleError, with the nearest valid name, unless `name` is valid."""
    if name not in valid:
        raise unknown(kind, name, valid, where)
