"""Stand-ins for public checkpoints: one function `make_KIND(recipe, inputs)` for each kind of recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.errors import SteleError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from stele.training.loop import Outcome


@dataclass(frozen=True)
class Inputs:
    """Data, bases and training loop of a stand-in.

    `train(module, loss_at)` runs the training loop and returns its outcome; a third argument is its `after_step`.
    """

    mirror: Path
    languages: Sequence[str]
    bases: Sequence[Path]
    seed: int
    train: Callable[..., Outcome]


@dataclass(frozen=True)
class StandIn:
    """A finished stand-in; `spec` (values of an EncodingSpec) and `heads` are for sentence-transformers folders."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    outcome: Outcome
    spec: Mapping[str, Any] | None = None
    heads: Sequence[Any] = ()


def module_of(kind: str) -> str:
    """Finds the module that makes stand-ins of a kind, by searching the modules' text; imports none.

    Raises SteleError where there is none.
    """
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if f"\ndef make_{kind}(" in path.read_text(encoding="utf-8"):
            return f"stele_world.standins.{path.stem}"
    raise SteleError(f"kind of stand-in {kind!r}: no module of stele_world/standins has a function make_{kind}")
