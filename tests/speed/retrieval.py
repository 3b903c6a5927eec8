"""Searching: exact search, mined negatives, windows, shares, expansion, fusion, translations."""

import gzip
import json
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from tests.speed.table import same, speed


# --- exact search -----------------------------------------------------------------------------------------------------
def write_collection(folder: Path, passages: int, dimension: int) -> None:
    """Random vectors and ids, written block by block."""
    rng = np.random.default_rng(0)
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (passages, dimension))
    ids = np.lib.format.open_memmap(folder / "ids.npy", "w+", "S9", (passages,))
    for start in range(0, passages, 50_000):
        stop = min(start + 50_000, passages)
        vectors[start:stop] = rng.standard_normal((stop - start, dimension), dtype=np.float32)
        ids[start:stop] = np.array([f"{i:09d}" for i in range(start, stop)], dtype="S9")
        vectors.flush()


@speed(
    {"faiss.IndexFlatIP, vectors in memory": 1.0},
    size={"passages": 200_000, "queries": 2000, "dimension": 384},
    tiny={"passages": 900, "queries": 20, "dimension": 16},
)
def exact_search(folder, passages, queries, dimension):
    """The 100 best of each query. Ours reads from disk, scores exactly and breaks ties canonically."""
    import faiss

    from stele.retrieval.dense.exact_search import TopK
    from stele.retrieval.dense.vector_files import blocks

    write_collection(folder, passages, dimension)
    asked = np.random.default_rng(1).standard_normal((queries, dimension), dtype=np.float32)
    index = faiss.IndexFlatIP(dimension)
    index.add(np.load(folder / "vectors.npy"))

    def ours():
        best = TopK(asked, 100)
        for block, ids in blocks(folder):
            best.add(block, ids)
        return best.best_hits().ids.astype(int).reshape(queries, 100)

    def nearly_all(hits, theirs):  # float32 may order near ties otherwise
        return np.mean(hits == theirs) > 0.99

    return ours, [lambda: index.search(asked, 100)[1]], nearly_all


DEPTH = 30


@speed(
    {"faiss.IndexFlatIP, vectors in memory": 0.7},
    size={"questions": 4_000, "passages": 50_000, "dimension": 768},
    tiny={"questions": 70, "passages": 900, "dimension": 16},
)
def mining_hard_negatives(folder, questions, passages, dimension):
    """Ours reads from disk, scores exactly, breaks ties canonically and leaves the answers out; the peer keeps them."""
    import faiss

    from stele.encoders.encode import GPU_WINDOW
    from stele.retrieval.dense.collection import CollectionEncoding, EncodedCollection
    from stele.retrieval.dense.processes import ProcessGroup
    from stele.retrieval.hard_negatives import MiningJob, in_order
    from stele.training.processes import ProcessContext

    write_collection(folder, passages, dimension)
    stored, rng = np.load(folder / "vectors.npy", mmap_mode="r"), np.random.default_rng(1)
    right = rng.integers(0, passages, questions)
    # a question lies near its answer, as after fine-tuning, so that the answer is found and left out
    asked = stored[right] + rng.standard_normal((questions, dimension), dtype=np.float32)
    job = MiningJob.__new__(MiningJob)
    job.depth, job.processes = DEPTH, ProcessGroup(ProcessContext("cpu"))
    encoder = SimpleNamespace(
        encode=lambda texts, kind: asked[[int(text) for text in texts]],  # a question's text is its number
        device="cpu",
        dimension=dimension,
        window=GPU_WINDOW,
        spec=SimpleNamespace(half=False),
        cosine=False,
    )
    job.encoder = encoder
    settings = CollectionEncoding(iter, {}, encoder, job.processes, folder, key="", normalize=False)
    collection = EncodedCollection(settings, "all", index_folder=folder)
    collection.folder = folder
    collection.rows = collection.size = passages
    index = faiss.IndexFlatIP(dimension)
    index.add(np.array(stored))

    def ours():
        texts, excluded = [str(row) for row in range(questions)], [{b"%09d" % row} for row in right]
        sizes, names = in_order(job.search(collection, texts, excluded))
        return [set(part.tolist()) for part in np.split(names.astype(int), np.cumsum(sizes)[:-1])]

    def flat_index():
        _, rows = index.search(asked, DEPTH + 1)
        pairs = zip(rows.tolist(), right.tolist(), strict=True)
        return [set([row for row in line if row != answer][:DEPTH]) for line, answer in pairs]

    def nearly_all(found, theirs):  # float32 may order near ties otherwise
        return sum(len(a & b) for a, b in zip(found, theirs, strict=True)) > 0.999 * questions * DEPTH

    return ours, [flat_index], nearly_all


# --- reading a collection ---------------------------------------------------------------------------------------------
WORDS = 30_000


def some_words() -> np.ndarray:
    """Words of letters, the frequent ones shorter."""
    rng, letters = np.random.default_rng(0), np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return np.array(["".join(rng.choice(letters, 2 + rank * 8 // WORDS + rng.integers(0, 4))) for rank in range(WORDS)])


def some_text(rng: np.random.Generator, words: np.ndarray, size: int) -> list[str]:
    """As in natural text, few words are most of it."""
    return words[(rng.pareto(1.0, size) * 10).astype(int) % len(words)].tolist()


@speed({"reading alone": 0.8, "tokenising (WordPiece)": 5.0}, size={"passages": 100_000}, tiny={"passages": 300})
def dividing_a_collection(folder, passages):
    """Reading 65-word passages of Mr. TyDi's layout and dividing them among 8 processes, which each process does."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    from stele.benchmarks.mrtydi import MrTydi
    from stele.encoders.encode import GPU_WINDOW
    from stele.retrieval.dense.processes import Shares

    words, rng = some_words(), np.random.default_rng(0)
    vocabulary = {word: number for number, word in enumerate(["[UNK]", *dict.fromkeys(words.tolist())])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    with gzip.open(folder / "corpus.jsonl.gz", "wt", 6, encoding="utf-8") as handle:
        for number, size in enumerate(np.clip(rng.lognormal(4, 0.6, passages), 2, 400).astype(int)):
            drawn = some_text(rng, words, size + 2)
            item = {"docid": f"{number}#0", "title": " ".join(drawn[:2]), "text": " ".join(drawn[2:])}
            handle.write(json.dumps(item) + "\n")
    data = {"mrtydi_corpus": {"all": folder}}

    def items():
        return ((p.id, (p.title, p.text)) for p in MrTydi().passages(data, "all"))

    texts = [text for _, text in items()]

    def tokenised():
        for first in range(0, passages, 16_384):
            tokenizer.encode_batch_fast(texts[first : first + 16_384])

    ours = lambda: deque(Shares(0, 8, GPU_WINDOW).assigned(items()), maxlen=0)  # noqa: E731
    return ours, [lambda: deque(items(), maxlen=0), tokenised], lambda a, b: True


@speed(
    {"encoding windows that lie in memory": 0.9},
    size={"documents": 60, "layers": 6, "width": 384},
    tiny={"documents": 5, "layers": 1, "width": 32},
)
def cutting_and_encoding_windows(folder, documents, layers, width):
    """Documents of 14 sentences cut into windows of five and encoded as they come."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    from stele.benchmarks.types import Passage
    from stele.encoders.encode import Encoder
    from stele.encoders.resolve import Resolved
    from stele.recipes.encoding import EncodingSpec
    from stele.recipes.search import Windows
    from stele.retrieval.dense.windows import DocumentWindows, by_sentences

    words, rng, collection = some_words(), np.random.default_rng(0), []
    for name in range(documents):
        lengths = np.clip(rng.lognormal(2.9, 0.4, int(np.clip(rng.lognormal(2.5, 0.5), 1, 40))), 3, 80).astype(int)
        sentences = [" ".join(some_text(rng, words, size)).capitalize() + "." for size in lengths]
        collection.append(Passage(f"D{name}", "", " ".join(sentences)))
    torch.manual_seed(0)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *dict.fromkeys(words.tolist())]
    shape = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": max(1, width // 32)}
    model = BertModel(BertConfig(vocab_size=len(vocabulary), intermediate_size=4 * width, **shape))
    tokenizer = BertTokenizer(vocab={word: place for place, word in enumerate(vocabulary)})
    resolved = Resolved(EncodingSpec(pooling="cls", passage_length=512), {}, [])
    encoder = Encoder([(model, [])], tokenizer, resolved, "cpu")
    cut = by_sentences("en", Windows(sentences=5, stride=1, hits=100, best=3))
    windows = DocumentWindows(lambda: collection, cut, folder / "counts.json")
    ready = [(window.id, window.text) for window in windows.read()]

    def ours():
        return len(list(encoder.encode_stream(((window.id, window.text) for window in windows.read()), "passage")))

    return ours, [lambda: len(list(encoder.encode_stream(ready, "passage")))], same


# --- expansion and fusion ---------------------------------------------------------------------------------------------
@speed({"BM25 alone": 0.45}, size={"documents": 20_000, "topics": 50}, tiny={"documents": 400, "topics": 5})
def expansion_by_RM3(folder, documents, topics):
    """A collection of 300-word documents in memory indexed and searched, with and without expansion."""
    from stele.benchmarks.types import Query
    from stele.recipes.search import Rm3
    from stele.retrieval.lexical import engines

    rng, letters = np.random.default_rng(0), np.array(list("bcdfghjklmnpqrstvwxz"))
    words = np.array(["".join(rng.choice(letters, 3 + rank // 8000)) for rank in range(40_000)])
    sizes = np.clip(rng.lognormal(5.5, 0.6, documents), 5, 3000).astype(int)
    texts = {f"d{n:07}": " ".join(some_text(rng, words, size)) for n, size in enumerate(sizes)}
    first = list(texts.values())[:topics]
    queries = [Query(str(n), " ".join(sorted(text.split()[:40], key=len)[-3:])) for n, text in enumerate(first)]
    collection, rounds = engines.Texts("sw", lambda: iter(texts.items())), iter(range(1000))

    def engine():
        place = folder / str(next(rounds))
        place.mkdir()
        return engines.Bm25sEngine(collection, place, {"all": queries}, 1, rounded=True)

    def plain():
        ((_, hits),) = engine().runs("all", [(0.9, 0.4)], 1000)
        return hits

    def for_the_same_topics(expanded, hits):  # an expanded query finds other documents, too
        return len(expanded) == len(hits) and all(expanded) and all(hits)

    ours = lambda: engine().expanded("all", (0.9, 0.4), 1000, Rm3(filter="none"))  # noqa: E731
    return ours, [plain], for_the_same_topics


@speed({"the metric ap@1000 of a run for each weight": 5.0}, size={"topics": 50}, tiny={"topics": 3})
def weights_of_fusion(folder, topics):
    """AP of 101 weights for lists of 1,000 and 100 documents, many of them tied."""
    from stele.artifacts.run import run_of
    from stele.benchmarks.types import QuerySet
    from stele.evaluation.metric import Case
    from stele.evaluation.metrics import load_metric
    from stele.retrieval.fuse import ALPHAS, average_precisions, candidates, fused

    rng, names = np.random.default_rng(0), [f"AFP{n:08}" for n in range(3000)]

    def hits(size: int, low: float, high: float) -> list[tuple[str, float]]:
        scores = np.round(rng.uniform(low, high, size), 2)
        return list(zip(rng.choice(names, size, replace=False).tolist(), scores.tolist(), strict=True))

    lists = {str(n): (hits(1000, 3, 25), hits(100, 60, 90)) for n in range(topics)}
    judged = {topic: {name: int(rng.integers(0, 2)) for name in rng.choice(names, 200)} for topic in lists}

    def run_by_run():
        columns = []
        for alpha in ALPHAS.tolist():
            case = Case(relevant=list(judged.values()))
            case.add(QuerySet("xx", "xx", "xx"), list(lists))
            runs = {topic: fused(candidates(*both), alpha, 1000) for topic, both in lists.items()}
            case.runs["xx"] = run_of(runs)
            columns.append(load_metric("ap@1000").values(case))
        return np.array(columns).T

    def ours():
        return np.array([average_precisions(candidates(*lists[topic]), judged[topic], 1000) for topic in lists])

    return ours, [run_by_run], lambda a, b: np.allclose(a, b, atol=1e-12, rtol=0)


# --- translations -----------------------------------------------------------------------------------------------------
@speed(
    {"MUSE's way: faiss and whole matrices": 1.0, "blocks, float64 and numpy": 1.0},
    size={"texts": 10_000},
    tiny={"texts": 2000},
)
def translations_by_CSLS(folder, texts):
    """The nearest translation both ways, vectors of 768 numbers with hubs."""
    import faiss
    import torch

    from stele.encoders.neighbours import nearest_translations
    from stele.evaluation.similarity import nearest

    draws = np.random.default_rng(0)
    centre = draws.standard_normal(768, np.float32)
    x = draws.standard_normal((texts, 768), np.float32) + centre * draws.random((texts, 1), np.float32)
    y = x + 8 * draws.standard_normal((texts, 768), np.float32)

    def means(searched, searching):  # src/utils.py get_nn_avg_dist
        index = faiss.IndexFlatIP(768)
        index.add(searched)
        return torch.from_numpy(index.search(searching, 10)[0].mean(axis=1))

    def by_muse():  # src/evaluation/word_translation.py, csls_knn_10
        sides, rows = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y)], []
        for one, other in (sides, sides[::-1]):
            scores = torch.from_numpy(one) @ torch.from_numpy(other).T
            scores = scores.mul_(2).sub_(means(other, one)[:, None]).sub_(means(one, other)[None, :])
            rows.append(scores.topk(10, 1).indices[:, 0].numpy())
        return rows

    def ours():
        return [best.rows for best in nearest_translations(x, y, torch.device("cpu"))]

    def nearly_all(found, theirs):  # the peers round otherwise
        return all(np.mean(np.array(a) == np.array(b)) > 0.995 for a, b in zip(found, theirs, strict=True))

    by_blocks = lambda: [nearest(*sides, "csls")[0] for sides in ((x, y), (y, x))]  # noqa: E731
    return ours, [by_muse, by_blocks], nearly_all
