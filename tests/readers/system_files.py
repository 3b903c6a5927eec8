"""Outputs of systems, results and scores."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import safetensors.numpy

from stele.artifacts import records, results
from stele.encoders.calibration import load_calibration, read_tensors
from stele.evaluation import scores
from stele.files.digests import digest
from stele.recipes.encoding import EncodingSpec
from stele.scoring.system_files.formats import read_output
from stele.tables.render import figure_data
from tests.readers.files import Reader, array, packed

TREC = b"q1 Q0 p1 1 2.5 run\nq1 Q0 p2 2 1e-3 run\nq2 Q0 p1 1 7 run\n"
RANX = json.dumps({"q1": {"p1": 2.5, "p2": 1}, "q2": {"p1": 3}}).encode()
HITS = pyarrow.table({"q_id": ["q1", "q1"], "doc_id": ["p1", "p2"], "score": [2.0, 1.0]})
PREDICTIONS = json.dumps(
    [{"id": "1", "lang": "sw", "ctxs": ["one", {"text": "two"}]}, {"id": "2", "lang": "sw", "ctxs": ["x"]}]
).encode()
QUERIES = pyarrow.table({"search": ["sw", "sw"], "language": ["sw", "sw"], "query": ["1", "2"], "mrr@100": [0.5, None]})
pyarrow.csv.write_csv(QUERIES, _csv := io.BytesIO())
RESULT = json.dumps(
    {
        "benchmark": "mrtydi",
        "model": "msm",
        "setting": "zero_shot",
        "labels": [],
        "seeds": {"pretraining": 0, "finetuning": 0},
        "metrics": {"mrr@100": {"languages": {"sw": 0.5}, "average": 0.5, "n": {"sw": 3}}},
    }
).encode()
RETRIEVAL = json.dumps({"job": "retrieve", "labels": [], "searches": {"sw": {"language": "sw", "pool": "sw"}}}).encode()
VECTORS = json.dumps({"job": "encode", "vectors": {"fr": {"queries": "one.npy", "passages": "two.npy"}}}).encode()
ANSWERED = json.dumps({"job": "answer", "answered": {"de-en": {"language": "de-en", "pool": "en"}}}).encode()

SPEC = EncodingSpec(pooling="mean")
CALIBRATION = json.dumps(
    {
        "job": "calibrate",
        "inputs": {"encoder": digest("x")},
        "encoding": SPEC.model_dump(),
        "recipe": {"scale_by": "variance"},
    }
).encode()
TENSORS = safetensors.numpy.save({"mean/fr": np.zeros(2), "deviation/fr": np.ones(2), "rotation/fr-en": np.eye(2)})


def calibration(path: Path) -> Any:
    return load_calibration(path, path.with_name("encoder.json"), SPEC)


def output(path: Path) -> Any:
    return read_output(str(path))


OUTPUTS: dict[str, Reader] = {
    "TREC run": ("run.txt", TREC, output),
    "TREC run, gzipped": ("run.txt.gz", gzip.compress(TREC), output),
    "ranx run": ("run.json", RANX, output),
    "ranx run, Parquet": ("run.parquet", packed(HITS), output),
    "XOR predictions": ("predictions.json", PREDICTIONS, output),
    "answers": ("answers.json", json.dumps({"a": "x", "b": ""}).encode(), output),
    "embeddings": ("one.npy", array([[1, 0], [0, 1]]), lambda path: read_output(f"{path},{path}")),
    "record of a retrieval": ("retrieval.json", RETRIEVAL, output),
    "record of vectors": ("vectors.json", VECTORS, output),
    "record of answers": ("answers.json", ANSWERED, output),
    "scores per query": ("queries.parquet", packed(QUERIES), scores.read),
    "scores per query, CSV": ("queries.csv", _csv.getvalue(), scores.read),
    "result": ("zero_shot.json", RESULT, results.read_result),
    "results as a table": ("zero_shot.json", RESULT, lambda path: results.load_results(path.parents[2])),
    "record": ("record.json", RETRIEVAL, records.content_digest),
    "projection": (
        "projection_fr.csv",
        b"line,language,x,y\n0,fr,1,2\n0,en,1.5,-2\n",
        lambda path: figure_data.read_projection(path, ["fr", "en"]),
    ),
    "calibration": ("calibration.safetensors", TENSORS, read_tensors),
    "record of a calibration": ("calibration.json", CALIBRATION, calibration),
    "lengths": ("lengths_fr.csv", b"tokens,documents\n3,4\n5,1\n", figure_data.read_lengths),
}
