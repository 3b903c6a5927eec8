"""What a machine with a GPU reaches: steps of training, encoding, exact search, two processes. At most 8 minutes.

    make gpu                                                      # docs/gpu.md and docs/gpu.json
    PYTHONPATH=src python3 -m tests.speed.gpu --to FOLDER         # gpu.md and gpu.json in another folder
    PYTHONPATH=src python3 -m tests.speed.gpu --tiny --to FOLDER  # whether all items run, at sizes that say nothing

Needs torch, transformers, numpy, pydantic, pyyaml and safetensors. Nothing is downloaded: weights and texts are random.
Both files are written anew after each item, so that a stop loses nothing. Exit code 1 where an item failed.
"""

import argparse
import gc
import importlib
import importlib.metadata
import json
import platform
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from tests.speed import real_sizes
from tests.speed.gpu_items import FULL, TINY, Bench, Item
from tests.speed.table import ROOT, Unavailable, short

TOTAL = 450  # seconds of all items together
LEAST = 10  # seconds: with less left no item begins
PACKAGES = ("torch", "transformers", "numpy", "sentence-transformers")
FIGURES = "## Figures"  # the page above this line is written by hand


class TooLongError(Exception):
    """An item took longer than it may."""


@contextmanager
def at_most(seconds: float):
    """Raises TooLongError in a block that takes longer."""

    def stop(*_):
        raise TooLongError(f"took longer than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def measure(item: Item, left: float) -> dict[str, Any]:
    """An item's figures, or why it has none: it was skipped, or it failed."""
    if left < LEAST:
        return {"skipped": f"the {TOTAL} s of all items were over"}
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    try:
        with at_most(min(left, item.seconds)):
            return dict(item.run())
    except (Unavailable, TooLongError, torch.OutOfMemoryError) as error:
        return {"skipped": str(error).partition("\n")[0]}
    except Exception as error:  # of one item; the others are still wanted
        return {"failed": f"{type(error).__name__}: {error}".partition("\n")[0]}
    finally:
        gc.collect()


def machine() -> dict[str, Any]:
    """The devices and the versions."""
    count = torch.cuda.device_count()
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    device = f"{count} x {torch.cuda.get_device_name(0)}" if count else "no GPU"
    return {"device": device, "date": time.strftime("%Y-%m-%d"), "versions": versions}


def page(by_hand: str, report: Mapping[str, Any]) -> str:
    """The page: what is written by hand, and a table for each section."""
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    title = "Tiny sizes, which say nothing" if report["tiny"] else "Measured by `make gpu`"
    parts = [by_hand.partition(FIGURES)[0].rstrip("\n"), FIGURES]
    parts.append(f"{title}, {report['date']}: {report['device']}; {versions}; {report['seconds']:.0f} s.")
    rows = report["rows"]
    for section in dict.fromkeys(row["section"] for row in rows):
        measured = [row for row in rows if row["section"] == section and not {"skipped", "failed"} & row.keys()]
        if measured:
            columns = list(dict.fromkeys(key for row in measured for key in row if key != "section"))
            lines = [columns, ["---"] * len(columns)]
            lines += [[shown(row.get(column, "")) for column in columns] for row in measured]
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    for what in ("skipped", "failed"):
        without = [f"- {row['section']}, {row['item']}: {row[what]}" for row in rows if what in row]
        if without:
            parts.append(f"{what.capitalize()}:\n\n" + "\n".join(without))
    return "\n\n".join(parts) + "\n"


def shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else short(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=ROOT / "docs", help="folder for gpu.md and gpu.json")
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    if args.tiny and args.to == ROOT / "docs":
        parser.error("--tiny: give --to, since its figures say nothing")
    if not args.tiny and not torch.cuda.is_available():
        parser.error("torch finds no GPU; --tiny --to FOLDER tries all items on a CPU")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    by_hand = (ROOT / "docs/gpu.md").read_text(encoding="utf-8")
    report, begin = {**machine(), "tiny": args.tiny, "seconds": 0.0, "rows": []}, time.monotonic()
    args.to.mkdir(parents=True, exist_ok=True)
    # before a clock runs: a module whose import is interrupted stays broken for all items
    importlib.import_module("transformers.models.xlm_roberta.modeling_xlm_roberta")
    real_sizes.jobs()
    for item in Bench(device, TINY if args.tiny else FULL).items():
        row, left = {"section": item.section, "item": item.name}, TOTAL - (time.monotonic() - begin)
        if args.tiny:  # on a busy CPU
            item, left = item._replace(seconds=3600), 3600.0
        row |= measure(item, left)
        report["rows"].append(row)
        report["seconds"] = round(time.monotonic() - begin, 1)
        print(
            f"{report['seconds']:5.0f} s",
            *(f"{key}: {shown(value)}" for key, value in row.items()),
            sep="  ",
            flush=True,
        )
        for name, text in {"gpu.json": json.dumps(report, indent=1) + "\n", "gpu.md": page(by_hand, report)}.items():
            part = args.to / f"{name}.part"
            part.write_text(text, encoding="utf-8")
            part.replace(args.to / name)
    return int(any("failed" in row for row in report["rows"]))


if __name__ == "__main__":
    sys.exit(main())
