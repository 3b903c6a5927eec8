"""The YAML files of this package, which are checked before the internet is generated from them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from stele.catalogue import read_yaml
from stele.catalogue.schema import Facts
from stele.files.strict import Values, validate
from stele_world.content.concepts import check_concepts
from stele_world.language.scripts import check_scripts
from stele_world.writers.collections import Layouts
from stele_world.writers.dump import Names, OtherPages

FILES: dict[str, Callable[[Facts, str], None]] = {
    "stele_world/content/concepts.yaml": check_concepts,
    "stele_world/language/scripts.yaml": check_scripts,
    "stele_world/writers/namespaces.yaml": partial(validate, dict[str, Names]),
    "stele_world/writers/other_pages.yaml": partial(validate, OtherPages),
    "stele_world/writers/collections.yaml": partial(validate, Layouts),
}


def read(name: str) -> Values:
    """Reads one of the files named in FILES."""
    return read_yaml(Path(__file__).parents[1] / name)


def check_files() -> None:
    """Raises SteleError for the first invalid file; names the file, the key and the nearest valid key."""
    for name, check in FILES.items():
        check(read(name), name)
