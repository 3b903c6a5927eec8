"""Synthetic runs on Mr. TyDi's real judgments, against trec_eval's scores."""

import json

import numpy as np
import pytest
import pytrec_eval

from stele.benchmarks._trec import read_qrels
from stele.scoring import score
from tests.jobs import job

# castorini/mr.tydi README: test queries by language
MRTYDI = {
    "ar": 1081, "bn": 111, "en": 744, "fi": 1254, "id": 829, "ja": 720,
    "ko": 421, "ru": 995, "sw": 670, "te": 646, "th": 1190,
}  # fmt: skip


def scored(tmp_path, *line) -> dict:
    score.run(job(score, [*map(str, line), "--output", str(tmp_path / "out.json")]))
    return json.loads((tmp_path / "out.json").read_text())


def noisy_run(
    judged: dict[str, dict[str, int]], rng: np.random.Generator, depth: int = 30
) -> dict[str, dict[str, float]]:
    """Rankings with many ties, in which each relevant passage is found or not; some queries have no result."""
    run = {}
    for query, right in judged.items():
        others = [f"x{i}#0" for i in rng.choice(10_000, depth, replace=False)]
        actual = [name for name in right if rng.random() < 0.7]
        names = [*others, *actual]
        if rng.random() < 0.98:
            run[query] = dict(zip(names, (rng.integers(0, 20, len(names)) / 7).tolist(), strict=True))
    return run


def written(path, run: dict[str, dict[str, float]]):
    rows = (f"{query} Q0 {name} 0 {value!r} t\n" for query, hits in run.items() for name, value in hits.items())
    path.write_text("".join(rows))
    return path


def test_mrtydi_in_all_languages_is_trec_evals(tmp_path, real_data):
    """8,661 test queries; equal to trec_eval -c with -m recip_rank and -m recall.100."""
    rng, given, expected = np.random.default_rng(5), [], {}
    for language in MRTYDI:
        qrels = real_data / f"mrtydi_topics_qrels/qrels.mrtydi-v1.1-{language}.test.txt"
        judged = read_qrels(qrels)
        run = noisy_run(judged, rng)
        given.append((language, written(tmp_path / f"{language}.txt", run), qrels))
        theirs = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank", "recall_100"}).evaluate(run)
        expected[language] = {
            ours: sum(one[name] for one in theirs.values()) / len(judged)
            for ours, name in {"mrr@100": "recip_rank", "recall@100": "recall_100"}.items()
        }
    result = scored(
        tmp_path, "mrtydi", "--run", *(f"{language}={run}" for language, run, _ in given),
        "--data", *(f"mrtydi:{language}={qrels}" for language, _, qrels in given),
    )  # fmt: skip
    for metric in ("mrr@100", "recall@100"):
        assert result["metrics"][metric]["n"] == MRTYDI
        theirs = {language: one[metric] for language, one in expected.items()}
        assert result["metrics"][metric]["languages"] == pytest.approx(theirs, abs=1e-12)
        assert result["metrics"][metric]["average"] == pytest.approx(np.mean(list(theirs.values())))
    assert result["counts"]["queries"] == sum(MRTYDI.values()) == 8661
    assert 0 < result["counts"]["missing_queries"] < 400
