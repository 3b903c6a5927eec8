"""What a retrieval is worth with weights of 16 bits: as much as with 32, within what tolerances allow."""

import json

import numpy as np
import test_retrieve as retrieval
from recorded import write_mrtydi

from stele.artifacts.run_files import read_run
from stele.evaluation.evaluate import score
from stele.retrieval import retrieve

PASSAGES, QUERIES = 400, 200
WITHIN = 0.005


def test_ndcg_with_weights_of_sixteen_bits_is_that_of_thirty_two(tmp_path, encoder):
    """The vectors differ; rankings of 400 passages that are much alike are where it would show.

    Questions in seven of a passage's ten words and three others: some find it first, some later, some not at all.
    """
    rng = np.random.default_rng(0)
    words = [f"{one}{other}" for one in retrieval.WORDS for other in "abcdefghij"]
    texts = [rng.choice(words, 10) for _ in range(PASSAGES)]
    asked = {f"{n}#0": " ".join([*texts[n][:7], *rng.choice(words, 3)]) for n in range(QUERIES)}
    data = write_mrtydi(tmp_path, "sw", map(" ".join, texts), asked)
    judgments = {str(n): {f"{n}#0": 1} for n in range(QUERIES)}
    spec = {"pooling": "mean", "normalize": True, "query_length": 64, "passage_length": 64}
    found, runs = {}, {}
    for weights in ("float32", "bfloat16"):
        args = retrieval.arguments(tmp_path, encoder, data, weights)
        args = args.model_copy(update={"languages": ("sw",), "encoding": json.dumps({**spec, "weights": weights})})
        retrieve.run(args)
        runs[weights] = args.output.parent / "runs/sw.trec.gz"
        found[weights] = score(read_run(runs[weights]), judgments, ["ndcg@10"]).means["ndcg@10"]
    assert runs["float32"].read_bytes() != runs["bfloat16"].read_bytes()
    assert 0.2 < found["float32"] < 0.9, "questions that all find their passage would show no difference"
    assert abs(found["bfloat16"] - found["float32"]) <= WITHIN, found
