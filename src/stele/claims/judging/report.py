"""Pages about a folder of results, filled from a template with numbers of that folder only.

A sentence about a claim names the verdict that it states (`claim("msm/bias", "undecided")`): if the actual verdict
differs, filling the page fails and the sentence has to be rewritten.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stele.artifacts import records
from stele.artifacts.results import result_files
from stele.catalogue.models import model_label
from stele.claims.judging import trainings
from stele.errors import SteleError, check_known, unknown
from stele.files.reading import reading

UNCOMMITTED = "+"  # ends the commit of a result whose tree had changes


def fill(template: Path, facts: Mapping[str, Any]) -> str:
    """Fills a Jinja template with `facts`. Raises SteleError for a template that is missing or cannot be filled."""
    import jinja2

    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["signed"] = lambda number, decimals=1: f"{number:+z.{decimals}f}"
    environment.filters["label"] = model_label
    environment.filters["rounded"] = lambda number, decimals=1: f"{number:z.{decimals}f}"
    with reading(template, "template"):
        text = template.read_text(encoding="utf-8")
    try:
        return environment.from_string(text).render(**facts)
    except jinja2.TemplateError as error:
        raise SteleError(f"{template}: {error}") from None


def page_facts(folder: Path, claims: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Variables and functions for a template: `claims` holds facts of judged claims, the rest is read from `folder`.

    While filling, SteleError is raised for an unknown claim, and for a verdict that differs from the stated one.
    """
    by_name = {f"{row['paper']}/{row['key']}": row for row in claims}
    commits = [str(records.read_record(path).get("commit")) for path in result_files(folder, each_seed=True)]
    pretrainings = list(trainings.kept(folder).values())

    def claim(name: str, state: str) -> Mapping[str, Any]:
        check_known("claim", name, by_name)
        if by_name[name]["state"] != state:
            raise SteleError(f"the page says that {name} is {state}, but it is {by_name[name]['state']}; rewrite it")
        return by_name[name]

    def count(paper: str, state: str, main: bool, once: bool = False) -> int:
        rows = [row for row in claims if (row["paper"], row["state"], row["main"]) == (paper, state, main)]
        return sum(not (once and row["same_as"]) for row in rows)

    def learnt(model: str, task: str) -> dict[str, float]:
        for training in pretrainings:
            if (training["model"], training["seed"]) == (model, 0):
                return {"chance": training["chance"][task], "loss": training["losses"][task]}
        raise unknown("model", model, [training["model"] for training in pretrainings])

    undecided_main = [row for row in claims if row["main"] and row["detectable"] is not None]
    return {
        "claim": claim,
        "claims": claims,
        "count": count,
        "learnt": learnt,
        "results": len(commits),
        "uncommitted": sum(commit.endswith(UNCOMMITTED) for commit in commits),
        "undecided_main": undecided_main,
        "too_small": [row for row in undecided_main if abs(row["printed_difference"] or 0) < row["detectable"]],
        "seconds": sorted(training["cpu_seconds"] for training in pretrainings),
    }
