"""docs/security.md: every place has a guard and a test that is there."""

import re


def test_the_tests_that_the_page_names_are_there(root):
    page = (root / "docs/security.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 25
    for file, test in named:
        text = (root / file).read_text()
        assert not test or re.search(rf"^def {test}\(", text, re.MULTILINE), f"{file}::{test}"


def test_names_become_paths_in_one_place(root):
    """What writes under a name from outside does so by `inside` (or `put` and `link`, which do)."""
    for file in ("sources/download/put.py", "sources/download/unpack.py", "sources/weights/convert.py"):
        assert "inside(folder, " in (root / "src/stele" / file).read_text(), file
    for file in ("sources/checkpoint.py", "sources/dataset.py", "sources/datasets/local.py"):
        text = (root / "src/stele" / file).read_text()
        assert not re.search(r"symlink_to|os\.link|copyfile|open\([^)]*\"w", text), file
