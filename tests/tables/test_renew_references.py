"""references.tsv is renewed from clones: what stands in them and nothing else, and at which commit."""

import csv
import json
import subprocess
from collections import defaultdict

import pytest
import yaml

from stele import catalogue
from stele.catalogue.references import COLUMNS, FILE, read_references
from stele.catalogue.schema.published import ReferenceSources
from stele.command import cli

SOURCES = catalogue.whole(ReferenceSources)
E5 = "intfloat/multilingual-e5-small"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))


def commit(folder):
    """The commit of a folder that becomes a repository, its first 12 digits."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "made"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()[:12]


def put_result(folder, model, revision, task, scores, split="dev", version="1.38.9"):
    """A file of MTEB's results repository: scores by subset."""
    path = folder / "results" / model.replace("/", "__") / revision / f"{task}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = [{**values, "hf_subset": subset, "languages": []} for subset, values in scores.items()]
    head = {"dataset_revision": "d" * 40, "task_name": task, "mteb_version": version}
    path.write_text(json.dumps({**head, "scores": {split: listed}, "evaluation_time": 1.0}), encoding="utf-8")


def renew(tmp_path):
    output = tmp_path / "new.tsv"
    assert cli.main(["tables", "renew_references", str(tmp_path / "clones"), "--output", str(output)]) == 0
    return rows_of(output)


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "clones/results"
    folder.mkdir(parents=True)
    return folder


def test_another_table_is_not_replaced(tmp_path, clone, capsys):
    (tmp_path / "new.tsv").write_text("word\tcount\n")
    assert cli.main(["tables", "renew_references", str(clone.parent), "--output", str(tmp_path / "new.tsv")]) == 1
    assert "new.tsv: want the columns" in capsys.readouterr().err
    assert (tmp_path / "new.tsv").read_text() == "word\tcount\n"


def numbers(rows):
    return [(row["subset"], row["metric"], row["value"]) for row in rows]


def test_every_number_of_the_catalogue_comes_back_from_a_clone_that_holds_it(tmp_path, clone):
    """The clone is made of the catalogue's rows by language; means over them must come out as they stand there."""
    before, results = rows_of(FILE), defaultdict(lambda: defaultdict(dict))
    files = {
        task.benchmark: (name, {ours: theirs for theirs, ours in task.metrics.items()})
        for name, task in SOURCES.mteb.tasks.items()
    }
    for row in before:
        name, metrics = files.get(row["benchmark"], (None, {}))
        if row["source"] == "MTEB results" and "computed here" not in row["note"]:
            version = row["note"].partition(";")[0].removeprefix("mteb ")
            key = (row["model"], row["model_revision"], name, row["split"], version)
            results[key][row["subset"]][metrics[row["metric"]]] = float(row["value"])
    for (model, revision, task, split, version), scores in results.items():
        put_result(clone, model, revision, task, scores, split, version)
    made, conditions = commit(clone), defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for row in before:
        if row["source"] == "pyserini 2CR":
            file = next(name for name, one in SOURCES.pyserini.files.items() if one.benchmark == row["benchmark"])
            theirs = {ours: name for name, ours in SOURCES.pyserini.files[file].metrics.items()}[row["metric"]]
            conditions[file][f"{row['system']}.{row['subset']}"][row["split"]][theirs] = float(row["value"])
    for file, named in conditions.items():
        path = tmp_path / "clones/pyserini" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        listed = [
            {"name": name, "splits": [{"split": split, "scores": [dict(scores)]} for split, scores in splits.items()]}
            for name, splits in named.items()
        ]
        path.write_text(yaml.safe_dump({"conditions": listed}), encoding="utf-8")
    commit(tmp_path / "clones/pyserini")
    after = renew(tmp_path)

    def known(rows):
        return {tuple(row[key] for key in COLUMNS if key != "locator"): row["locator"] for row in rows}

    old, new = known(before), known(after)
    assert not new.keys() - old.keys()
    columns = [key for key in COLUMNS if key != "locator"]
    gone = [dict(zip(columns, row, strict=True)) for row in old.keys() - new.keys()]
    # means whose parts the catalogue does not hold: the clone has not enough subsets for them
    assert {row["benchmark"] for row in gone} == {"belebele", "bucc_v2", "mlqa_retrieval", "tatoeba"}
    assert all("computed here" in row["note"] for row in gone)
    places = {place for row, place in new.items() if "MTEB results" in row}
    assert all(place.startswith(f"embeddings-benchmark/results@{made} results/") for place in places)
    assert {row["source"] for row in after} == {row["source"] for row in before}


def test_means_are_of_all_their_subsets_or_there_are_none(tmp_path, clone):
    same = {f"l{n:03}_Latn-l{n:03}_Latn": {"ndcg_at_10": n / 1000} for n in range(121)}
    same["eng_Latn-eng_Latn"] = {"ndcg_at_10": 0.5}
    to_english = {f"l{n:03}_Latn-eng_Latn": {"ndcg_at_10": 0.25} for n in range(121)}
    put_result(clone, E5, "a" * 40, "BelebeleRetrieval", {**same, **to_english}, "test")
    commit(clone)
    found = [row for row in renew(tmp_path) if row["benchmark"] == "belebele" and row["source"] == "MTEB results"]
    mean = (sum(range(121)) / 1000 + 0.5) / 122
    assert numbers(found) == [
        ("passages X, questions English (121)", "ndcg@10", "0.25000"),
        ("same language (122)", "ndcg@10", f"{mean:.5f}"),
    ]


def test_other_models_tasks_splits_and_broken_numbers_stay_out(tmp_path, clone):
    scores = {"ja": {"ndcg_at_10": 0.5, "map_at_10": 0.4}}
    for model, task, split, version in [
        (E5, "MIRACLRetrievalHardNegatives", "dev", "2.2.0"),
        ("someone/else", "MIRACLRetrievalHardNegatives", "dev", "2.2.0"),
        (E5, "Banking77Classification", "dev", "2.2.0"),
        (E5, "MIRACLRetrieval", "test", "2.2.0"),
        ("Qwen/Qwen3-Embedding-8B", "XQuADRetrieval", "validation", "1.38.9"),
    ]:
        put_result(clone, model, "a" * 40, task, scores, split, version)
    # one subset alone is broken
    minilm = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
    two = {"es": {"ndcg_at_10": 0.001}, "ru": {"ndcg_at_10": 0.25}}
    put_result(clone, minilm, "a" * 40, "MIRACLRetrievalHardNegatives.v2", two)
    persian = {"fas": {"ndcg_at_20": 0.5}}
    for revision, version in (("b" * 40, "2.20.3"), ("c" * 40, "2.2.0")):
        put_result(clone, E5, revision, "NeuCLIR2023RetrievalHardNegatives", persian, "test", version)
    commit(clone)
    found = [row for row in renew(tmp_path) if row["source"] == "MTEB results"]
    assert {(row["benchmark"], row["model"], row["model_revision"]) for row in found} == {
        ("miracl_hard_negatives", E5, "a" * 40),
        ("miracl_hard_negatives_v2", minilm, "a" * 40),
        ("neuclir_2023_hard_negatives", E5, "c" * 40),
    }
    assert [row["subset"] for row in found if row["model"] == minilm] == ["ru"]


def test_a_source_without_a_clone_keeps_its_numbers_and_the_file_is_one_that_is_read(tmp_path, clone):
    put_result(clone, E5, "a" * 40, "MIRACLRetrievalHardNegatives", {"ja": {"ndcg_at_10": 0.5}})
    commit(clone)
    after = renew(tmp_path)
    others = [row for row in rows_of(FILE) if row["source"] != "MTEB results"]
    assert sorted(map(str, others)) == sorted(str(row) for row in after if row["source"] != "MTEB results")
    assert len(read_references(tmp_path / "new.tsv")) == len(others) + 1


@pytest.mark.parametrize("wrong", ["no clone", "no repository", "empty", "other layout", "no number", "nan"])
def test_what_is_no_clone_at_a_commit_is_refused_and_nothing_is_written(tmp_path, clone, capsys, wrong):
    put_result(clone, E5, "a" * 40, "MIRACLRetrieval", {"ja": {"ndcg_at_10": 0.5}})
    (file,) = clone.rglob("*.json")
    if wrong == "other layout":
        file.write_text('{"mteb_version": "1", "scores": {"dev": [{"ndcg_at_10": 1.0}]}}')
    if wrong == "no number":
        file.write_text('{"mteb_version": "1", "scores": {"dev": [{"hf_subset": "ja", "ndcg_at_10": null}]}}')
    if wrong == "nan":
        file.write_text(file.read_text().replace("0.5", "NaN"))
    if wrong in ("other layout", "no number", "nan"):
        commit(clone)
    if wrong == "empty":
        subprocess.run(["git", "init", "-q"], cwd=clone, check=True)
    folder = tmp_path if wrong == "no clone" else tmp_path / "clones"
    assert cli.main(["tables", "renew_references", str(folder), "--output", str(tmp_path / "new.tsv")]) == 1
    said = {
        "no clone": "want a clone of embeddings-benchmark/results as results/",
        **dict.fromkeys(("no repository", "empty"), "git cannot read this clone"),
        **dict.fromkeys(("other layout", "no number", "nan"), f"{file}: want the scores of each split"),
    }
    assert said[wrong] in capsys.readouterr().err
    assert not (tmp_path / "new.tsv").exists()


PROGRAMS = """[core]
    fsmonitor = PROGRAM
    hooksPath = .
[filter "x"]
    clean = PROGRAM
    smudge = PROGRAM
    process = PROGRAM
[extensions]
    partialClone = origin
[remote "origin"]
    url = ext::PROGRAM
    promisor = true
"""


def test_a_clone_s_configuration_runs_no_program(tmp_path, clone, monkeypatch):
    """A plain `git status` in the same clone runs it."""
    put_result(clone, E5, "a" * 40, "MIRACLRetrievalHardNegatives", {"ja": {"ndcg_at_10": 0.5}})
    (clone / ".gitattributes").write_text("* filter=x diff=x\n")
    made, program = commit(clone), tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    for hook in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
        (clone / ".git/hooks" / hook).symlink_to(program)
    with (clone / ".git/config").open("a") as handle:
        handle.write(PROGRAMS.replace("PROGRAM", str(program)))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))  # what the user's shell says of git is of another repository
    (row,) = [row for row in renew(tmp_path) if row["source"] == "MTEB results"]
    monkeypatch.delenv("GIT_DIR")
    assert row["locator"].startswith(f"embeddings-benchmark/results@{made} ") and not (tmp_path / "ran").exists()
    (result,) = (clone / "results").glob("*/*/MIRACL*")
    result.touch()  # so that git must look at its content
    subprocess.run(["git", "-C", str(clone), "status"], capture_output=True)
    assert (tmp_path / "ran").exists()
