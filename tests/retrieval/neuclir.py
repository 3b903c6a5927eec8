"""NeuCLIRBench by the command: a collection of three languages; what it ranks is in test_encode_collection.py."""

from pathlib import Path

import numpy as np
import pytest
import test_retrieve as retrieval
from recorded import put, record, retrieving

from stele.retrieval import retrieve

NAMES = {"fa": "fas", "ru": "rus", "zh": "zho"}
small_windows = retrieval.small_windows  # of the encoder: 16 texts a block


@pytest.fixture
def data(tmp_path) -> list[str]:
    """20 documents a language (some are longer than the encoder reads, three tie across languages), 4 queries."""
    given, rng = [], np.random.default_rng(3)
    for code, name in NAMES.items():
        texts = ["river nile flows", *(" ".join(rng.choice(retrieval.WORDS, 4 + n)) for n in range(19))]
        rows = [{"id": f"{code}-{n}", "title": "", "text": text} for n, text in enumerate(texts)]
        put(tmp_path / code / f"{name}-00000-of-00001.jsonl.gz", rows)
        given.append(f"neuclir_corpus:{code}={record(tmp_path / code, content=code)}")
    bench = tmp_path / "bench"
    bench.mkdir()
    (bench / "news.eng.tsv").write_text("".join(f"{n}\t{word} river\n" for n, word in enumerate(retrieval.WORDS[:4])))
    (bench / "qrels.mlir.gains.txt").write_text("".join(f"{n} 0 ru-{n} 3\n" for n in range(4)))
    for name in NAMES.values():
        (bench / f"qrels.{name}.gains.txt").write_text("".join(f"{n} 0 d 1\n" for n in range(4)))
    return [*given, f"neuclir:all={record(bench, content='bench')}"]


def arguments(tmp_path: Path, encoder: Path, data: list[str], benchmark: str, languages: list[str], *more: str):
    return retrieving(tmp_path, encoder, data, benchmark, *more, benchmark=benchmark, languages=languages, depth=30)


def run(*given) -> Path:
    """Searches; the folder of what was made."""
    args = arguments(*given)
    retrieve.run(args)
    return args.output.parent
