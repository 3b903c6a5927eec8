"""A command's job: one typed class that defines its command line, its help and its page in the docs.

A field is a flag: its name and type determine how it is written, a default makes it optional, and the text below it is
its help. The types here are shared by several jobs: counts, seeds, records, outputs that can be written. A value that a
type refuses is wrong usage; an output that must not be written raises SteleError.

    class Finetune(Job):
        encoder: Record
        seed: Seed
        limit: Count | None = None
"""

import ast
import inspect
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from stele.errors import SteleError
from stele.files.atomic import RECORD, check_marked, check_record, check_replaceable, is_made
from stele.files.paths import relative
from stele.files.reading import LARGEST_SEED

T = TypeVar("T")
POSITIONAL = "positional"


class Job(BaseModel):
    """The inputs, the recipe, the seed and the outputs of one run of a command."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False)

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Makes each field a named option of the command line (`--field`), unless it is `Positional`."""
        for field in cls.model_fields.values():  # as cyclopts reads it
            field.kw_only = POSITIONAL not in field.metadata

    @classmethod
    def describe(cls) -> None:
        """Sets each field's description, which only the help shows, to the text below the field.

        Pydantic's `use_attribute_docstrings` would search all loaded modules for the source at every start of a job.
        """
        for part in cls.__mro__[: cls.__mro__.index(Job)]:
            (definition,) = ast.parse(dedent(inspect.getsource(part))).body
            for declared, below in pairwise(definition.body):
                match declared, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        field = cls.model_fields[name]
                        field.description = inspect.cleandoc(text)


def ends_in(*endings: str) -> AfterValidator:
    """Validator of a file to write: raises SteleError before the work if its suffix is not in `endings`."""

    def check(file: Path) -> Path:
        if file.suffix not in endings:
            raise SteleError(f"{file}: want a file that ends in {' or '.join(endings)}, which names its format")
        if file.is_dir():
            raise SteleError(f"{file}: it is a folder; want a file that ends in {' or '.join(endings)}")
        return file

    return AfterValidator(check)


def record_of(job: str) -> AfterValidator:
    """Validator of the record.json of a folder that `job` writes: raises SteleError if it must not replace that.

    It must not if the job's own --state is in the folder, or the folder in that.
    """

    def check(record: Path, options: ValidationInfo) -> Path:
        if record.name != RECORD:
            raise SteleError(f"{record}: the record of a folder is called {RECORD}; write {record / RECORD}")
        check_replaceable(record.parent, job)
        state, folder = options.data.get("state"), record.parent.resolve()
        if state and (state.resolve().is_relative_to(folder) or folder.is_relative_to(state.resolve())):
            raise SteleError(f"--state {state}: give a folder beside that of --output, {record.parent}")
        return record

    return AfterValidator(check)


def record_beside(job: str, folders: Sequence[str], *files: str) -> AfterValidator:
    """Validator of a record with folders and files next to it: raises SteleError if `job` did not write what exists."""

    def check(record: Path) -> Path:
        check_record(record, job)
        places = [record.parent / folder for folder in folders]
        for place in places:
            check_replaceable(place, job)
        for file in (record.parent / name for name in files if not any(is_made(place, job) for place in places)):
            if file.exists():
                raise SteleError(f"{file}: exists, and is not an output of `{job}`; give another folder")
        return record

    return AfterValidator(check)


def check_beside_record(file: Path, job: str) -> Path:
    """Returns the path of a file whose record is the .json next to it. Raises SteleError if `job` did not write both.

    A file without a record is another's, since Snakemake deletes both before a job.
    """
    record = file.with_suffix(".json")
    check_record(record, job)
    if file.exists() and not record.exists():
        raise SteleError(f"{file}: exists, and is not an output of `{job}`; give another name, or remove it first")
    return file


def record_as_json(job: str) -> AfterValidator:
    """Validator of a file whose record is the .json next to it (`check_beside_record`)."""
    return AfterValidator(partial(check_beside_record, job=job))


def named_paths(arguments: Sequence[str], option: str, form: str = "LANGUAGE=RECORD") -> dict[str, Path]:
    """Parses the values of an option, each of a `form` such as STORE:PART=RECORD, to paths by name.

    Raises SteleError for a value of another form, and for a name that is given twice.
    """
    paths: dict[str, Path] = {}
    for item in arguments:
        name, equals, path = item.partition("=")
        if not (name and equals and path) or name.count(":") != form.count(":"):
            raise SteleError(f"{option} {item!r}: want {form}")
        if name in paths:
            raise SteleError(f"{option}: {name} is given twice; give it once")
        paths[name] = Path(path)
    return paths


Positional = Annotated[T, POSITIONAL]  # these fields come first
Some = Annotated[tuple[T, ...], Parameter(consume_multiple=1)]  # at least one
Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED, description="Seed of all random choices.")]
Record = Annotated[Path, Parameter(metavar="RECORD")]
Name = Annotated[str, AfterValidator(partial(relative, where="name of files"))]  # part of an output's name
FigureFile = Annotated[Path, ends_in(".svg", ".pdf", ".png"), AfterValidator(check_marked)]
Json = Annotated[str, Parameter(metavar="JSON")]
NewRecord = Annotated[
    Record, Field(description="The record (JSON) to write; the job's other files are written beside it.")
]

# arguments that many jobs share
Datasets = Annotated[
    Some[str], Field(description="Data as DATASET[:PART]=PATH ...; each PATH is a record.json, a folder or a file.")
]
State = Annotated[Path, Field(description="Folder for the state of an unfinished run, which resumes from it.")]
Code = Annotated[
    str,
    Field(
        description="Fingerprint of the code, set by the workflow; the job starts anew if it differs from the state's."
    ),
]
Encoding = Annotated[
    Json,
    Field(
        description='Encoding keys that the folder of the encoder does not state, e.g. {"pooling": "mean"}, or such '
        "keys by origin (config, models, scale, benchmark)."
    ),
]
Threads = Annotated[Count | None, Field(description="CPU threads; default: torch's choice.")]
ResultsFolder = Annotated[Path, Field(description="Folder of results.")]
SpecsFolder = Annotated[Path, Field(description="Folder with the papers' tables, figures and claims.")]


class ResumableJob(Job):
    """A job that saves the state of an unfinished run and resumes from it."""

    state: State
    code: Code = ""


class EncoderJob(Job):
    """A job that makes vectors."""

    encoder: Record
    """record.json in the encoder's folder."""
    encoding: Encoding = "{}"
    threads: Threads = None
