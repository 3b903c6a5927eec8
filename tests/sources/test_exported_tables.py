"""Corpora that a user has as Parquet files, as `datasets` and the hub write them, in place of the released files."""

import copy
import json

import pyarrow
import pyarrow.parquet
import pytest
from one_file import Run

from stele import catalogue
from stele.benchmarks.belebele import Belebele
from stele.benchmarks.ciral import Ciral
from stele.benchmarks.miracl import Miracl
from stele.benchmarks.neuclir_mono import NeuclirMono
from stele.benchmarks.types import QuerySet
from stele.catalogue.datasets import resolve
from stele.catalogue.schema.datasets import Dataset
from stele.catalogue.user_data import exported, find, part_files
from stele.errors import SteleError
from stele.files.strict import validate

LAYOUTS = [  # dataset, part, the files of its export in order, others that lie beside them
    ("miracl_corpus", "es", [f"es/train/{n:04}.parquet" for n in range(11)], ["en/train/0000.parquet"]),
    ("miracl_corpus", "es", [f"es/miracl-corpus-train-{n:05}-of-00009.parquet" for n in range(9)], ["es/x.duckdb"]),
    ("miracl_corpus", "es", [f"data/es/train-{n:05}-of-00002.parquet" for n in range(2)], ["de/train-0-of-1.parquet"]),
    ("miracl_corpus", "es", [f"es/{n}.parquet" for n in range(11)], []),
    ("miracl_corpus", "es", ["es.parquet"], ["en.parquet"]),
    ("ciral_corpus", "ha", ["hausa/train/0000.parquet", "hausa/train/0001.parquet"], ["combined/hausa/0000.parquet"]),
    ("ciral_corpus", "ha", [f"combined/ciral-corpus-hausa-{n:05}-of-00002.parquet" for n in range(2)], []),
    ("ciral_corpus", "yo", ["combined/ciral-corpus-yoruba.parquet"], []),
    ("neuclir_corpus", "fa", [f"data/fas-{n:05}-of-00019.parquet" for n in range(19)], ["fas_mt_eng-0-of-1.parquet"]),
    ("neuclir_corpus", "zh", [f"default/zho/{n:04}.parquet" for n in range(3)], ["default/partial-zho/0000.parquet"]),
]  # fmt: skip


@pytest.mark.parametrize(("dataset", "part", "tables", "others"), LAYOUTS)
def test_each_layout_of_an_export_is_found_in_order(dataset, part, tables, others):
    source = resolve(dataset, part)
    assert exported(sorted([*tables, *others]), source) == tables
    assert part_files(sorted([*tables, *others]), source) == tables


def test_a_beginning_that_the_hub_converted_is_no_export():
    assert not exported(["en/partial-train/0000.parquet"], resolve("miracl_corpus", "en"))


def test_released_files_come_before_tables():
    own = ["passages-v1.0/hausa_passages.jsonl", "hausa/train/0000.parquet"]
    assert part_files(own, resolve("ciral_corpus", "ha")) == own[:1]


ROWS = [
    {"docid": "12#3", "title": "A", "text": "one", "url": "u"},
    {"docid": "12#10", "title": "", "text": "two\nlines", "url": None},
    {"docid": "7", "title": "C", "text": "three", "url": "u"},
]


def write(folder, names, rows=ROWS):
    """Rows dealt out to files of a folder, in their order."""
    whole, each = pyarrow.Table.from_pylist(rows), -(-len(rows) // len(names))
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        table = whole.slice(number * each, each)
        pyarrow.parquet.write_table(table, folder / name, row_group_size=1)
    return folder


def entry(dataset, part, passages=3):
    """The catalogue's entry of a part, with another number of passages."""
    values = resolve(dataset, part).given()
    values["counts"]["passages"][0]["expect"] = passages
    return values | {"dataset": "set"}


@pytest.fixture
def run(tmp_path, capsys):
    return Run(tmp_path, capsys)


@pytest.mark.parametrize(
    ("dataset", "part", "module", "names"),
    [
        ("miracl_corpus", "es", Miracl(), ["es/train-00000-of-00002.parquet", "es/train-00001-of-00002.parquet"]),
        ("ciral_corpus", "ha", Ciral(), ["hausa/train/0000.parquet", "hausa/train/0001.parquet"]),
        ("neuclir_corpus", "fa", NeuclirMono(), ["fas.parquet"]),
    ],
)
def test_an_export_is_linked_counted_and_read(run, tmp_path, dataset, part, module, names):
    rows = ROWS if dataset != "neuclir_corpus" else [{"id": row["docid"], **row} for row in ROWS]
    folder = write(tmp_path / "own", names, rows)
    assert run(entry(dataset, part), "--user-data", str(folder), part=part) == 0
    assert run.have() == [f"{n:05}.parquet" for n in range(len(names))] + ["record.json"]
    assert all(path.is_symlink() for path in run.output.parent.glob("*.parquet"))
    assert run.record["counts"] == {"passages": 3} and run.record["came_from"] == ["user data"]
    assert run.record["files"]["00000.parquet"]["name"] == names[0]
    if dataset == "neuclir_corpus":  # its reader wants the judgments, too
        gains = tmp_path / "bench" / "qrels.fas.gains.txt"
        gains.parent.mkdir()
        gains.write_text("1 0 7 3\n")
        read = module.passages({"neuclir": {"all": gains.parent}, dataset: {part: run.output.parent}}, part)
    else:
        read = module.passages({dataset: {part: run.output.parent}}, part)
    assert [tuple(passage) for passage in read] == [(row["docid"], row["title"], row["text"]) for row in ROWS]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["es/train-00000-of-00003.parquet", "es/train-00002-of-00003.parquet"],
            "file 1 of 3 (from 0) is missing",
        ),
        (
            ["es/train-00001-of-00003.parquet", "es/train-00002-of-00003.parquet"],
            "file 0 of 3 (from 0) is missing",
        ),
        (["es/train/0000.parquet", "es/train/0002.parquet"], "file 1 of 3 (from 0) is missing"),
        (
            [f"es/train-0000{n}-of-00003-a09b74b3ef9c3b{n}f.parquet" for n in (0, 2)],
            "file 1 of 3 (from 0) is missing",
        ),
        (["es/train-0-of-1.parquet", "es/dev-0-of-1.parquet"], "tables of more than one export: es/dev-0-of-1.parquet"),
        (["a/es.parquet", "b/es.parquet"], "tables of more than one export: a/es.parquet, b/es.parquet"),
    ],
)
def test_an_export_that_is_not_whole_or_not_one_is_named(run, tmp_path, names, message):
    folder = write(tmp_path / "own", names)
    assert message in run.refused(entry("miracl_corpus", "es"), "--user-data", str(folder), part="es")
    assert not run.output.parent.exists()


def test_what_a_table_holds_is_checked(run, tmp_path):
    folder = write(tmp_path / "own", ["es/train/0000.parquet", "es/train/0001.parquet"])
    message = run.refused(entry("miracl_corpus", "es", 4), "--user-data", str(folder), part="es")
    assert "own/es/train/0000.parquet and " in message and "holds 3 passages, but the catalogue says 4" in message
    message = run.refused(entry("miracl_corpus", "fr"), "--user-data", str(folder), part="fr")
    assert "lacks docs/docs-0.jsonl.gz" in message and "(or its tables, as fr/train/*.parquet)" in message


def test_an_export_is_counted_by_records():
    values = copy.deepcopy(catalogue.load("datasets")["ciral_corpus"])
    assert validate(Dataset, values, "mine").exports
    values["counts"]["passages"]["count"] = "lines"
    with pytest.raises(SteleError, match="`exports` are counted by records, and passages is not"):
        validate(Dataset, values, "mine")


# --- other folders: ir_datasets' cache, a clone of the hub ------------------------------------------------------------
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
    for folder in ("passages-v1.0/", ""):  # a clone, single downloads
        ciral = [f"{folder}{language}_passages.jsonl" for language in ("hausa", "swahili")]
        assert found("ciral_corpus", "ha", ciral) == ciral[:1]


@pytest.mark.parametrize(
    "layout",
    [
        "data/{}.jsonl",
        "{}.parquet",  # to_parquet
        "{}/test-00000-of-00001.parquet",
        "belebele/{}/test/0000.parquet",  # the hub's own conversion
    ],
)
def test_each_layout_of_belebele_is_linked_counted_and_read(run, tmp_path, layout):
    values = resolve("belebele", "all", ["ru", "en"]).given() | {"dataset": "set"}
    for variant, count in zip(("eng_Latn", "rus_Cyrl", "swh_Latn"), [*values["counts"]["questions"], {}], strict=True):
        rows = [{"link": f"{n}", "flores_passage": f"p{n}", "question": f"{variant}{n}"} for n in range(2)]
        path = tmp_path / "own" / layout.format(variant)
        if path.suffix == ".jsonl":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(map(json.dumps, rows)))
        else:
            write(tmp_path / "own", [layout.format(variant)], rows)
        count["expect"] = 2
    assert run(values, "--user-data", str(tmp_path / "own")) == 0
    assert sorted(run.record["files"]) == ["data/eng_Latn.jsonl", "data/rus_Cyrl.jsonl"]
    read = Belebele().queries({"belebele": {"all": run.output.parent}}, QuerySet("ru-en", "ru-en", "ru"))
    assert [query.text for query in read] == ["eng_Latn0", "eng_Latn1"]
