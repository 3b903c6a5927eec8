"""Synthetic runs on the benchmarks' real gold files, against scores computed in another way."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stele.benchmarks import lareqa
from stele.benchmarks._trec import read_qrels
from stele.benchmarks.lareqa import Lareqa
from stele.benchmarks.tatoeba import Tatoeba
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
    import pytrec_eval

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


def average_precision_at_20(ranking: list[str], right: set[str]) -> float:
    """As XTREME's `average_precision_at_k` does it, literally."""
    hits, total = 0, 0.0
    for rank, name in enumerate(ranking[:20], start=1):
        if name in right and name not in ranking[: rank - 1]:
            hits += 1
            total += hits / rank
    return total / min(len(right), 20)


def test_lareqa_has_13090_questions_with_11_answers_and_is_xtremes(tmp_path, real_data):
    folder = real_data / "lareqa_xquad_r/xquad-r"
    data = {"lareqa": {"all": folder}}
    judged = {query_set: Lareqa().judgments(data, query_set) for query_set in Lareqa().query_sets(lareqa.LANGUAGES)}
    assert sum(map(len, judged.values())) == 13_090
    assert {len(right) for one in judged.values() for right in one.values()} == {11}
    rng, run, expected = np.random.default_rng(6), {}, []
    for one in judged.values():
        for question, right in one.items():
            names = [*right, *(f"en_{i}_0" for i in range(1, 15))]
            ranking = list(dict.fromkeys(names[i] for i in rng.permutation(len(names))))
            run[question] = {name: float(-rank) for rank, name in enumerate(ranking)}
            expected.append(average_precision_at_20(ranking, set(right)))
    path = written(tmp_path / "run", run)
    result = scored(tmp_path, "lareqa", "--run", path, "--data", f"lareqa={folder}")
    assert result["metrics"]["map@20"]["average"] == pytest.approx(np.mean(expected), abs=1e-12)
    assert sum(result["metrics"]["map@20"]["n"].values()) == 13_090


def test_tatoeba_has_88877_pairs_in_112_languages(real_data):
    folder = real_data / "tatoeba_v1"
    codes = sorted({path.name.split(".")[1].split("-")[0] for path in folder.rglob("tatoeba.*-eng.eng")})
    assert len(codes) == 112
    data = {"tatoeba": {code: folder for code in codes}}
    there = [query_set for query_set in Tatoeba().query_sets(codes) if query_set.name.endswith("-en")]
    assert sum(len(Tatoeba().judgments(data, query_set)) for query_set in there) == 88_877
