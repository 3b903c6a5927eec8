"""Papers as folders: the model of `paper.yaml`, which lies beside a paper's tables, figures and claims.

Each folder of `paper_tables/` with a `paper.yaml` is a paper. A paper elsewhere is named by the path of its folder, in
`papers:` of config.yaml and wherever a command takes a paper.
"""

import contextlib
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from pydantic import Field, PrivateAttr

from stele.catalogue import read_yaml
from stele.catalogue.schema.published import Entry
from stele.errors import SteleError, unknown
from stele.files.paths import project_folder
from stele.files.strict import Strict, validate


def _paper_tables() -> Path:
    """Folder paper_tables beside the Snakefile, which need not be the working folder; without one, the package's."""
    folder = Path(os.environ.get("STELE_PROJECT", ""), "paper_tables")
    if not folder.is_dir():
        with contextlib.suppress(SteleError):
            return project_folder() / "paper_tables"
    return folder


PAPER_TABLES = _paper_tables()
FILE = "paper.yaml"
CLAIMS = "claims.yaml"
CORRECTIONS = "corrections.yaml"  # corrects claims.yaml after a study has fixed it by its digest
TODAY = "today"  # tables of today's encoders: no paper's; published numbers are beside ours
# names of pages and folders that no paper may have as its key
PAGES = frozenset({TODAY, "all", "all_tables", "today_tables", "tables", "results", "boxes"})
PAGES |= {"benchmarks", "claims", "how", "index", "model", "models", "parts", "search"}
PATTERN = r"^[a-z0-9_]+$"  # the key becomes part of paths
PLAIN_PATH = r"[\w@%+=:,./-]+"  # allowed in every command of the workflow
PaperKey = Annotated[str, Field(pattern=PATTERN)]


class Citation(Entry):
    """The BibTeX entry of a paper, with its key."""

    key: str = Field(pattern=r"^[A-Za-z0-9_:.-]+$")


class Paper(Strict):
    """Facts about a paper as a whole, for pages."""

    name: str = Field(min_length=1, description="name of the paper on pages, e.g. MSM")
    order: int | None = Field(None, description="place among the papers; papers without one follow, sorted by folder")
    citation: Citation | None = Field(None, description="BibTeX entry of the paper")
    description: str = Field("", description="text that is shown if there is no citation")


class PaperPart(Strict):
    """A table or a figure of a paper, read from the paper's folder."""

    KIND: ClassVar[str]

    paper: PaperKey
    number: int = Field(ge=1)
    _about: Paper | None = PrivateAttr(None)

    @property
    def about(self) -> Paper:
        """The paper; it has only its key as a name if the part was not read from a file."""
        return self._about or Paper(name=self.paper)

    @property
    def rank(self) -> tuple[float, str]:
        return _rank(self.paper, self.about)

    @property
    def id(self) -> str:
        """Short name of the part: `msm/9`."""
        return f"{self.paper}/{self.number}"

    @property
    def file(self) -> str:
        """Path below the folder of tables, without extension: `msm/table_09`, `ccp/figure_01`."""
        return f"{self.paper}/{self.KIND}_{self.number:02d}"


def repeated(kind: str, keys: Iterable[str]) -> Iterator[str]:
    """Yields an error message for each key that is given more than once."""
    yield from (f"{kind} {key!r} is given twice" for key, count in Counter(keys).items() if count > 1)


Part = TypeVar("Part", bound=PaperPart)


def read_part(kind: type[Part], path: Path | str) -> Part:
    """Reads the spec of a table or a figure.

    Raises SteleError, which names the file and the key, for an unknown key, a wrong value or a file in another place.
    """
    folder = Path(path).resolve().parent
    part = validate(kind, read_yaml(path), str(path))
    if (folder.name, Path(path).stem) != (part.paper, Path(part.file).name):
        raise SteleError(f"{path}: holds {part.KIND} {part.number} of {part.paper}, so it belongs at {part.file}.yaml")
    part._about = read_paper(folder)
    return part


def read_paper(folder: Path) -> Paper:
    """Reads a folder's paper.yaml, or that in paper_tables/; without either, the paper has only the folder's name.

    Raises SteleError, which names the file and the key, for an unknown key or a wrong value.
    """
    key = folder.resolve().name
    for path in (folder / FILE, PAPER_TABLES / key / FILE):
        if path.is_file():
            return validate(Paper, read_yaml(path), str(path))
    return Paper(name=key)


def papers_in(specs: Path = PAPER_TABLES) -> dict[str, Paper]:
    """Papers of a folder by key, in the order of pages."""
    papers = {path.parent.name: read_paper(path.parent) for path in specs.glob(f"*/{FILE}")}
    papers.pop(TODAY, None)
    return dict(sorted(papers.items(), key=lambda item: _rank(*item)))


def _rank(key: str, paper: Paper) -> tuple[float, str]:
    return math.inf if paper.order is None else paper.order, key


def paper_folder(name: str, specs: Path = PAPER_TABLES) -> Path:
    """Folder of a paper named by its key or, if the name has a slash, by a path.

    >>> paper_folder("msm"), paper_folder("/data/my_paper").name
    (PosixPath('paper_tables/msm'), 'my_paper')
    """
    return Path(name) if "/" in name else specs / name


def check_papers(names: Sequence[str], place: Callable[[int], str]) -> None:
    """Checks the papers that config.yaml names; `place` says where the n-th one stands.

    Raises SteleError for an unknown key, a path without a valid `paper.yaml`, a folder whose name cannot be a key, a
    link to a folder of another name, and two papers with one key.
    """
    known = papers_in()
    folders: dict[str, Path] = {key: PAPER_TABLES / key for key in known}
    for n, name in enumerate(names):
        folder = paper_folder(name)
        if "/" not in name and name not in known:
            raise unknown("paper", name, known, f"{place(n)} (or give the path of its folder: ./{name})")
        if not (folder / FILE).is_file():
            raise SteleError(f"{place(n)}: {name} is not a paper's folder: it has no {FILE}")
        if not re.fullmatch(PATTERN, folder.name) or not re.fullmatch(PLAIN_PATH, name):
            raise SteleError(
                f"{place(n)}: {name}: the folder's name may hold only a-z, 0-9 and _, and its path only letters, "
                "digits and _ @ % + = : , . / -"
            )
        if (target := folder.resolve()).name != folder.name:
            raise SteleError(f"{place(n)}: {name} links to {target}, which has another name; give that folder")
        if folder.name in PAGES or not folder.samefile(folders.setdefault(folder.name, folder)):
            raise SteleError(f"{place(n)}: {name}: the name {folder.name!r} is taken; give the folder another name")
        read_paper(folder)
