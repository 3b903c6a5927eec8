"""One file under a second name."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def link_or_copy(source: Path, target: Path) -> None:
    """A second name for the same bytes where the file system can, else a copy; a target that is there is an error."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        shutil.copyfile(source, target)
