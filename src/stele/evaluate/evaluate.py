"""Evaluate an encoder as it is: a hub id, a folder, or a model's key, on several benchmarks.

    stele evaluate intfloat/multilingual-e5-large
    stele evaluate OWNER/NAME --benchmarks mrtydi --languages sw te --encoding query_prompt="query: "
    stele evaluate FOLDER --plan                    # downloads, disk and hours; nothing is run
    stele evaluate OWNER/NAME --snakemake --profile slurm # the last: options of Snakemake

Writes evaluate/NAME.yaml, a configuration like any other, prints the command that builds its results and its result
card (results_evaluate/cards/NAME.md and .html), and runs it.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue import read_yaml
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.config.model import parse_config
from stele.errors import SteleError, unknown
from stele.files.atomic import atomic_file
from stele.files.paths import inside
from stele.plan.cards import DEFAULT
from stele.plan.plan import make_plan

FOLDER = Path("evaluate")
RESULTS = "results_evaluate"  # of all models that are evaluated so, apart from those of the papers' tables


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a hub id, a folder, or a key of models.yaml")
    parser.add_argument("--benchmarks", nargs="+", metavar="NAME", help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--languages", nargs="+", metavar="CODE", help="default: all of each benchmark")
    parser.add_argument("--scale", default="paper", help="default: real data (%(default)s)")
    parser.add_argument("--encoding", nargs="+", default=[], metavar="KEY=VALUE", help="how it makes vectors")
    parser.add_argument(
        "--snakemake", nargs=argparse.REMAINDER, default=[], metavar="OPTION", help="the last: options of Snakemake"
    )
    parser.add_argument("--plan", action="store_true", help="show what it takes and run nothing")


def run(args: argparse.Namespace) -> None:
    name, own = model_of(args.model, encoding_of(args.encoding))
    path = inside(FOLDER, f"{name}.yaml", f"the model {args.model}")
    benchmarks = known_benchmarks(args.benchmarks or DEFAULT)
    given = configuration(args.scale, name, own, args.languages, benchmarks)
    plan = make_plan(parse_config({**read_yaml("config.yaml"), **given}))
    targets, card = [plan.paths.result(row) for row in plan.cards.rows_of(name)], plan.paths.card(name)
    write(path, given)
    arguments = [*targets, card, "--configfile", str(path), *args.snakemake]
    print(f"snakemake {shlex.join(arguments)}", flush=True)
    if args.plan:
        print(cost(targets, path, f"{name} on {', '.join(benchmarks)}"))
        return
    finished = subprocess.run([sys.executable, "-m", "snakemake", *arguments], check=False)
    if finished.returncode:
        raise SteleError(f"Snakemake ended with {finished.returncode}; the same command goes on where it stopped")
    print(f"Result card: {card}, {Path(card).with_suffix('.html')}")
    print(f"Beside published numbers: stele tables references --results-dir {RESULTS}")


def model_of(given: str, encoding: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The key of a model and what config.yaml is to say of it: nothing of a known one, but an encoding of one's own."""
    said = {"encoding": encoding} if encoding else {}
    known = catalogue.entries(Model)
    of_id = {model.checkpoint: key for key, model in known.items() if model.checkpoint}
    if Path(given).expanduser().is_dir():
        folder = Path(given).expanduser().resolve()
        return _key(folder.name, known), {"checkpoint": str(folder), **said}
    if key := given if given in known else of_id.get(given):
        if not known[key].has_encoder:
            raise SteleError(f"{given}: has no encoder")
        return key, said
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", given):
        raise unknown("model", given, known, "no folder, no hub id (OWNER/NAME)")
    return _key(given.partition("/")[2], known), {"checkpoint": given, **said}


def _key(name: str, known: Any) -> str:
    """A key of a model's own, from the name of its folder or repository."""
    key = re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip("_.-") or "model"
    return f"{key}_own" if key in known else key


def encoding_of(pairs: Sequence[str]) -> dict[str, Any]:
    """KEY=VALUE texts as keys of an encoding; a value is read as YAML reads it, but for the blanks of a prompt."""
    import yaml

    encoding = {}
    for pair in pairs:
        key, separator, text = pair.partition("=")
        if not separator or not key:
            raise SteleError(f"--encoding: want KEY=VALUE, found {pair!r}")
        encoding[key] = text if key.endswith("_prompt") or key == "instruction" else yaml.safe_load(text)
    return encoding


def configuration(
    scale: str, name: str, own: dict[str, Any], languages: Sequence[str] | None, benchmarks: Sequence[str]
) -> dict[str, Any]:
    """The keys of config.yaml of one evaluation."""
    given: dict[str, Any] = {"scale": scale, "results_dir": RESULTS, "cards": {name: list(benchmarks)}}
    if languages:
        given["languages"] = list(languages)
    return {**given, "models": {name: own}} if own else given


def known_benchmarks(names: Sequence[str]) -> Sequence[str]:
    """The names, each that of a benchmark."""
    known = catalogue.entries(Benchmark)
    for name in names:
        if name not in known:
            raise unknown("benchmark", name, known)
    return names


def write(path: Path, given: dict[str, Any]) -> None:
    import yaml

    head = "# written by `stele evaluate`; a configuration like any other, for --configfile\n"
    with atomic_file(path) as handle:
        handle.write(head + yaml.safe_dump(given, allow_unicode=True, sort_keys=False))


def cost(targets: Sequence[str], config: Path, named: str) -> str:
    """Downloads, disk and hours of building the targets, `named` so, and all that they still need."""
    from stele.cluster import cost_table, settings
    from stele.cluster.planned_jobs import planned
    from stele.cost.work import device

    plan, jobs = planned([*targets, "--configfile", str(config)], False, leave_out="")
    return cost_table.markdown(plan, jobs, device(settings.read().gpu_model), False, named)
