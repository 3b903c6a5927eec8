"""A collection of passages that all processes of a job encode and search together.

Each process encodes its share (processes.py) into its own folder and searches it; the first one keeps the k best of all
parts' k best. A killed job resumes where each process stopped; another number of processes encodes anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stele.artifacts.run_files import checked_id
from stele.benchmarks.types import Passage
from stele.errors import SteleError
from stele.progress import bar
from stele.recipes.search import TokenWindows, Windows
from stele.retrieval.dense.exact_search import TopK
from stele.retrieval.dense.processes import ProcessGroup, Shares, in_order
from stele.retrieval.dense.vector_files import (
    FILES,
    Layout,
    VectorTransform,
    blocks,
    cut_in,
    encode_part,
    identity,
    join_parts,
    tidy,
)
from stele.retrieval.dense.windows import DocumentWindows, by_sentences, by_tokens
from stele.retrieval.searches.search_job import expected_passages

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

Passages = Iterable[Passage]


@dataclass(frozen=True)
class CollectionEncoding:
    """Settings with which a job encodes its collections.

    passages    name of a collection -> its passages, read from their beginning
    inputs      name -> record of the data, which have the number of passages for the progress bar
    key         identifies what the vectors are made from
    windows     how documents are cut, None where passages are encoded whole
    transform   name of a collection -> function applied to its vectors before they are scaled
    on_block    called after each block of passages that the first process has saved
    """

    passages: Callable[[str], Iterator[Passage]]
    inputs: Mapping[str, Path]
    encoder: Encoder
    processes: ProcessGroup
    state: Path
    key: str
    normalize: bool
    windows: Windows | TokenWindows | None = None
    transform: Callable[[str], VectorTransform] = lambda name: identity
    whole: bool = True
    on_block: Callable[[], object] = lambda: None

    def document_windows(self, name: str) -> DocumentWindows | None:
        """Cuts documents by tokens or sentences, the latter in the language that the collection is named after.

        Raises SteleError for sentences of a collection in several languages.
        """
        if not self.windows:
            return None
        if isinstance(self.windows, TokenWindows):
            split = by_tokens(self.encoder, self.windows)
        elif name == "all":
            raise SteleError(
                f"--windows: the documents of collection {name} are in several languages; to be split into sentences, "
                "they must be in one language: give {overlap, hits, best}, windows of tokens"
            )
        else:
            split = by_sentences(name, self.windows)
        file = self.state / "windows" / f"{name}.json"
        writes = self.processes.is_main
        return DocumentWindows(lambda: self.passages(name), split, file, writes)


class EncodedCollection:
    """Encodes and searches a collection; its finished vectors are one part in `index_folder`, if that is given."""

    def __init__(self, settings: CollectionEncoding, name: str, index_folder: Path | None = None) -> None:
        self.settings, self.name, self.index_folder = settings, name, index_folder
        self.encoder, self.processes = settings.encoder, settings.processes
        self.windows = settings.document_windows(name)
        self.folder = settings.state / "collections" / name
        dtype = "float16" if self.encoder.spec.half else "float32"
        self.layout = Layout(self.encoder.dimension, dtype, settings.normalize, settings.key)
        self.parts, world = [index_folder or self.folder], self.processes.world
        if world > 1:
            self.parts = [self.folder / f"part-{rank}-of-{world}" for rank in range(world)]
        self.part = self.parts[self.processes.rank]
        self.rows = self.size = 0  # passages of this process, and of all processes
        self.cut = 0  # passages of all processes that were longer than the encoder reads

    def encode(self, watch: Callable[[Passages], Passages] = iter) -> None:
        """Encodes the passages that are not encoded yet.

        `watch` wraps the stream of passages; it is not read if the part is finished. Raises SteleError for an empty
        collection and for a repeated id.
        """
        if self.processes.is_main:
            self._drop_other_divisions()
        settings = self.settings
        transform = settings.transform(self.name)
        passages = self.windows.read() if self.windows else settings.passages(self.name)
        is_counted = settings.whole and not self.windows
        expected = expected_passages(settings.inputs, self.name) if is_counted else None
        shares = Shares(self.processes.rank, self.processes.world, self.encoder.window)
        with bar(expected, f"encode collection {self.name}", "passages") as shown:

            def encode(items: Iterable[tuple[str, Any]]) -> Iterator[tuple[list[str], np.ndarray]]:
                for ids, vectors in self.encoder.encode_stream(items, "passage", on_batch=shown.update):
                    yield ids, transform(vectors)
                    if self.processes.is_main:
                        settings.on_block()
                    shown.update(shares.read - shown.n)

            spec, where = self.encoder.spec, f"collection {self.name}"
            texts = ((checked_id(p.id, where), spec.passage(p.title, p.text)) for p in watch(passages))
            self.rows = encode_part(self.part, shares.assigned(texts), encode, self.layout, lambda: self.encoder.cut)
            shown.update(shares.read - shown.n)  # other processes may encode the last windows
        self.size = self.processes.all_reduce_sum(self.rows)
        self.cut = self.processes.all_reduce_sum(cut_in(self.part, self.layout.key))
        if self.size == 0:
            raise SteleError(f"collection {self.name}: it has no passage")
        if self.processes.is_main:
            self._refuse_repeated_id()

    def search(self, vectors: np.ndarray, k: int, seen: Callable[[int], Any] = lambda rows: None) -> TopK:
        """Finds the k best passages of each query [n, d]; the first process returns the best of all processes.

        It calls `seen` with the number of rows of each block.
        """
        return search_blocks(blocks(self.part), vectors, min(k, self.size), self.encoder.device, self.processes, seen)

    def counts(self) -> dict[str, int]:
        """Numbers of texts and of cut texts; with windows, only for the process that writes their counts."""
        if self.windows:
            return {**self.windows.counts(), "windows": self.size, "cut_windows": self.cut}
        return {"passages": self.size, "cut_passages": self.cut}

    def put_away(self) -> None:
        """Moves the vectors to `index_folder` and removes the state; call it when all processes have searched."""
        several = self.processes.world > 1
        if self.index_folder and self.processes.is_main:
            if several:
                join_parts(self.parts, self._windows(), self.layout, self.index_folder)
            else:
                tidy(self.index_folder)
        self.processes.barrier()
        if several:  # each process removes its own: on a network's file system a folder with open files stays
            shutil.rmtree(self.part)
            self.processes.barrier()
        if self.processes.is_main and self.folder.exists():
            shutil.rmtree(self.folder)

    def vectors(self) -> np.ndarray:
        """Reads all vectors, float32 [n, d], in the order of the passages; the same bytes in all processes."""
        parts = [np.load(part / "vectors.npy", mmap_mode="r") for part in self.parts]
        windows = self._windows() if len(parts) > 1 else [(0, slice(None))]
        return np.concatenate([parts[owner][rows] for owner, rows in windows], dtype=np.float32)

    def _windows(self) -> Iterator[tuple[int, slice]]:
        """Owner of each window of passages, and the window's rows among the owner's."""
        return in_order(self.size, self.processes.world, self.encoder.window)

    def _drop_other_divisions(self) -> None:
        """Removes vectors that another number of processes wrote, and nothing else in the folder."""
        for part in self.folder.glob("part-*-of-*"):
            if part not in self.parts:
                shutil.rmtree(part)
        if self.processes.world > 1:
            for name in FILES:
                (self.folder / name).unlink(missing_ok=True)

    def _refuse_repeated_id(self) -> None:
        ids = [np.load(part / "ids.npy", mmap_mode="r") for part in self.parts]
        if name := repeated_id(ids):
            whole = np.concatenate([ids[owner][rows] for owner, rows in self._windows()])
            first, second = (np.flatnonzero(whole == name) + 1)[:2]
            places = f"passages {first} and {second} of {self.size}"
            raise SteleError(f"collection {self.name}: passage id {name.decode()!r} appears twice ({places})")


def repeated_id(parts: Sequence[np.ndarray]) -> bytes | None:
    """Finds an id that appears twice in `parts`, arrays of bytes [n]; None if all ids differ."""
    ordered = np.concatenate(parts)
    ordered.sort()
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    return repeated[0] if len(repeated) else None


def search_blocks(
    blocks_of_process: Iterable[tuple[np.ndarray, np.ndarray]],
    vectors: np.ndarray,
    k: int,
    device: str,
    processes: ProcessGroup,
    seen: Callable[[int], Any],
) -> TopK:
    """Searches this process's blocks (vectors [m, d], ids [m]) for the k best passages of each query [n, d].

    The first process returns the k best of all processes.
    """
    best = TopK(vectors, k, device)
    for block, ids in blocks_of_process:
        best.add(block, ids)
        seen(len(block))
    for hits in processes.gather(best.best_hits()):
        best.join(hits)
    return best
