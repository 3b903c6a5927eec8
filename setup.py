"""What pyproject.toml cannot say: a wheel carries the workflow's files, which `stele new FOLDER` lays down."""

import sys
from collections import defaultdict
from pathlib import Path

from setuptools import setup

sys.path.insert(0, "src")
from stele.files.paths import FILES

files = defaultdict(list)
for part in map(Path, FILES):
    for path in [part] if part.is_file() else sorted(part.rglob("*")):
        if path.is_file():
            files[str("share/stele" / path.parent)].append(str(path))

setup(data_files=[*files.items()])
