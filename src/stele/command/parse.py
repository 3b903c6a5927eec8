"""Parses a command line into a job, and shows the help of a job's class."""

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter, UnusedCliTokensError
from pydantic import ValidationError

from stele.command.arguments import POSITIONAL, Job
from stele.errors import UsageError
from stele.files.strict import said

AnyJob = TypeVar("AnyJob", bound=Job)


def job_type(run: Callable[[Any], None]) -> type[Job]:
    """The class of the jobs that a command runs: the type of its one argument."""
    return get_type_hints(run)["args"]


def parse(job: type[AnyJob], argv: Sequence[str], program: str = "stele", text: str = "") -> AnyJob | None:
    """Parses a command line into a job; None if its help is shown instead. Raises UsageError for wrong usage."""
    if not {"-h", "--help"}.isdisjoint(argv):
        from rich.console import Console

        job.describe()
        print(text.rstrip(), end="\n\n")
        application(job, program).help_print([], console=Console(width=1000))  # unwrapped: examples can be copied
        return None
    try:
        app, words = application(job, program), _grouped(job, argv)
        return app(words, exit_on_error=False, print_error=False) if words else job()
    except ValidationError as error:
        raise UsageError(_explain(error, job)) from None
    except UnusedCliTokensError as error:
        raise UsageError(f"unexpected: {' '.join(error.unused_tokens or ())}; --help lists the flags") from None
    except CycloptsError as error:
        unknown = [word for word in error.unused_tokens or () if word.startswith("--")]
        if isinstance(error, MissingArgumentError) and unknown and error.argument.name not in unknown:
            names = " ".join(unknown)
            raise UsageError(f"missing: {error.argument.name}\nunexpected: {names}; --help lists the flags") from None
        cause = error.__cause__
        raise UsageError(_explain(cause, job) if isinstance(cause, ValidationError) else str(error)) from None


def application(job: type[Job], program: str) -> App:
    """The Cyclopts application that parses a command line into a job of this class."""

    def identity(args: Job) -> Job:
        return args

    identity.__annotations__["args"] = Annotated[job, Parameter(name="*")]
    if not any(field.is_required() for field in job.model_fields.values()):
        identity.__defaults__ = (job(),)
    app = App(
        name=program,
        help="",
        help_formatter="plain",
        help_format="plaintext",
        help_flags=(),
        version_flags=(),
        # --languages de en; of a value given twice the last one counts; there is no --no-strict
        default_parameter=Parameter(
            consume_multiple=True, allow_repeating=True, negative=(), show_default=_shown_default
        ),
        result_action="return_value",
    )
    app.default(identity)
    return app


def _shown_default(default: Any) -> Any:
    """A default as a user would type it; None if the default is to leave the flag out."""
    if default is False or default in ((), ""):
        return None
    return " ".join(map(str, default)) if isinstance(default, tuple) else default


def flag(job: type[Job], name: str) -> str:
    """Name of a field on the command line."""
    return name.upper() if POSITIONAL in job.model_fields[name].metadata else f"--{name.replace('_', '-')}"


def _explain(error: ValidationError, job: type[Job]) -> str:
    """Error text with one line for all missing flags and one line per invalid flag."""
    missing, lines = [], []
    for finding in error.errors(include_url=False):
        name = flag(job, finding["loc"][0]) if finding["loc"] else ""
        if finding["type"] == "missing":
            missing.append(name)
        else:
            text = str(finding["ctx"]["error"]) if finding["type"] == "value_error" else said(finding)
            lines.append(f"{name}: {text}" if name else text)
    return "\n".join(([f"missing: {', '.join(missing)}"] if missing else []) + lines)


def _grouped(job: type[Job], argv: Sequence[str]) -> list[str]:
    """The words of a command line, with each list of a repeated flag (--system a 1 --system b 2) joined as JSON."""
    of_lists = {
        flag(job, name)
        for name, field in job.model_fields.items()
        if get_origin(field.annotation) is tuple and get_origin(get_args(field.annotation)[0]) is tuple
    }
    words: list[str] = []
    current = ""
    for word in argv:
        current = word if word.startswith("--") else current
        if current in of_lists and word != current:
            values = [] if words[-1] == current else json.loads(words.pop())
            word = json.dumps([*values, word])
        words.append(word)
    return words
