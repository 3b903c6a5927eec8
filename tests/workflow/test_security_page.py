"""docs/security.md: every place has a guard and a test that is there."""

import ast
import re

# packages that read folders of results which somebody may have handed over
HANDED = ("claims", "evaluate", "evaluation", "published", "tables")
# what of theirs joins variables to paths without `inside`: names of specs, of our own, of files that were found there
OWN_NAMES = {
    "claims/judge.py": {"into / f'{paper}.{ending}'"},
    "claims/pack.py": {
        "folder / name",
        "folder / path.relative_to(results)",
        "results / name",
        "target.parents[2] / f'{target.parent.name}.parquet'",
    },
    "claims/judging/trainings.py": {"folder / name"},
    "tables/all_tables.py": {"folder / name", "folder / f'{table.file}.json'"},
    "tables/all_tables_pdf.py": {"scratch / f'{tex.stem}.pdf'", "scratch / f'{tex.stem}.log'"},
    "tables/renew_references.py": {
        "clone / 'results' / model.replace('/', '__', 1)",
        "clone / name",
        "clones / about.clone",
    },
    "tables/schema.py": {"args.to / name"},
    "tables/site.py": {
        "project / name",
        "specs / paper",
        "specs / paper.key",
        "folder / 'claims' / f'{paper}.json'",
        "args.to / first",
        "to / path.parent.name",
        "to / path.parent.name / path.stem",
    },
    "tables/table.py": {"(args.output_dir or args.results_dir / 'tables') / table.file"},
}
WRITES = re.compile(r"atomic_\w+|copy\w*|write_\w+|mkdir|symlink_to|rename|save\w*|open")


def test_the_tests_that_the_page_names_are_there(root):
    page = (root / "docs/security.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 25
    for file, test in named:
        text = (root / file).read_text()
        assert not test or re.search(rf"^def {test}\(", text, re.MULTILINE), f"{file}::{test}"


def test_names_become_paths_in_one_place(root):
    """What writes under a name from outside does so by `inside` (or `place_file` and `link_file`, which do)."""
    for file in ("sources/download/unpack.py", "sources/weights/checkpoint_files.py"):
        assert "inside(folder, " in (root / "src/stele" / file).read_text(), file
    for file in ("sources/checkpoint.py", "sources/dataset.py", "sources/download/user_files.py"):
        text = (root / "src/stele" / file).read_text()
        assert not re.search(r"symlink_to|os\.link|copyfile|open\([^)]*\"w", text), file


def test_what_reads_handed_results_joins_no_name_of_theirs_to_a_path_that_it_writes(root):
    package, found = root / "src/stele", {}
    for path in (path for name in HANDED for path in sorted((package / name).rglob("*.py"))):
        tree = ast.parse(path.read_text())
        if joined := set(_joined(tree)) if _writes(tree) else set():
            found[path.relative_to(package).as_posix()] = joined
    assert found == OWN_NAMES


def _writes(tree):
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(WRITES.fullmatch(getattr(call, "attr", "") or getattr(call, "id", "")) for call in calls)


def _joined(tree):
    """`folder / name` and `path.with_name(name)` of a module, where the name is no literal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            name = node.right
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("joinpath", "with_name", "with_stem"):
            name = node.args[0]
        else:
            continue
        constant = isinstance(name, ast.Constant) or (getattr(name, "attr", "") or getattr(name, "id", "")).isupper()
        if not constant and "sum(" not in ast.unparse(node):  # a mean is no path
            yield ast.unparse(node)
