"""Folders that users have of today's benchmarks: ir_datasets' cache, a clone of the hub, exports of `datasets`."""

from stele.catalogue.datasets import resolve
from stele.catalogue.user_data import find

CACHE = [  # of ir_datasets 0.6.3, below ~/.ir_datasets/miracl
    f"v1.0/{language}/{file}"
    for language in ("bn", "th")
    for file in ("dev/topics.tsv", "dev/qrels.tsv", "train/topics.tsv", "train/qrels.tsv", "docs/docs-0.jsonl.gz")
] + ["v1.0/th/docs/docs-1.jsonl.gz", "v1.0/th/docs.pklz4/bin"]


def found(dataset: str, part: str, files: list[str]) -> list[str]:
    return [name for file in resolve(dataset, part).files for name in find(files, file, part, "here")]


def test_ir_datasets_cache_serves_each_language_s_files():
    assert found("miracl", "th", CACHE) == ["v1.0/th/dev/topics.tsv", "v1.0/th/dev/qrels.tsv"]
    assert found("miracl_train", "bn", CACHE) == ["v1.0/bn/train/topics.tsv", "v1.0/bn/train/qrels.tsv"]
    assert found("miracl_corpus", "th", CACHE) == ["v1.0/th/docs/docs-0.jsonl.gz", "v1.0/th/docs/docs-1.jsonl.gz"]
    assert found("miracl_corpus", "bn", CACHE) == ["v1.0/bn/docs/docs-0.jsonl.gz"]


def test_ir_datasets_cache_of_neuclir_serves_each_language_s_documents():
    cache = [f"1/{code}/docs.jsonl.gz" for code in ("fas", "rus", "zho")] + ["trec-2022/topics.jsonl", "1/multi/bin"]
    assert found("neuclir_corpus", "fa", cache) == ["1/fas/docs.jsonl.gz"]
    assert found("neuclir_corpus", "zh", cache) == ["1/zho/docs.jsonl.gz"]


def test_clones_of_the_hub_and_exports_of_datasets_serve():
    roles = ("corpus", "queries", "qrels")
    clone = [f"{language}-{role}/dev-00000-of-00001.parquet" for language in ("bn", "th") for role in roles]
    assert found("miracl_hard_negatives", "th", clone) == clone[3:]
    exported = [f"{language}-{role}.parquet" for language in ("bn", "th") for role in roles]  # to_parquet
    assert found("miracl_hard_negatives", "bn", exported) == exported[:3]
    converted = [f"th-{role}/dev/0000.parquet" for role in roles]  # by the hub
    assert found("miracl_hard_negatives", "th", [*converted, "bn-corpus/dev/0000.parquet"]) == converted
    topics = [f"topics.miracl-v1.0-{language}-{split}.tsv" for language in ("bn", "th") for split in ("dev", "train")]
    assert found("miracl", "bn", topics) == topics[:1] and found("miracl_train", "bn", topics) == topics[1:2]
    for variants in (
        ["data/rus_Cyrl.jsonl", "data/eng_Latn.jsonl"],
        ["rus_Cyrl.parquet", "eng_Latn.parquet"],  # to_parquet
        ["rus_Cyrl/test-00000-of-00001.parquet", "eng_Latn/test-00000-of-00001.parquet"],
        ["belebele/rus_Cyrl/test/0000.parquet", "belebele/eng_Latn/test/0000.parquet"],  # the hub's own conversion
    ):
        files = resolve("belebele", "all", ["ru", "en"]).files
        there = [*variants, "swh_Latn.parquet", "swh_Latn/test/0000.parquet", "data/swh_Latn.jsonl"]
        assert {name for file in files for name in find(there, file, "all", "")} == {*variants}
    ciral = ["passages-v1.0/hausa_passages.jsonl", "passages-v1.0/swahili_passages.jsonl"]
    assert found("ciral_corpus", "ha", ciral) == ciral[:1]
