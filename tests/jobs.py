"""A command's job from the words of its command line."""

from collections.abc import Sequence
from types import ModuleType

from stele.artifacts import records
from stele.command.arguments import Job
from stele.command.parse import job_type, parse


def job(command: ModuleType, line: Sequence[str]) -> Job:
    """The job of a command's module, whose clock starts."""
    records.begin()
    return parse(job_type(command.run), line)
