"""The record that stands beside every output: what was made, from what, by which code, on which machine.

Two kinds of facts live in a record: what the thing is (recipe, seed, counts, `content`) and the circumstances of its
making (times, device, versions). Only the first kind enters `content_digest`: a slower machine makes the same thing.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from stele.artifacts import record_shape
from stele.artifacts.record_shape import NO_DIGEST, SEAL, check_seal, is_users_words, seal
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json, check_record
from stele.files.digests import FileFacts, digest, facts_digest, sha256
from stele.files.reading import read_object

GENERATED = "generated data"
STAND_IN = "stand-in checkpoint"
LIMITED = "limited"
BEGINNING = "beginning of a corpus"  # a scale read no more of a text
DIVERGED = "diverged pretraining"
UNLEARNT = "a pretraining task that learnt nothing"
RECODED = "not encoded as its base"
UNPROMPTED = "none of the checkpoint's prompts used"

CIRCUMSTANCES = (
    "versions", "commit", "python", "device", "host", "wall_seconds", "cpu_seconds", "peak_memory_mb", "finished",
    "curve_seconds", "train_seconds", SEAL,
)  # fmt: skip
# what an ancestor is known by: what was done, to what, how; everything else stands in its own record
ANCESTRY = "ancestry"
WHOLE_ANCESTRY = "ancestry.json"  # of a folder of kept results: all that any of them comes from
IDENTITY = (
    "job", "dataset", "part", "version", "repository", "revision", "checkpoint", "corpus", "language", "method",
    "model", "recipe", "seed", "steps", "encoding", "encoding_decided_by", "encoding_notes", "licence", "origin",
    "labels", "inputs", "content", "diverged",
)  # fmt: skip
# keys of an encoding that compared systems should share
COMPARED = ("pooling", "normalize", "query_length", "passage_length", "query_prompt", "passage_prompt")
PACKAGES = (
    "torch", "transformers", "tokenizers", "accelerate", "faiss-cpu", "faiss-gpu", "ranx", "nltk", "numpy", "scipy",
    "pyarrow", "duckdb", "lxml", "sentencex", "bm25s", "snakemake",
)  # fmt: skip


class Record(TypedDict, total=False):
    """What a job says of itself, beside its own facts (`recipe`, ...); `write_record` says how."""

    job: str
    inputs: dict[str, str]
    labels: list[str]
    content: Any
    outputs: dict[str, FileFacts]
    ancestry: dict[str, Record]
    seed: int
    device: str
    threads: int
    wall_seconds: float
    cpu_seconds: float
    peak_memory_mb: float


def ancestor(record: Mapping[str, Any], job: str) -> Mapping[str, Any]:
    """The facts of the job of that name that an output comes from; {} where there is none."""
    ancestors: Iterable[Mapping[str, Any]] = record.get(ANCESTRY, {}).values()
    return next((facts for facts in ancestors if facts.get("job") == job), {})


def own_checkpoint(record: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """The facts of a model's own checkpoint as it was fetched; {} where it was trained here from another's."""
    checkpoint = ancestor(record, "sources checkpoint")
    return checkpoint if checkpoint.get("model") == model else {}


def _encoded(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts of the job that encoded the texts behind an output; {} where there is none."""
    return ancestor(record, "retrieve") or ancestor(record, "encode_pairs")


def encoding_differences(outputs: Mapping[str, Mapping[str, Any]]) -> str:
    """In what the texts behind some outputs (name -> record) were encoded differently; "" where in nothing.

    Outputs whose texts no encoder read, as BM25's, are left out.
    """
    encodings = {name: _encoded(record)["encoding"] for name, record in outputs.items() if _encoded(record)}
    differences = []
    for key in COMPARED:
        values = {name: encoding.get(key) for name, encoding in encodings.items()}
        if len({repr(value) for value in values.values()}) > 1:
            differences.append(f"{key} ({', '.join(f'{name}: {value!r}' for name, value in values.items())})")
    return ", ".join(differences)


def own_encoding(record: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of the encoding behind an output that config.yaml set, with their values."""
    facts = _encoded(record)
    chosen = facts.get("encoding_decided_by", {}).get("config", ())
    return {key: facts.get("encoding", {}).get(key) for key in chosen}


def encoding_notes(record: Mapping[str, Any]) -> list[str]:
    """What the encoding behind an output did not do, as of a folder's prompts that were not used."""
    return list(_encoded(record).get("encoding_notes", ()))


@dataclass(frozen=True)
class Clock:
    """When a job began: wall-clock seconds and the CPU seconds used by then."""

    wall: float
    cpu: float

    def set_back(self, wall: float, cpu: float) -> Clock:
        """The clock set back by the seconds that earlier runs of the job took."""
        return Clock(self.wall - wall, self.cpu - cpu)


def _peak_memory_mb() -> int:
    """This process's own peak; getrusage's is at least that of the process that started it."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024)
    except (OSError, StopIteration):  # no Linux
        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _cpu_seconds() -> float:
    itself, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return itself.ru_utime + itself.ru_stime + children.ru_utime + children.ru_stime


def start() -> Clock:
    """Starts the clock of a job."""
    return Clock(time.monotonic(), _cpu_seconds())


@cache
def _commit() -> str | None:
    """The commit of the code, with "+" when the work tree differs from it; None outside a checkout."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None
    try:
        head = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=20)
        dirty = subprocess.run(
            ["git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"],
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return head.stdout.strip() + ("+" if dirty.stdout.strip() else "") if head.returncode == 0 else None


@cache
def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _device() -> str:
    torch = sys.modules.get("torch")  # never imported for the record's sake
    if torch is not None and torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"cpu ({platform.machine()})"


def _threads() -> int:
    torch = sys.modules.get("torch")
    return torch.get_num_threads() if torch is not None else 1


def read_record(path: Path | str) -> Record:
    """Reads a record; one that is missing, of other types or not as it was written is an error that names it."""
    record = read_unsealed(path)
    check_seal(record, Path(path))
    return {**record, "labels": sorted({*record["labels"], NO_DIGEST})} if is_users_words(record) else record


def read_unsealed(path: Path | str) -> Record:
    """Reads a record whatever its digest says, as of an earlier version, which had none."""
    path = Path(path)
    if not path.exists():
        raise SteleError(f"{path}: no such record; run the job that makes it first")
    record = read_object(path, "record", "delete it and run its job again")
    record_shape.check(record, path)
    return record


def read_ancestry(path: Path) -> dict[str, Record]:
    """All that the results of a folder come from: digest -> what it is known by."""
    ancestry = read_object(path, "ancestry")
    record_shape.check({ANCESTRY: ancestry}, path)
    return ancestry


def content_digest(path: Path | str) -> str:
    """A digest of what a thing is: its `content` where the record has one, else its facts without the circumstances.

    A file that is no record is digested by its bytes.
    """
    path = Path(path)
    if path.suffix != ".json":
        return sha256(path)[:16]
    record = read_record(path)
    if "content" in record:
        return digest(record["content"])
    return digest({key: value for key, value in record.items() if key not in (*CIRCUMSTANCES, ANCESTRY)})


def ancestry_of(inputs: Iterable[Path | str]) -> dict[str, Record]:
    """All that some records were made from, themselves included: content digest -> what it is known by.

    The `inputs` of an ancestor are digests too, so that the way from a result back to every file of data can be
    followed without the files. Files that are no records have none.
    """
    ancestry: dict[str, Record] = {}
    for path in inputs:
        if Path(path).suffix == ".json":
            record = read_record(path)
            ancestry |= record.get(ANCESTRY, {})
            ancestry[content_digest(path)] = {key: record[key] for key in IDENTITY if record.get(key) is not None}
    return ancestry


def labels_of(inputs: Iterable[Path | str]) -> set[str]:
    """The union of the labels of some records; files that are no records have none."""
    labels: set[str] = set()
    for path in inputs:
        if Path(path).suffix == ".json":
            labels.update(read_record(path).get("labels", ()))
    return labels


def divergence(inputs: Iterable[Path | str]) -> str | None:
    """Which pretrainings came to nothing of those that some records go back to, and why; None where none did."""
    ancestors = ancestry_of(inputs).values()
    runs = {f"{facts.get('model')}: {facts['diverged']}" for facts in ancestors if "diverged" in facts}
    return "; ".join(sorted(runs)) or None


def write_record(
    path: Path | str,
    *,
    job: str,
    inputs: Mapping[str, Path | str],
    clock: Clock,
    seed: int | None = None,
    labels: Iterable[str] = (),
    outputs: Mapping[str, FileFacts] | None = None,
    **facts: Any,
) -> Record:
    """Writes the record of a finished job and returns it.

    `inputs` maps a name to the record (or file) of each input; labels are inherited from them. `outputs` maps the files
    that were made, as paths from the record's folder, to their `file_facts`: by them damage is noticed. They are the
    record's `content` too, unless that is given.
    """
    check_record(Path(path), job)
    if outputs is not None:
        facts = {"content": facts_digest(outputs), **facts, "outputs": outputs}
    record = {
        "job": job,
        "inputs": {name: content_digest(source) for name, source in inputs.items()},
        "labels": sorted(set(labels) | labels_of(inputs.values())),
        **facts,
        ANCESTRY: ancestry_of(inputs.values()),
        "versions": _versions(),
        "python": platform.python_version(),
        "commit": _commit(),
        "device": _device(),
        "threads": _threads(),
        "host": platform.node(),
        "wall_seconds": round(time.monotonic() - clock.wall, 3),
        "cpu_seconds": round(_cpu_seconds() - clock.cpu, 3),
        "peak_memory_mb": _peak_memory_mb(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    if seed is not None:
        record["seed"] = seed
    sealed = seal(record)
    atomic_write_json(path, sealed)
    os.utime(path)
    return sealed
