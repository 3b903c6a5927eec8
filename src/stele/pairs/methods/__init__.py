"""Methods of mining: a file here is one, named as the method is, and has the functions of one of three kinds.

Nothing lists the methods, and each is known to reruns by its own file: a change of one mines no other again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from stele.errors import SteleError
from stele.files.reading import parse_object
from stele.recipes.mining import MiningRecipe, parse_recipe
from stele.registry import load_named

if TYPE_CHECKING:
    import numpy as np

    from stele.pairs.mining.segments import Page, Tokens


@runtime_checkable
class DocumentMethod(Protocol):
    """A method that makes examples of the tokens of one document after another (`pairs mine`)."""

    def examples(
        self, tokens: Tokens, recipe: Any, rng: Callable[[], np.random.Generator], counts: Counter[str]
    ) -> Iterator[list[np.ndarray]]:
        """The examples of a document, each a list of segments, uint32 [tokens]; counts what is cut and dropped.

        `rng()` gives the random numbers of this document.
        """


@runtime_checkable
class KnowledgeMethod(Protocol):
    """A method that makes pairs of texts of knowledge bases (`pairs knowledge_pairs`)."""

    LANGUAGES: int  # of a part: 1 or 2

    def candidates(self, bases: Sequence[Any], recipe: Any, key: int) -> Iterator[Any]:
        """All possible pairs by numbers, batches of `Candidates`; `bases` are the languages' `Knowledge`."""

    def query(self, page: Page, place: int, recipe: Any) -> str | None:
        """The text of a query, None where the page has none at the place that `candidates` gave."""

    def passage(self, page: Page, place: int, recipe: Any) -> str | None:
        """The text of a passage."""


@runtime_checkable
class SectionMethod(Protocol):
    """A method that matches the sections of pages in two languages (`pairs section_pairs`)."""

    LANGUAGES: int

    def matches(self, bases: Sequence[Any], sides: Sequence[Any], recipe: Any, dropped: Counter[str]) -> Any:
        """The matched sections of all entities, a batch at a time; counts those that are dropped."""


COMMANDS = {DocumentMethod: "mine", KnowledgeMethod: "knowledge_pairs", SectionMethod: "section_pairs"}
M = TypeVar("M", DocumentMethod, KnowledgeMethod, SectionMethod)


def load_method(text: str, kind: type[M]) -> tuple[M, MiningRecipe]:
    """(method, its recipe) from the JSON text of --recipe.

    Raises SteleError for a recipe that is wrong, and for a method of another `kind`.
    """
    recipe = parse_recipe(parse_object(text, "--recipe"))
    method = load_named(__name__, recipe.method, "mining method")
    if not isinstance(method, kind):
        other = next(command for each, command in COMMANDS.items() if isinstance(method, each))
        raise SteleError(f"--recipe: {recipe.method} examples are made by `pairs {other}`, not by this command")
    return method, recipe
