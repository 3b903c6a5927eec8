"""Datasets of several files, one of them damaged: today's benchmarks, BEIR's layout, training sets in Parquet."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow

from stele.benchmarks import belebele, miracl, transfer_set
from stele.benchmarks.beir import Beir
from stele.benchmarks.belebele import Belebele
from stele.benchmarks.ciral import Ciral
from stele.benchmarks.miracl import Miracl
from stele.benchmarks.mmarco import Mmarco
from stele.benchmarks.neuclir_clir import NeuclirClir
from stele.benchmarks.neuclir_mlir import NeuclirMlir
from stele.benchmarks.neuclir_mono import NeuclirMono
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.transfer_set import TransferSet
from stele.benchmarks.types import QuerySet
from stele.corpora import wikitext103
from stele.files.reading import find_file, reading
from tests.readers.files import Reader, beside, in_folder, lines, packed, whole
from tests.sealed import sealed

Files = dict[str, bytes]
QUERIES = lines(*({"_id": f"q{n}", "text": "one"} for n in range(2)))
CORPUS = lines(*({"_id": f"d{n}", "title": "t", "text": "one two"} for n in range(3)))
QRELS = b"query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t2\n"
BEIR = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS}
JUDGED = pyarrow.table({"query-id": ["q0", "q1"], "corpus-id": ["d0", "d1"], "score": [1.0, 2.0]})
DOCUMENTS = pyarrow.table({"_id": ["d0", "d1"], "title": ["a", "b"], "text": ["x", "y"]})
PARQUET = {"queries.jsonl": QUERIES, "corpus/x.parquet": packed(DOCUMENTS), "qrels/test.parquet": packed(JUDGED)}
MIRACL = {
    "dev/topics.tsv": b"1\tq one\n2\tq two\n",
    "dev/qrels.tsv": b"1\tQ0\t7#0\t1\n2\tQ0\t7#1\t0\n",
    "docs-0.jsonl.gz": gzip.compress(
        lines(*({"docid": f"7#{n}", "title": "T", "text": "x"} for n in range(2))), mtime=0
    ),
}
BELEBELE = {"eng_Latn.jsonl": lines(*({"link": f"l{n}", "flores_passage": "p", "question": f"q{n}"} for n in range(3)))}
CIRAL = {
    "passages.jsonl": lines({"docid": "1", "title": None, "text": "x"}, {"docid": "2", "title": "T", "text": "y"}),
    "topics.tsv": b"1\tq one\n2\tq two\n",
    "qrels.tsv": b"1 0 1 1\n2 0 2 0\n",
}
NEUCLIR = {
    "news.eng.tsv": b"1\tq one\n2\tq two\n",
    "news.fas.tsv": b"1\tq one\n2\tq two\n",
    "qrels.fas.gains.txt": b"1 0 a 3\n2 0 b 0\n",
    "qrels.mlir.gains.txt": b"1 0 a 3\n2 0 b 0\n",
    "fas-00000-of-00001.jsonl.gz": gzip.compress(
        lines({"id": "a", "title": None, "text": "x"}, {"id": "b", "title": "T", "text": "y"}), mtime=0
    ),
}
MMARCO = {
    "german_queries.train.tsv": b"1\tq\n2\tr\n",
    "german_collection.tsv": b"5\tp\n6\tq\n",
    "qrels.train.tsv": b"1 0 5 1\n2 0 6 1\n",
}
LISTED = pyarrow.array([[0], [1, 0]], pyarrow.list_(pyarrow.int32()))
MINED = {
    "record.json": sealed({"job": "hard_negatives", "pools": {"sw": {"questions": 2}}}),
    "sw.passages.parquet": packed(pyarrow.table({"id": ["1", "2"], "title": ["", "T"], "text": ["x", "y"]})),
    "sw.questions.parquet": packed(pyarrow.table({"question": ["a", "b"], "passages": LISTED})),
}
TRANSFER = {
    "passages.parquet": packed(pyarrow.table({"id": ["1", "2"], "text": ["x", "y"]})),
    "queries.parquet": packed(
        pyarrow.table({"query": ["a", "b"], "positive": pyarrow.array([0, 1], pyarrow.int32()), "negatives": LISTED})
    ),
}
WIKITEXT = b" \n = Title = \n \n One two . Three . \n \n = = Sec = = \n \n Four . \n \n"


def searched(benchmark: RetrievalReader, query_set: QuerySet, **data: dict[str, Path]) -> None:
    """All that a search reads of a benchmark."""
    whole(benchmark.queries(data, query_set))
    whole(benchmark.passages(data, query_set.collection))
    benchmark.judgments(data, query_set)


def _beir(folder: Path) -> None:
    searched(Beir(), QuerySet("en", "en", "en"), mine={"en": folder})


def _miracl(folder: Path) -> None:
    searched(Miracl(), QuerySet("xx", "xx", "xx"), miracl={"xx": folder}, miracl_corpus={"xx": folder})


def _miracl_training(folder: Path) -> None:
    whole(Miracl().training({miracl.TRAINING: {"xx": folder}, "miracl_corpus": {"xx": folder}}, "dev"))


def _belebele(folder: Path) -> None:
    belebele._read.cache_clear()
    searched(Belebele(), QuerySet("en-en", "en-en", "en"), belebele={"en": folder})


def _ciral(folder: Path) -> None:
    searched(Ciral(), QuerySet("sw", "sw", "sw"), ciral={"sw": folder}, ciral_corpus={"sw": folder})


def _neuclir(folder: Path) -> None:
    for benchmark in (NeuclirMono(), NeuclirClir()):
        searched(benchmark, QuerySet("fa", "fa", "fa"), neuclir={"all": folder}, neuclir_corpus={"fa": folder})


def _neuclir_mlir(folder: Path) -> None:
    data = {"neuclir": {"all": folder}, "neuclir_corpus": dict.fromkeys(("fa", "ru", "zh"), folder)}
    query_set = NeuclirMlir().query_sets(["en"])[0]
    whole(NeuclirMlir().queries(data, query_set))
    NeuclirMlir().judgments(data, query_set)


def _mmarco(folder: Path) -> None:
    whole(Mmarco().training({"mmarco": {"de": folder}, "msmarco_qrels": {"all": folder}}, "train"))


def _mined(folder: Path) -> None:
    mined = transfer_set.MinedNegatives(folder / "record.json")
    for question in ("a", "b", "c"):
        mined.of("sw", question)


def _transfer(folder: Path) -> None:
    whole(TransferSet().training({"qgen": {"sw": folder}}, "train"))


def _wikitext(folder: Path) -> None:
    path = find_file(folder, [wikitext103.FILE], "WikiText-103")
    with reading(path, "text"), open(path, encoding="utf-8") as text:
        whole(wikitext103.documents(text, str(path)))


OF: dict[str, tuple[Files, Callable[[Path], Any]]] = {
    "beir": (BEIR, _beir),
    "beir in Parquet": (PARQUET, _beir),
    "miracl": (MIRACL, _miracl),
    "miracl training": (MIRACL, _miracl_training),
    "belebele": (BELEBELE, _belebele),
    "ciral": (CIRAL, _ciral),
    "neuclir": ({name: NEUCLIR[name] for name in NEUCLIR if "mlir" not in name}, _neuclir),
    "neuclir_mlir": ({name: NEUCLIR[name] for name in ("news.eng.tsv", "qrels.mlir.gains.txt")}, _neuclir_mlir),
    "mmarco": (MMARCO, _mmarco),
    "mined negatives": (MINED, _mined),
    "transfer set": (TRANSFER, _transfer),
    "wikitext103": ({"wiki.train.raw": WIKITEXT}, _wikitext),
}
DATASETS: dict[str, Reader] = {
    f"{name}: {file}": in_folder(file, content, read)
    for name, (files, read) in OF.items()
    for file, content in files.items()
}
BESIDE_DATASETS = {f"{name}: {file}": beside(file, files) for name, (files, _) in OF.items() for file in files}
