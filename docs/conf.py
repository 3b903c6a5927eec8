"""The site of the documentation, for Sphinx: `make docs`, strict (a link that leads nowhere ends it)."""

import json
import re
from pathlib import Path

from sphinx.errors import ExtensionError

from stele.command import reference

ROOT = Path(__file__).parents[1]

project = html_title = "Stele"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
exclude_patterns = ["_site"]
myst_heading_anchors = 4  # so that #headings can be linked


def write_reference(app) -> None:
    """reference/commands.md, from the jobs' classes, and reference/config.md, from the schema of config.yaml."""
    Path(app.srcdir, "reference/commands.md").write_text(reference.page() + "\n", encoding="utf-8")
    schema = json.loads((ROOT / "config.schema.json").read_text(encoding="utf-8"))
    lines = ["# config.yaml", "", "The file itself has every key with its default.", ""]
    lines += ["| key | what it is |", "| --- | --- |"]
    for key, field in schema["properties"].items():
        described = field.get("description", "").replace("|", r"\|")
        lines.append(f"| `{key}` | {described} |")
    Path(app.srcdir, "reference/config.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


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
