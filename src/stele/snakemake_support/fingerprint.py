"""Fingerprints of commands: a hash of all code that a command can reach, so that a change reruns only affected jobs.

Snakemake does not see imported packages, so the fingerprint of a command is a param of its rule. It covers the syntax
trees (no comments, formatting or docstrings) of all modules of Stele that the command's module imports, directly or
indirectly, also inside functions. The rule names modules that are chosen at run time (an objective, a benchmark). A
module that reads facts about languages lists their keys in `LANGUAGE_FACTS`, whose values are covered, too.
"""

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

from stele.catalogue import read_yaml
from stele.files.digests import digest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT.name
LANGUAGES = "catalogue/languages.yaml"
SIBLING = "stele_world"  # the package beside it; its modules are named in full ("stele_world.mirror")


def _root(name: str) -> Path:
    """Folder that contains a module or file of this name: ROOT, or its parent for the package `stele_world`."""
    return ROOT.parent if re.match(rf"{SIBLING}\b", name) else ROOT


def _name(module: str) -> str:
    """Short name of a module: "training.loop" for "stele.training.loop"; "" for a module of another project."""
    package, _, rest = module.partition(".")
    if package == PACKAGE:
        return rest
    return module if package == SIBLING else ""


@cache
def _files(root: Path) -> dict[str, Path]:
    """Module -> its file, for both packages: "training.loop", "training" (its __init__), "stele_world.mirror"."""
    files = {}
    for folder, above in ((root, []), (root.parent / SIBLING, [SIBLING])):
        for path in folder.rglob("*.py"):
            module = [*above, *path.relative_to(folder).with_suffix("").parts]
            files[".".join(module[:-1] if path.name == "__init__.py" else module)] = path
    return files


def _strip_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [statement for statement in node.body if not _is_text(statement)]
            if not getattr(node, "type_params", True):  # Python 3.11 has no such field
                del node.type_params
    return tree


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is only a string: a docstring, or the help text below a field."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def source_digest(source: str) -> str:
    """Digest of code that ignores comments, formatting and docstrings, and is the same in each version of Python."""
    whole = {"show_empty": True} if sys.version_info >= (3, 13) else {}  # all fields, as in earlier versions
    return hashlib.sha256(ast.dump(_strip_docstrings(ast.parse(source)), **whole).encode()).hexdigest()


@cache
def _read(module: str) -> tuple[str, frozenset[str]]:
    """Returns the digest of a module and the modules of Stele that it imports.

    Parsing would take seconds at every start of Snakemake, so the result is cached beside Python's own compiled files,
    keyed by the digest of the source.
    """
    path = _files(ROOT)[module]
    source, cached = path.read_bytes(), path.parent / "__pycache__" / f"{path.stem}.fingerprint.json"
    key = hashlib.sha256(source).hexdigest()
    with suppress(OSError, ValueError):
        cached_key, code_digest, imported = json.loads(cached.read_text())
        if cached_key == key:
            return code_digest, frozenset(imported)
    text = source.decode()
    code_digest, imported = source_digest(text), _imported(text, path)
    with suppress(OSError):  # a package may be read-only; half a file is no JSON, and so no harm
        cached.parent.mkdir(exist_ok=True)
        cached.write_text(json.dumps([key, code_digest, sorted(imported)]))
    return code_digest, imported


def _imported(source: str, path: Path) -> frozenset[str]:
    """Modules of Stele that a file imports, by their short names."""
    package = ".".join(path.relative_to(ROOT.parent).parent.parts)
    modules: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules.update(_name(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            modules.update(map(_name, (module, *(f"{module}.{alias.name}" for alias in node.names))))
    return frozenset(modules)


def closure(modules: Iterable[str]) -> dict[str, str]:
    """Module -> digest, for the given modules and all modules of Stele that they import.

    Stele's own __init__ is left out, since it only serves users of the Python API and no command.
    """
    seen: dict[str, str] = {}
    todo = [module for module in modules if _is_module(module)]
    while todo:
        module = todo.pop()
        if module not in seen:
            seen[module], _ = _read(module)
            todo.extend(_loaded_before(module))
    return seen


def _is_module(name: str) -> bool:
    """Whether a name is that of a module, and not of the package itself or an attribute."""
    return bool(name) and name in _files(ROOT)


@cache
def _loaded_before(module: str) -> tuple[str, ...]:
    """Modules that a module imports, and the packages that contain it, whose __init__ runs first."""
    parts = module.split(".")
    packages = (".".join(parts[:n]) for n in range(1, len(parts)))
    return tuple(filter(_is_module, (*_read(module)[1], *packages)))


def package_modules(package: str) -> list[str]:
    """All modules of a package, for a command that may choose any of them: `package_modules("stele_world.writers")`."""
    folder = _root(package).joinpath(*package.split("."))
    return [f"{package}.{path.stem}" for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]


def package_data(package: str) -> tuple[str, ...]:
    """Paths of all YAML files and templates in a package, as the hashable `data` of `code`."""
    folder = _root(package)
    paths = (path for kind in ("yaml", "j2") for path in folder.glob(f"{package}/**/*.{kind}"))
    return tuple(path.relative_to(folder).as_posix() for path in paths)


@cache
def _language_facts(module: str) -> list[tuple[str, str, object]]:
    """Lists (language, key, value) for the keys of languages.yaml that a module names in `LANGUAGE_FACTS`."""
    named = re.search(r"^LANGUAGE_FACTS = (\(.*\))", _files(ROOT)[module].read_text("utf-8"), re.MULTILINE)
    if not named:
        return []
    keys, languages = ast.literal_eval(named[1]), read_yaml(ROOT / LANGUAGES)
    return [(code, key, facts[key]) for code, facts in languages.items() for key in keys if key in facts]


@cache
def _data_digest(path: Path) -> str:
    """Digest of a data file: of its values if it is YAML, so that comments rerun nothing, else of its bytes."""
    if path.suffix == ".yaml":
        return digest(read_yaml(path))
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def code(command: str, *chosen: str, data: tuple[str, ...] = ()) -> str:
    """Fingerprint of a command ("pretraining.pretrain"), of modules it chooses by name and of data files it reads.

    `data` are files or folders below the package ("catalogue/languages.yaml", "tables/render/templates").
    """
    modules = closure([command, *chosen])
    modules |= {f"{LANGUAGES} of {module}": digest(facts) for module in modules if (facts := _language_facts(module))}
    for name in data:
        root = _root(name)
        path = root / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                modules[file.relative_to(root).as_posix()] = _data_digest(file)
    return digest(modules)
