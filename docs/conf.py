"""The site of the documentation, for Sphinx: `make docs`, strict (a link that leads nowhere ends it)."""

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

from stele.catalogue import recipes
from stele.command.cli import commands
from stele.command.groups import ALONE, GROUPS
from stele.command.parse import application, job_type

ROOT = Path(__file__).parents[1]

project = html_title = "Stele"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_show_copyright = False  # the licence is Apache-2.0; else the page ends in "Copyright ©" and no name
exclude_patterns = ["_site"]
smartquotes = False  # "--data" is an option, not a dash
myst_heading_anchors = 4  # so that #headings can be linked


def write_reference(app) -> None:
    """The pages of reference/ that are written by the code: commands, config.yaml and recipes.yaml."""
    schema = json.loads((ROOT / "config.schema.json").read_text(encoding="utf-8"))
    config = ["# config.yaml", "", "The file itself has every key with its default.", ""]
    config += key_table(schema["properties"])
    pages = {"commands": "\n".join(commands_page()), "config": "\n".join(config), "recipes": "\n".join(recipes_page())}
    for name, text in pages.items():
        Path(app.srcdir, f"reference/{name}.md").write_text(text + "\n", encoding="utf-8")


def commands_page() -> Iterator[str]:
    """The lines of reference/commands.md: each command and its flags, from the classes of their jobs."""
    yield "# Commands\n"
    yield "Each command and its flags, from the classes of their jobs;"
    yield "`stele STAGE COMMAND --help` shows examples, too."
    for stage, package in [*((stage, "stele") for stage in GROUPS), ("", "stele_world")]:
        yield f"\n## {stage or package}"
        for name, text in commands(stage, package).items():
            module = importlib.import_module(".".join(filter(None, (package, stage, name))))
            words = [package.replace("_", "-"), stage, *([] if name == stage and stage in ALONE else [name])]
            job = job_type(module.run)
            job.describe()
            app = application(job, " ".join(filter(None, words)))
            app.help, app.usage = text, ""
            yield "\n" + app.generate_docs(output_format="markdown", heading_level=3).strip()


def recipes_page() -> Iterator[str]:
    """The lines of reference/recipes.md: the keys of each section's recipes, from their pydantic models."""
    yield "# recipes.yaml"
    yield "\nThe keys of each section's recipes. A key without a default must be given. [Add one](../adding/recipe.md)."
    for section, kind in recipes.KINDS.items():
        schemas = {name: model.model_json_schema() for name, model in recipes.models(section).items()}
        first, *others = (schema["properties"] for schema in schemas.values())
        shared = {key: field for key, field in first.items() if all(other.get(key) == field for other in others)}
        yield from (f"\n## {section}\n", f"Each entry is a {kind}.\n", *key_table(shared, defaults=True))
        for name, schema in schemas.items():
            rest = {key: field for key, field in schema["properties"].items() if key not in shared}
            if rest:
                yield from (f"\n### {section}: {name}\n", *key_table(rest, defaults=True))
        parts = {name: part for schema in schemas.values() for name, part in schema.get("$defs", {}).items()}
        for name, part in parts.items():
            yield from (f"\n### {section}: {name}\n", *key_table(part["properties"], defaults=True))


def key_table(fields: Mapping[str, Any], defaults: bool = False) -> Iterator[str]:
    """The lines of a table of a JSON schema's properties."""
    yield "| key | what it is |"
    yield "| --- | --- |"
    for key, field in fields.items():
        texts = [field.get("description") or (field.get("type", "") if defaults else "")]
        if defaults:
            texts += _values(field)
            texts += [f"default {json.dumps(field['default'])}"] if "default" in field else []
        described = "; ".join(filter(None, texts)).replace("|", r"\|")
        yield f"| `{key}` | {described} |"


def _values(field: Mapping[str, Any]) -> Iterator[str]:
    """The values that a property may have, where they are listed, and the part whose keys it has."""
    for choice in (field, *field.get("anyOf", ())):
        if "enum" in choice:
            yield f"one of {', '.join(map(str, choice['enum']))}"
        if "$ref" in choice:
            yield f"the keys of {choice['$ref'].rpartition('/')[2]}"


def drop_links_out(app, page: str, source: list[str]) -> None:
    """A link to a file of the project that is no page becomes its text; ExtensionError where there is no such file."""
    folder = Path(app.srcdir, page).parent

    def shown(link: re.Match) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(app.srcdir) or ":" in link[2]:
            return link[0]
        if not target.exists():
            raise ExtensionError(f"{page}: {link[2]} is not there")
        return link[1]

    source[0] = re.sub(r"\[([^\]]+)\]\(([^)#]+)[^)]*\)", shown, source[0])


def setup(app) -> None:
    app.connect("builder-inited", write_reference)
    app.connect("source-read", drop_links_out)
