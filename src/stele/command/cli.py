"""The command line: `stele STAGE COMMAND`, or `python -m stele` where the package is not installed.

Options before the stage give the job's nodes, GPUs and CPUs (`stele.command.launch`). A command is the module
`stele/{stage}/{command}.py`: a docstring (its first line is the help), a class of its jobs (`stele.command.arguments`)
and `run(args)`, which runs one. `stele-world COMMAND` runs `stele_world/{command}.py`.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import select
import shutil
import signal
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stele.artifacts import records
from stele.artifacts.integrity import check_inputs
from stele.command.groups import ALONE, GROUPS
from stele.errors import SteleError, UsageError, exhausted, unknown, without_threads

if TYPE_CHECKING:
    from stele.command.launch import Resources

PACKAGE = "stele"  # whose commands are grouped by stages
WRONG_USAGE = 2


def commands(stage: str, package: str = PACKAGE) -> dict[str, str]:
    """Help lines by command, for a stage ("" for the top of a package); read without importing the modules."""
    helps = {}
    for path in sorted((Path(__file__).parents[2] / package / stage).glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "\ndef run(args: " in text:  # by the text: syntax trees take 30 times as long
            helps[path.stem] = text.partition('"""')[2].partition("\n")[0].removesuffix('"""')
    return helps


def _program(package: str) -> str:
    return package.replace("_", "-")


def _usage(package: str) -> str:
    command = "STAGE COMMAND" if package == PACKAGE else "COMMAND"
    return f"usage: {_program(package)} [--nodes N] [--gpus N] [--cpus N] {command} [--flags]"


def _listing(stages: Sequence[str], package: str) -> str:
    lines, listed = [_usage(package), ""], {stage: commands(stage, package) for stage in stages}
    width = max(len(name) for helps in listed.values() for name in helps)
    room = max(60, shutil.get_terminal_size((1000, 24)).columns)  # whole lines where no terminal breaks them
    for stage, helps in listed.items():
        lines += [stage] if stage else []
        for name, text in helps.items():
            lines += textwrap.wrap(f"  {name:<{width}}  {text}", room, subsequent_indent=" " * (width + 4))
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None, package: str = PACKAGE) -> int:
    """Runs one command and returns the exit code: 0 done, 1 an error the user can correct, 2 wrong usage.

    A command whose output pipe is closed (`stele ... | head`) ends silently, with the code of SIGPIPE.
    """
    try:
        try:
            return _main(list(sys.argv[1:] if argv is None else argv), package)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if not _reader_left():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer
        return 128 + signal.SIGPIPE


def _reader_left() -> bool:
    """Whether the broken pipe is standard output, and not another pipe."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)  # poll reports errors in any case
    return bool(poll.poll(0))


def _main(argv: list[str], package: str) -> int:
    groups = GROUPS if package == PACKAGE else ("",)
    try:
        if not argv or argv[0] in ("-h", "--help"):
            print(_listing(groups, package))
            return 0
        for argument in argv:
            if re.search("[\ud800-\udfff]", argument):  # what Python makes of bytes that are not UTF-8
                return _refuse(SteleError(f"the argument {argument!r} is not UTF-8"), WRONG_USAGE, package)
        from stele.command import launch  # what reads arguments takes longer than the list of commands

        resources, argv = launch.options(argv)
        if not argv:
            missing = "stage" if package == PACKAGE else "command"
            return _refuse(SteleError(f"the {missing} is missing\n{_usage(package)}"), WRONG_USAGE, package)
        stage, rest = ("", argv) if groups == ("",) else (argv[0], argv[1:])
        if stage not in groups:
            return _refuse(unknown("stage", stage, groups), WRONG_USAGE, package)
        if stage in ALONE and (not rest or rest[0] not in commands(stage)):
            rest = [stage, *rest]
        if not rest or rest[0] in ("-h", "--help"):
            print(_listing([stage], package))
            return 0
        command, rest = rest[0].replace("-", "_"), rest[1:]
        if command not in (valid := commands(stage, package)):
            return _refuse(unknown(f"command of {stage or _program(package)}", command, valid), WRONG_USAGE, package)
        return _run(resources, package, stage, command, rest)
    except UsageError as error:
        return _refuse(error, WRONG_USAGE, package)
    except SteleError as error:
        return _refuse(error, 1, package)
    except KeyboardInterrupt:
        if full := without_threads():
            return _refuse(full, 1, package)
        return _refuse(SteleError("interrupted"), 128 + signal.SIGINT, package)
    except Exception as error:
        if full := exhausted(error):
            return _refuse(full, 1, package)
        if isinstance(error, OSError) and error.filename is not None:  # what was named cannot be read or written
            return _refuse(SteleError(f"{error.filename}: {error.strerror}"), 1, package)
        raise


def _rank() -> int:
    """Rank of this process among those that share a command; 0 for a single process."""
    return int(os.environ.get("RANK", "0"))


def _refuse(error: SteleError, code: int, package: str) -> int:
    rank = _rank()
    process = f" process {rank}:" if rank else ""
    print(f"{_program(package)}:{process} error: {error}", file=sys.stderr)
    return code


def _speak() -> None:
    """Sends messages to standard error; of several processes, only the first reports progress, all report errors."""
    rank = _rank()
    level, who = (logging.WARNING, f"process {rank}: ") if rank else (logging.INFO, "")
    logging.basicConfig(stream=sys.stderr, level=level, format=f"{who}%(message)s", force=True)
    if rank:
        os.environ |= {"TQDM_DISABLE": "1", "TRANSFORMERS_VERBOSITY": "error"}


def _run(resources: Resources, package: str, stage: str, command: str, arguments: Sequence[str]) -> int:
    from stele.command import launch
    from stele.command.parent_watch import hear_interrupts, watch_driver
    from stele.command.parse import job_type, parse

    hear_interrupts()
    watch_driver()
    _speak()
    if resources.gpus:  # elsewhere the workflow says how many threads a command has
        os.environ |= launch.thread_environment(resources)
    module = importlib.import_module(".".join(filter(None, (package, stage, command))))
    words = [_program(package), stage] if command == stage else [_program(package), stage, command]
    job = parse(job_type(module.run), arguments, " ".join(filter(None, words)), module.__doc__)
    if job is None:  # its help is shown
        return 0
    if "RANK" not in os.environ and launch.RENDEZVOUS not in os.environ:  # once, where several processes share it
        check_inputs(dict(job))
    if resources.gpus or resources.processes > 1:  # what reads YAML is not for each start
        from stele.catalogue.schema.costs import on_gpus, rule_facts

        trains = rule_facts(command).trains
        if resources.processes > 1:
            if command not in (valid := on_gpus(parallel=True)):
                raise SteleError(f"{command} runs in one process; several can share {', '.join(valid)}")
            return launch.launch(resources, [stage, command, *arguments], trains)
        launch.with_gpus(resources, trains)
    records.begin()
    module.run(job)
    return 0
