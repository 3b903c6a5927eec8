"""Training sets, checked and tokenised once; passages that the encoder reads alike have one row, their identity."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from stele.benchmarks.types import Passage, TrainingExample
from stele.encoders.tokens import Tokens, tokenize
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_write_json
from stele.files.reading import read_state, reading
from stele.progress import track
from stele.recipes.encoding import EncodingSpec, Kind, TextInput
from stele.training.processes import ProcessContext

BLOCK = 8_192  # texts tokenised at a time


@dataclass(frozen=True)
class Examples:
    """Training examples, tokenised; the rows of `passages` are passages that the encoder reads differently.

    positives, negatives   int64 rows of the known positives (the first is the training target) and the hard negatives;
                           those of example i are at offsets[i]:offsets[i + 1], by the offsets of their kind
    counts                 numbers of texts and examples that were read, and that were left out, by reason
    """

    queries: Tokens
    passages: Tokens
    positives: np.ndarray
    positive_offsets: np.ndarray
    negatives: np.ndarray
    negative_offsets: np.ndarray
    counts: dict[str, int]

    def __len__(self) -> int:
        return len(self.positive_offsets) - 1

    def query_of(self, example: int) -> bytes:
        """Token ids of an example's query: equal for queries that the encoder reads alike."""
        return self.queries.ids[self.queries.offsets[example] : self.queries.offsets[example + 1]].tobytes()

    def positives_of(self, example: int) -> np.ndarray:
        return self.positives[self.positive_offsets[example] : self.positive_offsets[example + 1]]

    def negatives_of(self, example: int) -> np.ndarray:
        return self.negatives[self.negative_offsets[example] : self.negative_offsets[example + 1]]


class _Texts:
    """Collector of texts of one kind, which it tokenises block by block."""

    def __init__(self, tokenizer, spec: EncodingSpec, kind: Kind) -> None:
        self.tokenizer, self.spec, self.kind = tokenizer, spec, kind
        self.waiting: list[TextInput] = []
        self.blocks: list[Tokens] = []

    def add(self, text: TextInput) -> None:
        self.waiting.append(text)
        if len(self.waiting) >= BLOCK:
            self.flush()

    def flush(self) -> None:
        spec, kind = self.spec, self.kind
        texts = spec.inputs(self.waiting, kind)
        self.blocks.append(tokenize(self.tokenizer, texts, spec.length(kind), spec.segments))
        self.waiting = []

    def tokens(self) -> Tokens:
        self.flush()
        ids = np.concatenate([block.ids for block in self.blocks])
        lengths = np.concatenate([np.zeros(1, np.int64), *(block.lengths for block in self.blocks)])
        types = np.concatenate([block.types for block in self.blocks]) if self.spec.segments else None
        return Tokens(ids, np.cumsum(lengths), types)


def read_examples(
    source: Iterable[TrainingExample],
    tokenizer,
    spec: EncodingSpec,
    strip_question_mark: bool,
    label: str,
    total: int | None = None,
) -> Examples:
    """Reads and tokenises a training set; strips texts, and counts and leaves out what it cannot use.

    It leaves out empty texts, examples without query or positive, and hard negatives that are positives of their query.
    `strip_question_mark` removes a query's final "?" (DPR's normalize_question). Raises SteleError if nothing is left.
    """
    queries, passages = _Texts(tokenizer, spec, "query"), _Texts(tokenizer, spec, "passage")
    rows: dict[bytes, int] = {}
    counts: Counter[str] = Counter()

    def row_of(passage: Passage) -> int | None:
        if not (text := passage.text.strip()):
            counts["empty_passages"] += 1
            return None
        read = spec.passage(passage.title.strip(), text)
        key = hashlib.blake2b(repr(read).encode(), digest_size=16).digest()
        if key not in rows:
            rows[key] = len(rows)
            passages.add(read)
        return rows[key]

    def rows_of(listed: Iterable[Passage]) -> list[int]:
        return list(dict.fromkeys(row for passage in listed if (row := row_of(passage)) is not None))

    positives: list[list[int]] = []
    negatives: list[list[int]] = []
    for example in track(source, total, f"read {label}", "examples"):
        counts["examples_read"] += 1
        query = example.query.strip()
        if strip_question_mark:
            query = query.removesuffix("?").rstrip()
        if not query:
            counts["empty_queries"] += 1
            continue
        right = rows_of(example.positives)
        if not right:
            counts["without_positive"] += 1
            continue
        wrong = rows_of(example.negatives)
        negatives_alone = [row for row in wrong if row not in set(right)]
        counts["negatives_that_are_positives"] += len(wrong) - len(negatives_alone)
        counts["without_hard_negative"] += not negatives_alone
        positives.append(right)
        negatives.append(negatives_alone)
        queries.add(query)
    if not positives:
        raise SteleError(
            f"{label}: no usable example among {counts['examples_read']}; want examples with a query and a positive"
        )
    counts["examples"], counts["passages"] = len(positives), len(rows)
    arrays = *_laid_out(positives), *_laid_out(negatives)
    return Examples(queries.tokens(), passages.tokens(), *arrays, dict(sorted(counts.items())))


def _laid_out(lists: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of all lists, and the offset of each list and of the end, int64."""
    ends = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return np.fromiter(chain.from_iterable(lists), np.int64, ends[-1]), ends


# --- examples in the state folder: read once, for all processes and for a resumed run ---------------------------------
ARRAYS = ("positives", "positive_offsets", "negatives", "negative_offsets")
TOKENS = ("ids", "offsets", "types")  # arrays of the queries, and of the passages
COUNTS = "counts.json"


def save_examples(folder: Path, examples: Examples) -> None:
    """Writes the arrays of a training set into a folder, atomically."""
    with atomic_directory(folder, "finetune") as new_folder:
        for name in ARRAYS:
            np.save(new_folder / f"{name}.npy", getattr(examples, name))
        for name in ("queries", "passages"):
            for part in TOKENS:
                if (values := getattr(getattr(examples, name), part)) is not None:
                    np.save(new_folder / f"{name}-{part}.npy", values)
        atomic_write_json(new_folder / COUNTS, examples.counts)


def load_examples(folder: Path) -> Examples:
    """Loads the training set in `folder`; its token ids are memory-mapped. Raises SteleError for a damaged file."""

    def array(name: str, mode: Literal["r"] | None = None) -> np.ndarray:
        path = folder / f"{name}.npy"
        with reading(path, "array", f"remove {folder} and run again"):
            return np.load(path, mmap_mode=mode)

    def tokens(name: str) -> Tokens:
        types = array(f"{name}-types", "r") if (folder / f"{name}-types.npy").exists() else None
        return Tokens(array(f"{name}-ids", "r"), array(f"{name}-offsets", "r"), types)

    arrays = {name: array(name) for name in ARRAYS}
    return Examples(tokens("queries"), tokens("passages"), counts=read_state(folder / COUNTS), **arrays)


def examples_in(folder: Path, read: Callable[[], Examples], process: ProcessContext) -> Examples:
    """Loads the training set saved in `folder`; the main process reads and saves it first if needed."""
    if process.is_main and not (folder / COUNTS).exists():  # a network file system may have kept an emptied folder
        save_examples(folder, read())
    process.barrier()
    return load_examples(folder)
