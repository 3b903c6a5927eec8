"""Mining methods: each file here is one method, has its name, and defines the functions of one of three kinds.

The methods are not listed anywhere, and reruns track each by its own file: changing one method reruns no other.
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
    """A mining method that makes training examples from the tokens of one document at a time (`pairs mine`)."""

    def examples(
        self, tokens: Tokens, recipe: Any, rng: Callable[[], np.random.Generator], counts: Counter[str]
    ) -> Iterator[list[np.ndarray]]:
        """Yields a document's examples, lists of segments, uint32 [tokens]; counts cuts and drops in `counts`.

        `rng()` makes the document's random generator.
        """


@runtime_checkable
class KnowledgeMethod(Protocol):
    """A mining method that pairs texts by the knowledge bases of their languages (`pairs knowledge_pairs`)."""

    LANGUAGES: int  # number of languages in a part: 1 or 2

    def candidates(self, bases: Sequence[Any], recipe: Any, key: int) -> Iterator[Any]:
        """Yields all possible pairs in batches of `Candidates`; `bases` has the `Knowledge` of each language."""

    def query(self, page: Page, place: int, recipe: Any) -> str | None:
        """Text of the query at a place that `candidates` gave; None if the page has no text there."""

    def passage(self, page: Page, place: int, recipe: Any) -> str | None:
        """Text of the passage at a place that `candidates` gave; None if the page has no text there."""


@runtime_checkable
class SectionMethod(Protocol):
    """A method that matches the sections of pages in two languages (`pairs section_pairs`)."""

    LANGUAGES: int

    def matches(self, bases: Sequence[Any], sides: Sequence[Any], recipe: Any, dropped: Counter[str]) -> Any:
        """Yields the matched sections of all entities in batches; counts dropped matches in `dropped`."""


COMMANDS = {DocumentMethod: "mine", KnowledgeMethod: "knowledge_pairs", SectionMethod: "section_pairs"}
M = TypeVar("M", DocumentMethod, KnowledgeMethod, SectionMethod)


def load_method(text: str, kind: type[M]) -> tuple[M, MiningRecipe]:
    """Parses the JSON text of --recipe. Returns (the method's module, the recipe).

    Raises SteleError if the recipe is not valid, or if its method is not of this `kind`.
    """
    recipe = parse_recipe(parse_object(text, "--recipe"))
    method = load_named(__name__, recipe.method, "mining method")
    if not isinstance(method, kind):
        other = next(command for each, command in COMMANDS.items() if isinstance(method, each))
        raise SteleError(f"--recipe: {recipe.method} examples are made by `pairs {other}`, not by this command")
    return method, recipe
