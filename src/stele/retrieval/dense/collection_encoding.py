"""How a job encodes the collections of a benchmark: whole or in windows, moved or not, into its state folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stele.benchmarks.types import Passage, QuerySet
from stele.errors import SteleError
from stele.recipes.search import TokenWindows, Windows
from stele.retrieval.calibration.moves import Moves
from stele.retrieval.dense.collection import EncodedCollection
from stele.retrieval.dense.processes import ProcessGroup
from stele.retrieval.dense.query_vectors import unmoved
from stele.retrieval.dense.token_windows import by_tokens
from stele.retrieval.dense.windows import DocumentWindows, Split, by_sentences
from stele.retrieval.searches.search_job import expected_passages

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder


@dataclass(frozen=True)
class CollectionEncoding:
    """What all collections of a job have in common; `key` says what their vectors are made from.

    passages: name of a collection -> its passages, read from their beginning; inputs: name -> record of the data, which
    count them for the estimate; whole: whether all of them are encoded.
    """

    passages: Callable[[str], Iterator[Passage]]
    inputs: Mapping[str, Path]
    encoder: Encoder
    processes: ProcessGroup
    state: Path
    key: str
    normalize: bool
    windows: Windows | TokenWindows | None
    moves: Moves | None = None
    whole: bool = True

    def encode(self, name: str, query_sets: Sequence[QuerySet], kept: Path | None) -> EncodedCollection:
        """A collection, which these query sets search, with its vectors; they are to stay in `kept`."""
        windows = self._windows(name, query_sets) if self.windows else None
        collection = EncodedCollection(
            name,
            self.state / "collections" / name,
            windows.read if windows else lambda: self.passages(name),
            self.encoder,
            self.processes,
            key=self.key,
            normalize=self.normalize,
            kept=kept,
            move=self.moves.of_collection(name) if self.moves else unmoved,
            windows=windows,
        )
        counted = self.whole and not windows
        collection.encode(expected_passages(self.inputs, name, "passages", "candidates") if counted else None)
        return collection

    def _windows(self, name: str, query_sets: Sequence[QuerySet]) -> DocumentWindows:
        kept = {"file": self.state / "windows" / f"{name}.json", "key": self.key, "writes": self.processes.is_main}
        return DocumentWindows(lambda: self.passages(name), self._split(name, query_sets), **kept)

    def _split(self, name: str, query_sets: Sequence[QuerySet]) -> Split:
        """How a collection's documents are cut; sentences are those of the language of its queries."""
        if isinstance(self.windows, TokenWindows):
            return by_tokens(self.encoder, self.windows)
        languages = {query_set.language for query_set in query_sets}
        if len(languages) > 1:
            raise SteleError(
                f"--windows: the documents of collection {name} must be in one language, to be split into sentences; "
                f"its queries are in {', '.join(sorted(languages))}"
            )
        return by_sentences(languages.pop(), self.windows)
