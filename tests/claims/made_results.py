"""A folder of made results as `scoring score` leaves it: values per query by seed, with what a record says of them."""

from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

from stele.files.digests import digest
from tests.claims.planted import LANGUAGES
from tests.sealed import write_sealed

PRETRAINED, FINETUNED, UNTRAINED = ("pretrain", "finetune"), ("finetune",), ()
METRICS = ("mrr@100", "recall@100", "mrr@10")


def write_system(
    folder: Path, row: str, values: dict, languages, jobs=PRETRAINED, labels=("generated data",), snapshot_of=""
) -> None:
    """The results of a row, `benchmark/model/setting`: metric -> float64 [P, F, n], by seeds and query."""
    benchmark, model, setting = row.split("/")
    names = np.asarray(languages)
    shape = next(iter(values.values())).shape
    columns = {"search": names.tolist(), "language": names.tolist(), "query": [f"q{n}" for n in _places(names)]}
    ancestry = {job: {"job": job, "model": (job == "pretrain" and snapshot_of) or model} for job in jobs}
    for p in range(shape[0]):
        for f in range(shape[1]):
            of_seed = {metric: every[p, f] for metric, every in values.items()}
            queries = folder / row / f"pt{p}-ft{f}" / "queries.parquet"
            queries.parent.mkdir(parents=True, exist_ok=True)
            pyarrow.parquet.write_table(pyarrow.table(columns | of_seed), queries)
            record = {
                "benchmark": benchmark,
                "model": model,
                "setting": setting,
                "seeds": {"pretraining": p, "finetuning": f},
                "metrics": (metrics := _means(of_seed, names)),
                "content": digest(metrics),
                "labels": list(labels),
                "averaged": "macro",
                "counts": {"missing_queries": 0, "extra_queries": 0},
                "queries": {"file": queries.name, "sha256": sha256(queries.read_bytes()).hexdigest()},
                "ancestry": ancestry,
            }
            write_sealed(folder / row / f"pt{p}-ft{f}.json", record)
    average = {metric: every.mean(axis=(0, 1)) for metric, every in values.items()}
    seeds = [{"pretraining": p, "finetuning": f} for p in range(shape[0]) for f in range(shape[1])]
    mean = record | {"seeds": seeds, "metrics": (metrics := _means(average, names)), "content": digest(metrics)}
    write_sealed(folder / f"{row}.json", mean)


def _places(names: np.ndarray) -> list[int]:
    """The number of each query within its language: systems may be of different languages."""
    return [int(np.count_nonzero(names[:n] == name)) for n, name in enumerate(names)]


def _means(of_seed: dict, names: np.ndarray) -> dict:
    metrics = {}
    for metric, values in of_seed.items():
        of_language = {str(name): float(values[names == name].mean()) for name in np.unique(names)}
        counts = {str(name): int((names == name).sum()) for name in np.unique(names)}
        average = float(np.mean(list(of_language.values())))
        metrics[metric] = {"languages": of_language, "average": average, "n": counts}
    return metrics


def write_results(
    folder: Path,
    effects: dict,
    seeds=5,
    queries=40,
    over_seeds=0.004,
    over_queries=0.02,
    rng=21,
    labels=("generated data",),
) -> Path:
    """Results on Mr. TyDi of models, each above what a query is worth by its effect: one number, or by language."""
    generator = np.random.default_rng(rng)
    names = [language for language in LANGUAGES for _ in range(queries)]
    worth = generator.uniform(0.2, 0.6, len(names))
    for model, effect in effects.items():
        shift = np.array([effect[name] if isinstance(effect, dict) else effect for name in names])
        of_seed = generator.normal(0, over_seeds, (seeds, 1, 1))
        of_query = generator.normal(0, over_queries, len(names))
        values = worth + shift + of_seed + of_query
        row, metrics = f"mrtydi/{model}/zero_shot_marco", {metric: values for metric in METRICS}
        write_system(folder, row, metrics, names, PRETRAINED, labels)
    return folder


def halfwidth(one):
    low, high = one.verdict.interval
    return (high - low) / 2
