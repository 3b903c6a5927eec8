"""Our runs and the mirror's own judgments through ir_measures: each score of each language is equal.

`make oracle` builds the results and sets up the environment of ir_measures; without it these tests are skipped.
"""

import json
import re
from pathlib import Path

import pytest
from test_mteb_tasks import BUILT, MODEL, PYTHON, ask, result_of

pytestmark = pytest.mark.skipif(not (BUILT and PYTHON), reason="`make oracle` sets up ir_measures and runs these")
HUB = "resources/miniature/mirror/huggingface.co/datasets"
MIRACL = "macavaney/miracl-noauth/resolve/main/miracl-v1.0-{0}/qrels/qrels.miracl-v1.0-{0}-dev.tsv"
GAINS = "neuclir/bench/resolve/main/data/qrels.{0}.gains.txt"
# benchmark -> its judgments in the mirror, their names of our languages, and a measure that has to be among its metrics
JUDGED = {
    "miracl": (MIRACL, {code: code for code in ("ar", "en", "sw", "th")}, "ndcg@10"),  # some judged 0
    "neuclir_clir": (GAINS, {"fa": "fas", "ru": "rus", "zh": "zho"}, "ndcg@20"),  # gains of 1 and 3
}
NAMES = {"ndcg": "nDCG", "recall": "R"}


def measure_of(metric):
    """The name by which ir_measures knows a metric of ours; None of one that it does not.

    >>> measure_of("ndcg@20"), measure_of("recall@100"), measure_of("mrr")
    ('nDCG@20', 'R@100', None)
    """
    found = re.fullmatch(r"(ndcg|recall)@(\d+)", metric)
    return found and f"{NAMES[found[1]]}@{found[2]}"


@pytest.mark.parametrize("benchmark", JUDGED)
def test_each_score_of_a_run_is_that_of_ir_measures(benchmark):
    qrels, names, metric = JUDGED[benchmark]
    metrics = {ours: theirs for ours in result_of(benchmark).metrics if (theirs := measure_of(ours))}
    assert {metric, "recall@100"} <= {*metrics}
    runs, values = Path(BUILT) / f"results_oracle/{benchmark}/{MODEL}/direct/pt0-ft0/runs", set()
    for code, name in names.items():
        given = ("--run", runs / f"{code}.trec.gz", "--qrels", Path(BUILT) / HUB / qrels.format(name))
        scores = json.loads(ask("ir_scores.py", *given, "--measures", *metrics.values()))
        for ours, theirs in metrics.items():
            measured, of_query = result_of(benchmark).metrics[ours], scores[theirs]
            assert len(of_query) == measured.n[code] > 1
            mean = sum(of_query.values()) / len(of_query)
            assert measured.languages[code] == pytest.approx(mean, abs=1e-7), (ours, code)
            values.add(round(mean, 4))
    assert len(values) > len(names), "scores that differ were compared"
