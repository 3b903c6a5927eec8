"""Evaluate an encoder without training: a hub id, a folder, or a model's key, on several benchmarks.

    stele evaluate intfloat/multilingual-e5-large
    stele evaluate OWNER/NAME --benchmarks mrtydi --languages sw te --encoding query_prompt="query: "
    stele evaluate models/multilingual-e5-small     # a copy of a model of models.yaml, by its name: with its prompts
    stele evaluate FOLDER --name my_e5              # your own model, under a name that you choose
    stele evaluate FOLDER --data my_set/            # your own data set, in BEIR's or MTEB's layout
    stele evaluate FOLDER --plan                    # downloads, disk and hours; nothing is run
    stele evaluate OWNER/NAME --snakemake --profile slurm # options of Snakemake come last

Writes evaluate/NAME.yaml, a configuration like any other, prints the command that builds its results and its result
card (results_evaluate/cards/NAME.md and .html), and runs it. It uses any available GPUs and also runs without one.
"""

import logging
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from cyclopts import Parameter
from pydantic import Field

from stele import catalogue
from stele.catalogue import read_yaml
from stele.catalogue.scales import deep_merge
from stele.catalogue.schema.models import Model
from stele.catalogue.user_documents import UNDETERMINED
from stele.command.arguments import Job, Positional, Some
from stele.command.parent_watch import hear_interrupts
from stele.config.model import parse_config
from stele.config.sources import Sources
from stele.config.user_models import encoding_of, model_of
from stele.config.user_sets import earlier_sets, merged, user_sets
from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.digests import digest
from stele.files.paths import inside
from stele.plan.paths import as_json, flags
from stele.plan.plan import Plan
from stele.plan.scoring import DEFAULT

log = logging.getLogger(__name__)

FOLDER = Path("evaluate")
HEAD = "written by `stele evaluate`; a configuration like any other, for --configfile"
RESULTS = "results_evaluate"  # apart from the results of the papers' tables
# Settings are read without torch, whose import takes two seconds: transformers then counts it as not installed.
WITHOUT_TORCH = "import sys; sys.modules['torch'] = None; from stele.command.cli import main; sys.exit(main())"


class Evaluate(Job):
    model: Positional[str]
    """A hub id, a folder, or a key of models.yaml."""
    name: str | None = None
    """The model's name in paths and tables; default: its repository's or folder's name."""
    benchmarks: Some[str] | None = Field(
        None, description=f"Benchmarks to evaluate on; default: those of --data, else {' '.join(DEFAULT)}."
    )
    data: Some[Path] = ()
    """Folders of your own data sets, in BEIR's or MTEB's layout; each is named after its folder."""
    languages: Some[str] | None = None
    """Languages to evaluate in; default: all languages of each benchmark."""
    scale: str | None = None
    """Scale of the data; default: that of --configfile, else `paper`: all real data."""
    encoding: Some[str] = ()
    """How texts become vectors, as KEY=VALUE ..., e.g. pooling=mean."""
    configfile: Path | None = None
    """File with further keys of config.yaml, e.g. user_data."""
    results_dir: str | None = Field(
        None, description=f"Folder of results; default: that of --configfile, else {RESULTS}."
    )
    snakemake: Annotated[tuple[str, ...], Parameter(allow_leading_hyphen=True)] = ()
    """Options for Snakemake: everything after this flag."""
    plan: bool = False
    """Show downloads, disk, memory and time, and run nothing."""


def run(args: Evaluate) -> None:
    if not Path("config.yaml").is_file():
        raise SteleError("config.yaml: not in this folder; go to a clone, or to a project of `stele new FOLDER`")
    # the model's key, and its entry in config.yaml
    name, model = model_of(args.model, encoding_of(args.encoding), args.name)
    others = read_yaml(args.configfile) if args.configfile else {}
    results_dir = os.path.expanduser(str(args.results_dir or others.get("results_dir") or RESULTS))
    path = configuration_path(name, results_dir, f"the model {args.model}")
    # the configuration of this evaluation, over the user's other keys
    earlier_call = read_yaml(path) if path.is_file() else {}
    declared = merged(read_yaml("config.yaml"), merged(others, earlier_call))
    sets = user_sets(args.data, args.languages, merged({"user_data": sets_with_results(results_dir)}, declared))
    benchmarks = list(dict.fromkeys([*(args.benchmarks or ([] if args.data else DEFAULT)), *sets["user_data"]]))
    of_sets = {code for entry in sets["add_benchmarks"].values() for code in entry["languages"]}
    languages = args.languages and [*args.languages, *(of_sets & {UNDETERMINED})]
    keys = {"languages": languages and list(languages), "models": model and {name: model}, **sets}
    scale = args.scale or others.get("scale") or "paper"
    values = {"scale": scale, "results_dir": results_dir, **{key: of for key, of in keys.items() if of}}
    kept = {key: of for key, of in earlier_call.items() if key not in {*values, *keys, "cards"}}  # edited by hand
    values = deep_merge(values, merged(kept, others))
    # one name, one model; its card keeps the benchmarks of earlier evaluations
    refuse_another(path, values)
    earlier = earlier_benchmarks(path, values, benchmarks)
    values = merged(earlier_sets(path, earlier), values)
    values["cards"] = {name: [*earlier, *benchmarks]}
    # everything is checked before the configuration is written
    plan = plan_of(values)
    targets, card = [plan.paths.result(row) for row in plan.cards.rows_of(name)], plan.paths.card(name)
    check_checkpoint(plan, name)
    arguments = [*targets, card, "--configfile", str(path), *args.snakemake]
    if args.plan:
        with TemporaryDirectory() as aside:
            # a plan must not replace the configuration of existing results
            has_results = path.is_file() and results_of(name, results_dir)
            planned = Path(aside, path.name) if has_results else path
            write(planned, values)
            print(f"snakemake {shlex.join(arguments)}" if planned == path else f"{path}: kept as it is", flush=True)
            print(cost(targets, planned, f"{name} on {', '.join(benchmarks)}", on_slurm(args.snakemake)))
        return
    write(path, values)
    print(f"snakemake {shlex.join(arguments)}", flush=True)
    print(f"Logs: {plan.paths.logs}/", flush=True)
    build(arguments)
    print(f"Result card: {card}, {Path(card).with_suffix('.html')}")
    print(f"Comparison with published numbers: stele tables references --results-dir {results_dir}")


# --- its configuration ------------------------------------------------------------------------------------------------
def plan_of(values: dict[str, Any]) -> Plan:
    """The plan of config.yaml with these values merged over it. Raises SteleError for invalid keys or values."""
    of_file = read_yaml("config.yaml")
    sources = Sources([("config.yaml", of_file), ("this command", values)])
    return Plan(parse_config(deep_merge(values, of_file), sources))


def write(path: Path, values: dict[str, Any], head: str = HEAD) -> None:
    """Writes a file of YAML; `head` is a comment on its first line."""
    import yaml

    with atomic_file(path) as handle:
        handle.write(f"# {head}\n" + yaml.safe_dump(values, allow_unicode=True, sort_keys=False))


def configuration_path(name: str, results_dir: str, where: str) -> Path:
    """Path of a model's configuration: evaluate/NAME.yaml; evaluate/FOLDER/NAME.yaml if that one has another folder.

    Otherwise a call for another folder of results would hide from later calls what the first folder holds. A third
    folder that is called as the second one has its digest behind its name.
    """
    folder = Path(results_dir).resolve()
    for below in ("", f"{folder.name}/", f"{folder.name}-{digest(str(folder))}/"):
        path = inside(FOLDER, f"{below}{name}.yaml", where)
        if not path.is_file() or in_same_folder(read_yaml(path), {"results_dir": results_dir}):
            break
    return path


def refuse_another(path: Path, values: dict[str, Any]) -> None:
    """Raises SteleError if another model or scale already has results under this name in this folder of results.

    Otherwise the results of two models would be taken for one model's.
    """
    before, folder = read_yaml(path) if path.is_file() else values, values["results_dir"]
    if not in_same_folder(before, values) or not results_of(path.stem, folder):
        return
    model = ((of.get("models") or {}).get(path.stem) for of in (before, values))
    scale = (of.get("scale") for of in (before, values))
    for key, (old, new) in {"model": model, "scale": scale}.items():
        if old != new:
            raise SteleError(
                f"{folder} has results of {path.stem} with {key}: {old}, now it is {new}; give --name NAME, or "
                f"--results-dir FOLDER to keep their results apart, or correct in {path} the path of a moved folder"
            )


def results_of(name: str, results_dir: str) -> list[Path]:
    """Results of a model in a folder, by its name."""
    return list(Path(results_dir).glob(f"*/{name}/*.json"))


def sets_with_results(results_dir: str) -> dict[str, str]:
    """Folders, by name, of the user's data sets with results in `results_dir`; a name stands for one set there."""
    calls = [call for path in sorted(FOLDER.rglob("*.yaml")) if (call := read_yaml(path))]
    of_folder = [call.get("user_data") or {} for call in calls if in_same_folder(call, {"results_dir": results_dir})]
    return {name: place for places in of_folder for name, place in places.items() if Path(results_dir, name).is_dir()}


def in_same_folder(before: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether two configurations use the same folder of results, even if its path is written differently."""
    places = {Path(configuration.get("results_dir", "")).resolve() for configuration in (before, values)}
    return len(places) == 1


def earlier_benchmarks(path: Path, values: Mapping[str, Any], benchmarks: Sequence[str]) -> list[str]:
    """Benchmarks of earlier evaluations that stay on a model's card: those with results in the same languages."""
    before, folder = read_yaml(path) if path.is_file() else {}, values["results_dir"]
    if not in_same_folder(before, values):
        return []
    listed = [name for name in before.get("cards", {}).get(path.stem, []) if name not in benchmarks]
    with_results = [name for name in listed if any(Path(folder, name, path.stem).glob("*.json"))]
    old, new = ({*(of.get("languages") or ())} for of in (before, values))
    if with_results and old not in (new, new - {UNDETERMINED} or new):  # the user's own sets add UNDETERMINED
        log.warning("the card leaves out %s, whose results are in other languages", ", ".join(with_results))
        return []
    return with_results


# --- the run ----------------------------------------------------------------------------------------------------------
def check_checkpoint(plan: Plan, name: str, trained: bool = False) -> None:
    """Fetches and checks a checkpoint's files except its weights. Raises SteleError if it is missing or no encoder.

    Skipped for stand-ins. Checkpoints that were fetched before, and the catalogue's unless offline, are known to be
    encoders, so they are checked only if they will be `trained`: for that they need an MLM.
    """
    record, known = Path(plan.paths.checkpoint(name)), catalogue.entries(Model).get(name)
    source = plan.models.checkpoint_source(name)
    is_known = known and source.get("checkpoint") == known.checkpoint and not plan.settings.config.offline
    if plan.world.standin(name) or ((record.exists() or is_known) and not trained):
        return
    place = {"path": str(record.parent)} if record.exists() else plan.sources.checkpoint_locations(name)
    use = {**place, **plan.sources.checkpoint_use(name), "settings_only": True, "trained": trained}
    words = ["--model", name, "--source", as_json(plan.sources.checkpoint_params(name)), *shlex.split(flags(use))]
    words += ["--state", plan.paths.state(f"checkpoint/{name}"), "--output", str(record)]
    command = [sys.executable, "-c", WITHOUT_TORCH, "sources", "checkpoint", *words]
    looked = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if looked.returncode:
        raise SteleError(looked.stderr.rpartition("stele: error: ")[2].strip())


def build(arguments: Sequence[str]) -> None:
    """Runs Snakemake and waits for its end, even after an interrupt. Raises SteleError if not everything was built."""
    hear_interrupts()
    interrupted, environment = False, {"STELE_PROGRESS": "1", **os.environ}
    with subprocess.Popen([sys.executable, "-m", "snakemake", *arguments], env=environment) as process:
        while process.poll() is None:
            try:
                process.wait()
            except KeyboardInterrupt:
                if not (interrupted or _in_foreground()):
                    process.send_signal(signal.SIGINT)  # a terminal signals Snakemake itself, `kill` does not
                interrupted = True
    if process.returncode:
        what = "interrupted" if interrupted else f"Snakemake ended with exit code {process.returncode}"
        raise SteleError(f"{what}; run the same command again to resume")


def _in_foreground() -> bool:
    """Whether Ctrl-C in the terminal reaches this process and its child processes."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False  # no terminal


def on_slurm(options: Sequence[str]) -> bool:
    """Whether Snakemake's options name the profile for SLURM.

    >>> on_slurm(["--profile", "slurm"]), on_slurm(["--profile=profiles/slurm/"]), on_slurm(["--cores", "4"])
    (True, True, False)
    """
    return any(Path(word.rpartition("=")[2]).name == "slurm" for word in options)


def cost(targets: Sequence[str], config: Path, named: str, on_cluster: bool) -> str:
    """Describes the downloads, disk, memory and hours of building the targets, called `named`, and their inputs."""
    from stele.cluster import settings
    from stele.cluster.cost_page import markdown, on_one_machine
    from stele.cluster.work import device
    from stele.snakemake_support.patches.planning import planned

    plan, jobs = planned([*targets, "--configfile", str(config)], False, leave_out="")
    if on_cluster:
        return markdown(plan, jobs, device(settings.read().gpu_model), False, named)
    return on_one_machine(jobs, named, len(os.sched_getaffinity(0)))
