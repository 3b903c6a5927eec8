"""The layers of the package: which part may import which, in one direction, by the graph of its imports.

From the bottom: the shared parts; the stages, and beside them the plan, the cluster, Snakemake's support; the claims
and evaluations. A command's arguments are the stages' only way up. Methods that are chosen by name (`load_named`) are
no imports.
"""

from collections import defaultdict
from graphlib import TopologicalSorter

import grimp
import pytest

from stele.command.groups import STAGES
from tests.conftest import ROOT

SHARED = {
    *("errors", "registry", "progress", "files", "artifacts", "catalogue", "recipes", "config", "papers"),
    *("benchmarks", "evaluation", "training", "encoders", "text", "published"),
}
COMMAND = {"command"}
# what a package may import beside itself
ALLOWED = {
    **dict.fromkeys(SHARED | COMMAND, SHARED),
    **dict.fromkeys(STAGES, SHARED | COMMAND),
    "tables": SHARED | COMMAND | {"claims"},  # the verdicts on claims stand on the papers' pages
    "plan": SHARED,
    "cluster": SHARED | COMMAND | {"plan"},
    "snakemake_support": SHARED | COMMAND | {"plan", "cluster"},
    "claims": SHARED | COMMAND | {"plan", "cluster", "snakemake_support"},
    "evaluate": SHARED | COMMAND | {"plan", "cluster", "snakemake_support"},  # it estimates what its results will cost
    "new": SHARED | COMMAND,
    "adapt": SHARED | COMMAND | {"plan", "cluster", "snakemake_support", "claims", "evaluate"},  # runs as evaluate does
    "__main__": COMMAND,
    "__init__": set(),  # its names are imported when they are used
}
LOOSE = {"__init__", "__main__", "errors", "registry", "progress"}
LONGEST = 11  # tables, claims, snakemake_support, cluster, plan, config, papers, catalogue, recipes, files, errors
# (importer, imported): why
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("stele.encoders.named", "stele.plan.plan"): "an encoder by its model's key is used as the plan says",
    ("stele.encoders.show", "stele.command.arguments"): "a command, whose jobs have a class",
    ("stele.cluster.cost", "stele.snakemake_support.patches.planning"): "a command, whose jobs Snakemake plans",
}


def package(module: str) -> str:
    """The first part of a module's name below `stele`."""
    return module.split(".")[1] if "." in module else "__init__"


@pytest.fixture(scope="module")
def imports():
    """All (importer, imported) between two packages, inside functions and for types alone, too."""
    graph = grimp.build_graph("stele", cache_dir=None)
    pairs = {(module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)}
    return {(module, other) for module, other in pairs if package(module) != package(other)}


@pytest.fixture(scope="module")
def beneath(imports):
    """Package -> the packages that it imports, exceptions left out."""
    actual = defaultdict(set)
    for module, other in imports - EXCEPTIONS.keys():
        actual[package(module)].add(package(other))
    return dict(actual)


def test_the_packages_are_those_whose_layer_is_known():
    folder = ROOT / "src/stele"
    there = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert there | LOOSE == ALLOWED.keys()


def test_the_generated_internet_stands_beside_the_product_which_does_not_know_it():
    graph = grimp.build_graph("stele", "stele_world", cache_dir=None)
    product = {module for module in graph.modules if not module.startswith("stele_world")}
    users = {module for module in product for other in graph.find_modules_directly_imported_by(module) - product}
    assert not users and len(graph.modules - product) > 30
    below = {
        package(other)
        for module in graph.modules - product
        for other in graph.find_modules_directly_imported_by(module) & product
    }
    assert below - {"__main__"} <= SHARED | COMMAND


def test_no_other_module_lies_loose_in_the_package():
    assert {path.stem for path in (ROOT / "src/stele").glob("*.py")} == LOOSE


def test_a_package_imports_the_layers_below_it_alone(imports):
    wrong = {(one, two) for one, two in imports if package(two) not in ALLOWED[package(one)]}
    assert wrong == EXCEPTIONS.keys()


def test_a_stage_imports_of_commands_their_arguments_alone(imports):
    commands = {two for one, two in imports if package(one) in STAGES and package(two) == "command"}
    assert commands == {"stele.command.arguments"}


def test_nothing_but_the_command_line_imports_it(imports):
    assert {one for one, two in imports if two == "stele.command.cli"} == {"stele.__main__"}


def test_packages_import_one_another_in_one_direction(beneath):
    assert list(TopologicalSorter(beneath).static_order())  # a circle is an error that names it


def test_modules_import_one_another_in_one_direction():
    """For types alone, too."""
    graph = grimp.build_graph("stele", cache_dir=None)
    beneath = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert list(TopologicalSorter(beneath).static_order())  # a circle is an error that names it


def test_the_longest_chain_of_imports_between_packages_is_short(beneath):
    chains = {}
    for name in TopologicalSorter(beneath).static_order():
        below = max((chains[other] for other in beneath.get(name, ())), key=len, default=())
        chains[name] = (name, *below)
    longest = max(chains.values(), key=len)
    assert len(longest) <= LONGEST, " -> ".join(longest)
