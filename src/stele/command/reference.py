"""The page of all commands and their flags, for the site of the documentation (docs/conf.py)."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from stele.command.cli import PACKAGE, commands
from stele.command.parse import application, job_type
from stele.command.stages import ALONE, GROUPS

HEAD = """# Commands

Each command and its flags, from the classes of their jobs; `stele STAGE COMMAND --help` shows examples, too."""


def page() -> str:
    """The page, in Markdown."""
    sections = [HEAD, *(section for stage in GROUPS for section in _sections(stage, PACKAGE))]
    return "\n".join([*sections, *_sections("", "stele_world")])


def _sections(stage: str, package: str) -> Iterator[str]:
    """The heading of a stage, and the section of each of its commands."""
    yield f"\n## {stage or package}"
    for name, text in commands(stage, package).items():
        module = importlib.import_module(".".join(filter(None, (package, stage, name))))
        words = [package.replace("_", "-"), stage, *([] if name == stage and stage in ALONE else [name])]
        job = job_type(module.run)
        job.describe()
        app = application(job, " ".join(filter(None, words)), "")
        app.help, app.usage = text, ""
        yield "\n" + app.generate_docs(output_format="markdown", heading_level=3).strip()
