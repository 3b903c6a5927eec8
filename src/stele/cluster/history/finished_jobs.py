"""What the jobs of a folder took, from what they left: Snakemake's records, benchmark files, the records of outputs.

Each of these misses something. A benchmark file knows the command and its children, in samples, and only the client of
a command that the local worker runs; a record knows the process that wrote it, without its start. So the larger figure
is the truer one, and each stands with where it is from.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from stele.cluster.requests import subject
from stele.files.reading import JsonObject, read_note

METADATA = Path(".snakemake/metadata")
SUFFIX = ".benchmark.tsv"


class FinishedJob(NamedTuple):
    """A job that was done: wall and CPU seconds, peak memory in MB (None: unknown), each with where it is from."""

    rule: str
    job: str
    log: str
    started: float
    wall_s: float
    wall_from: str
    cpu_s: float | None
    cpu_from: str | None
    peak_mb: float | None
    peak_from: str | None
    processes: int
    device: str
    host: str


def _name(path: Path, folder: Path) -> str:
    """The output that a record of Snakemake's is of: its name in base64, in pieces where it is long; "" for none."""
    text = "".join(part.removeprefix("@") for part in path.relative_to(folder).parts)
    try:
        return base64.urlsafe_b64decode(text).decode()
    except ValueError:
        return ""


def _done(metadata: Path, logs: str) -> dict[str, tuple[JsonObject, list[str]]]:
    """Log -> Snakemake's record of the job and the outputs that are there; of several jobs with one log, the last."""
    records: dict[str, tuple[JsonObject, list[str]]] = {}
    for path in sorted(metadata.rglob("*")):
        if path.is_file():
            output, record = _name(path, metadata), read_note(path, log=list, endtime=float)
            log = str(next(iter(record.get("log", ())), ""))
            if not (output and log.startswith(f"{logs}/") and record.get("endtime") and Path(output).exists()):
                continue
            known, outputs = records.get(log, (record, []))
            if record.get("shellcmd") == known.get("shellcmd"):
                outputs.append(output)
            elif record["endtime"] > known["endtime"]:
                known, outputs = record, [output]
            records[log] = known, outputs
    return records


def benchmark(path: Path) -> dict[str, float]:
    """The last line of a benchmark file, without what could not be measured; nothing where there is no such file.

    Columns of Snakemake: s (wall seconds), cpu_time (seconds), max_pss (MB; pages that processes share count once), ...
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    figures = {}
    for name, value in zip(lines[0].split("\t"), lines[-1].split("\t"), strict=False) if len(lines) > 1 else ():
        try:
            figures[name] = float(value)
        except ValueError:
            continue  # NA, or a time as h:m:s
    return figures


def _record(outputs: list[str], rule: str) -> JsonObject:
    """The record that a job's command wrote; not that of another job, which a copy may be."""
    for output in outputs:
        if output.endswith(".json"):
            record = read_note(Path(output))
            if "wall_seconds" in record and str(record.get("job")).replace(" ", "_").endswith(rule):
                return record
    return {}


def jobs(logs: str, metadata: Path = METADATA) -> Iterator[FinishedJob]:
    """The jobs that were done whose logs are in a folder, by the time at which they started."""
    finished = [_finished(log, *done) for log, done in _done(metadata, logs).items()]
    yield from sorted(finished, key=lambda job: (job.started, job.log))


def _finished(log: str, done: JsonObject, outputs: list[str]) -> FinishedJob:
    rule = done["rule"]
    measured, record = benchmark(Path(log.removesuffix(".log") + SUFFIX)), _record(outputs, rule)
    started = done.get("starttime") or done["endtime"]

    def larger(column: str, key: str, otherwise: tuple[Any, Any] = (None, None)) -> tuple[Any, Any]:
        both = ((measured.get(column), "benchmark"), (record.get(key), "record"))
        return max((figure for figure in both if figure[0] is not None), default=otherwise)

    # Snakemake's own span has the waiting in a cluster's queue in it, so it is the last resort
    wall = larger("s", "wall_seconds", (max(0.0, done["endtime"] - started), "snakemake"))
    cpu, peak = larger("cpu_time", "cpu_seconds"), larger("max_pss", "peak_memory_mb")
    where = record.get("processes") or 1, record.get("device") or "", record.get("host") or ""
    return FinishedJob(rule, subject(log, rule), log, started, *wall, *cpu, *peak, *where)
