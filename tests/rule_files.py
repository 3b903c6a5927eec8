"""What the rule files say: each rule's text, its command, its environments, and what that command can import."""

import ast
import re
import sys
from pathlib import Path

from stele.catalogue.schema.costs import rule_facts
from stele.snakemake_support import fingerprint

NOT_CHOSEN = {"tables.render"}  # named for its templates; none of its modules is chosen by name


def rules(root: Path) -> dict[str, str]:
    """Rule -> its text."""
    texts = [path.read_text() for path in sorted((root / "workflow/rules").glob("*.smk"))]
    return {
        name: body for text in texts for name, body in re.findall(r"^rule (\w+):\n((?:(?:    .*)?\n)+)", text, re.M)
    }


def local_rules(root: Path) -> set[str]:
    """The rules that run where the workflow was started."""
    text = "".join(path.read_text() for path in (root / "workflow/rules").glob("*.smk"))
    blocks = re.findall(r"^localrules:\n((?:    .*\n?)+)", text, re.M)
    return {name for block in blocks for name in re.findall(r"\w+", block)}


def command(body: str) -> str | None:
    """The module of a rule's command ("retrieval.retrieve"), None where its shell line calls none."""
    if match := re.search(r"python -m stele_world (\w+)", body):
        return f"stele_world.{match[1]}"
    match = re.search(r"python -m stele(?: --\w+ \S+)*\"?\s*\"? ([a-z_]+) ([a-z0-9_]+)", body)
    return match and f"{match[1]}.{match[2]}"


def environments(rule: str) -> list[str]:
    """The names of the environments that a rule may run in: at generated scales, and at the papers' sizes."""
    name = rule_facts(rule).environment
    return ["cpu", "gpu"] if name == "torch" else [name]


def _trees(modules):
    return (ast.parse(fingerprint._files(fingerprint.ROOT)[name].read_text()) for name in modules)


def _chosen(modules) -> set[str]:
    """Modules of the packages that some modules name in a text: from there one is chosen at run time."""
    texts = {
        node.value.removeprefix("stele.").rstrip(".")
        for tree in _trees(modules)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.startswith(("stele.", "stele_world."))
    }
    packages = {name for name in texts if (fingerprint._root(name) / name.replace(".", "/")).is_dir()} - NOT_CHOSEN
    return {module for package in packages for module in fingerprint.package_modules(package)}


def reach(*modules: str) -> set[str]:
    """All of Stele's modules that a command can load, those that it chooses by name included."""
    actual = set(fingerprint.closure(modules))
    while more := set(fingerprint.closure(_chosen(actual))) - actual:
        actual |= more
    return actual


def foreign(modules) -> dict[str, str]:
    """Top-level module that is neither Python's nor Stele's -> one of the modules that import it, in a function too."""
    collected = {}
    for module, tree in zip(modules, _trees(modules), strict=True):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in (name.partition(".")[0] for name in names):
                if name not in sys.stdlib_module_names and name not in ("stele", "stele_world"):
                    collected.setdefault(name, module)
    return collected
