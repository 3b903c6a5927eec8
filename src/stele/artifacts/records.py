"""Records: each output has one beside it, with the job, its inputs, the code and the machine that made the output.

A record holds two kinds of facts: the identity of the output (recipe, seed, counts, `content`) and the circumstances of
its making (times, device, versions). Only the first kind enters `content_digest`, so a slower machine changes nothing.
"""

import importlib.metadata
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Self, TypedDict

from stele.artifacts import record_shape
from stele.artifacts.record_shape import NO_DIGEST, SEAL, check_seal, is_users_words, seal
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_write_json, check_record
from stele.files.digests import FileFacts, digest, facts_digest, folder_facts, sha256
from stele.files.reading import read_object

GENERATED = "generated data"
STAND_IN = "stand-in checkpoint"
LIMITED = "limited"
BEGINNING = "beginning of a corpus"  # the scale reads only the first part
DIVERGED = "diverged pretraining"
UNLEARNT = "a pretraining task that learnt nothing"
RECODED = "not encoded as its base"
UNPROMPTED = "none of the checkpoint's prompts used"

CIRCUMSTANCES = (
    "versions", "commit", "python", "device", "host", "wall_seconds", "cpu_seconds", "peak_memory_mb", "finished",
    "curve_seconds", "train_seconds", SEAL,
)  # fmt: skip
# keys that describe an ancestor; the rest is in its own record
ANCESTRY = "ancestry"
WHOLE_ANCESTRY = "ancestry.json"  # all ancestors of a folder of kept results
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
    """Keys that the records of all jobs share; each job adds its own (`recipe`, ...). `write_record` explains them."""

    job: str
    inputs: dict[str, str]
    labels: list[str]
    content: Any
    outputs: dict[str, FileFacts]
    ancestry: dict[str, Self]
    seed: int
    device: str
    threads: int
    wall_seconds: float
    cpu_seconds: float
    peak_memory_mb: float


def ancestor(record: Mapping[str, Any], job: str) -> Mapping[str, Any]:
    """Facts about an output's ancestor that `job` made; {} without one."""
    ancestors: Iterable[Mapping[str, Any]] = record.get(ANCESTRY, {}).values()
    return next((facts for facts in ancestors if facts.get("job") == job), {})


def own_checkpoint(record: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """Facts about the fetched checkpoint of this very model; {} for a model trained here from another checkpoint."""
    checkpoint = ancestor(record, "sources checkpoint")
    return checkpoint if checkpoint.get("model") == model else {}


def encoded(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Facts about the job that encoded the texts behind an output; {} if no encoder was used."""
    return ancestor(record, "retrieve") or ancestor(record, "encode_pairs")


def encoding_differences(outputs: Mapping[str, Mapping[str, Any]]) -> str:
    """Lists, as text, the encoding keys in which some outputs (name -> record) differ; "" if they agree in all.

    Outputs without an encoder, such as BM25's, are ignored.
    """
    encodings = {name: encoded(record)["encoding"] for name, record in outputs.items() if encoded(record)}
    differences = []
    for key in COMPARED:
        values = {name: encoding.get(key) for name, encoding in encodings.items()}
        if len({repr(value) for value in values.values()}) > 1:
            differences.append(f"{key} ({', '.join(f'{name}: {value!r}' for name, value in values.items())})")
    return ", ".join(differences)


def own_encoding(record: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of the encoding behind an output that config.yaml set, with their values."""
    facts = encoded(record)
    chosen = facts.get("encoding_decided_by", {}).get("config", ())
    return {key: facts.get("encoding", {}).get(key) for key in chosen}


def encoding_notes(record: Mapping[str, Any]) -> list[str]:
    """Notes on the encoding behind an output, for example that prompts in a checkpoint's folder were not used."""
    return list(encoded(record).get("encoding_notes", ()))


def _peak_memory_mb() -> int:
    """Peak memory of this process alone, in MB; getrusage may report the peak of the parent process instead."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024)
    except (OSError, StopIteration):  # no Linux
        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _seconds() -> tuple[float, float]:
    """Wall-clock seconds since some fixed time, and CPU seconds of this process and its children."""
    itself, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), itself.ru_utime + itself.ru_stime + children.ru_utime + children.ru_stime


_begun = _seconds()  # of this process's job


def begin() -> None:
    """Begins a job: its records count the seconds from now on. The command line calls it before each command."""
    global _begun
    _begun = _seconds()


os.register_at_fork(after_in_child=begin)  # the CPU seconds of a new process count from 0


def spent(earlier: tuple[float, float] = (0.0, 0.0)) -> tuple[float, float]:
    """Wall-clock and CPU seconds of this process's job so far, added to those of its `earlier` runs."""
    wall, cpu = (now - begun for now, begun in zip(_seconds(), _begun, strict=True))
    return wall + earlier[0], cpu + earlier[1]


def _commit() -> str | None:
    """Git commit of the code, followed by "+" if the work tree differs from it; None outside a checkout."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None
    try:
        command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def software() -> dict[str, Any]:
    """Versions of packages and of Python, and the commit of the code; found once by a process and those it forks."""
    versions = {}
    for package in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {"versions": versions, "python": platform.python_version(), "commit": _commit()}


def _device() -> dict[str, Any]:
    torch = sys.modules.get("torch")  # not imported only for the record
    threads = torch.get_num_threads() if torch is not None else 1
    on_gpu = torch is not None and torch.cuda.is_available()
    return {"device": torch.cuda.get_device_name() if on_gpu else f"cpu ({platform.machine()})", "threads": threads}


def read_record(path: Path | str) -> Record:
    """Reads a record. Raises SteleError if it is missing, has values of wrong types, or was changed after writing."""
    record = read_unsealed(path)
    check_seal(record, Path(path))
    return {**record, "labels": sorted({*record["labels"], NO_DIGEST})} if is_users_words(record) else record


def read_unsealed(path: Path | str) -> Record:
    """Reads a record without checking its digest, which older records lack. Raises SteleError if missing or invalid."""
    path = Path(path)
    if not path.exists():
        raise SteleError(f"{path}: no such record; run the job that makes it first")
    record = read_object(path, "record", "delete it and run its job again")
    record_shape.check(record, path)
    return record


def read_ancestry(folder: Path) -> dict[str, Record]:
    """Reads the ancestors of all packed results of a folder: content digest -> identifying facts of the ancestor.

    {} for a folder without such a file, whose results have their own ancestry whole.
    """
    path = folder / WHOLE_ANCESTRY
    ancestry = read_object(path, "ancestry") if path.is_file() else {}
    record_shape.check({ANCESTRY: ancestry}, path)
    return ancestry


def content_digest(path: Path | str) -> str:
    """Digest that identifies an output: of its record's `content`, else of its facts without the circumstances.

    For a file that is no record, the digest is that of its bytes.
    """
    path = Path(path)
    if path.suffix != ".json":
        return sha256(path)[:16]
    record = read_record(path)
    if "content" in record:
        return digest(record["content"])
    return digest({key: value for key, value in record.items() if key not in (*CIRCUMSTANCES, ANCESTRY)})


def ancestry_of(inputs: Iterable[Path | str]) -> dict[str, Record]:
    """Collects some records and all their ancestors: content digest -> identifying facts.

    The `inputs` of an ancestor are digests too, so that a result can be traced back to every data file without having
    the files. Files that are no records are ignored.
    """
    ancestry: dict[str, Record] = {}
    for path, record in _records_among(inputs):
        ancestry |= record.get(ANCESTRY, {})
        ancestry[content_digest(path)] = {key: record[key] for key in IDENTITY if record.get(key) is not None}
    return ancestry


def _records_among(inputs: Iterable[Path | str]) -> Iterator[tuple[Path, Record]]:
    return ((path, read_record(path)) for path in map(Path, inputs) if path.suffix == ".json")


def divergence(inputs: Iterable[Path | str]) -> str | None:
    """Names the diverged pretrainings among the ancestors of some records, with the reasons; None if there are none."""
    ancestors = ancestry_of(inputs).values()
    runs = {f"{facts.get('model')}: {facts['diverged']}" for facts in ancestors if "diverged" in facts}
    return "; ".join(sorted(runs)) or None


def write_record(
    path: Path | str,
    *,
    job: str,
    inputs: Mapping[str, Path | str],
    labels: Iterable[str] = (),
    outputs: Mapping[str, FileFacts] | None = None,
    earlier: tuple[float, float] = (0.0, 0.0),
    **facts: Any,
) -> None:
    """Writes the record of a finished job, with the seconds that it took since `begin` and in its `earlier` runs.

    `inputs` maps a name to the record (or file) of each input; labels are inherited from them. `outputs` maps the paths
    of written files, relative to the record's folder, to their `file_facts`, by which later jobs detect damage. Their
    digest is the record's `content`, unless the caller gives another.
    """
    check_record(Path(path), job)
    wall, cpu = spent(earlier)
    inherited = (record["labels"] for _, record in _records_among(inputs.values()))
    if outputs is not None:
        facts = {"content": facts_digest(outputs), **facts, "outputs": outputs}
    record = {
        "job": job,
        "inputs": {name: content_digest(source) for name, source in inputs.items()},
        "labels": sorted({*labels}.union(*inherited)),
        **facts,
        ANCESTRY: ancestry_of(inputs.values()),
        **software(),
        **_device(),
        "host": platform.node(),
        "wall_seconds": round(wall, 3),
        "cpu_seconds": round(cpu, 3),
        "peak_memory_mb": _peak_memory_mb(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    atomic_write_json(path, seal(record))
    os.utime(path)


@contextmanager
def output_folder(record: Path, job: str, inputs: Mapping[str, Path | str]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields an empty folder for a job's files, and the facts of its record, to which the block adds.

    At the end of the block, the folder with its record replaces that of `record`. The record lists all files of the
    folder if there are any, or the facts' own `outputs`. Raises SteleError as `atomic_directory`.
    """
    with atomic_directory(record.parent, job) as folder:
        facts: dict[str, Any] = {}
        yield folder, facts
        if "outputs" not in facts:
            facts["outputs"] = folder_facts(folder) or None
        write_record(folder / record.name, job=job, inputs=inputs, **facts)
