"""Coverage, manifest, verification and comparison of folders of results."""

import csv
import io
import json
import shutil

import pytest

from stele.artifacts import records
from stele.artifacts.results import manifest_of
from stele.artifacts.run_files import write_run
from stele.command import cli
from stele.files.digests import digest, file_facts, sha256
from stele.tables.cells import all_cells, count_states, differences, pair_cells
from stele.tables.render.formats import COLUMNS
from stele.tables.values.lookup import Results
from tests.sealed import write_sealed

RESULT = "mrtydi/first/zero_shot_marco"


def build(folder, values: dict[str, float], model: str = "first"):
    """A result over one seed with all that stands beside it, by the real writers of records and runs."""
    import pyarrow
    import pyarrow.parquet

    folder_of_result = folder / "mrtydi" / model / "zero_shot_marco"
    (folder_of_result / "pt0-ft0/runs").mkdir(parents=True)
    rows = [(code, f"{code}{i}", value + i / 100) for code, value in values.items() for i in range(-12, 13)]
    columns = dict(zip(("language", "query", "mrr@100"), map(list, zip(*rows, strict=True)), strict=True))
    queries = folder_of_result / "pt0-ft0/queries.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"search": columns["language"], **columns}), queries)
    for code in values:
        write_run(folder_of_result / f"pt0-ft0/runs/{code}.trec.gz", [("q", [("d", 1.0)])], "t")
    searches = {code: {"language": code, "pool": code} for code in values}
    runs = {code: sha256(folder_of_result / f"pt0-ft0/runs/{code}.trec.gz") for code in values}
    given = {"benchmark": "mrtydi", "model": model, "setting": "zero_shot_marco"}
    retrieval, of_seed = folder_of_result / "pt0-ft0/retrieval.json", folder_of_result / "pt0-ft0.json"
    (folder_of_result / "pt0-ft0/alpha.csv").write_text("alpha\n0.5\n")
    written = ["alpha.csv", *(f"runs/{code}.trec.gz" for code in values)]
    outputs = {name: file_facts(folder_of_result / "pt0-ft0" / name) for name in written}
    of_runs = {"outputs": outputs, "content": digest(runs), "searches": searches}
    records.write_record(retrieval, job="retrieve", inputs={}, **of_runs, **given)
    mean, seed = sum(values.values()) / len(values), {"pretraining": 0, "finetuning": 0}
    metrics = {"mrr@100": {"languages": values, "average": mean, "n": dict.fromkeys(values, 25)}}
    for path, inputs, seeds in (
        (of_seed, {"retrieval": retrieval}, seed),
        (folder_of_result.with_suffix(".json"), {"seeds 0": of_seed}, [seed]),
    ):
        beside = {"queries": {"file": queries.name, "sha256": sha256(queries)}}
        beside["outputs"] = {f"pt0-ft0/{queries.name}": file_facts(queries)}
        beside = beside if isinstance(seeds, dict) else {}
        records.write_record(
            path, job="score", inputs=inputs, metrics=metrics, seeds=seeds, averaged="macro", content=digest(metrics),
            **beside, **given,
        )  # fmt: skip
    return folder_of_result


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    build(folder, {"ar": 0.5, "sw": 0.25})
    assert cli.main(["tables", "manifest", "--results-dir", str(folder)]) == 0
    return folder


def findings(folder, capsys) -> str:
    code = cli.main(["tables", "verify", "--results-dir", str(folder)])
    captured = capsys.readouterr()
    assert code == (1 if captured.err else 0)
    return captured.err


# --- verify -----------------------------------------------------------------------------------------------------------
def test_an_untouched_folder_is_right_wherever_it_stands(results, tmp_path, capsys):
    assert not findings(results, capsys)
    shutil.copytree(results, tmp_path / "elsewhere")
    assert not findings(tmp_path / "elsewhere", capsys)


def test_whatever_was_changed_by_hand_is_named(results, capsys):
    content = (path := results / f"{RESULT}.json").read_text()
    assert "0.25" in content
    path.write_text(content.replace("0.25", "0.95"))
    message = findings(results, capsys)
    assert "zero_shot_marco.json: changed" in message and "zero_shot_marco.json: its values are not those" in message


def test_a_change_is_seen_without_the_manifest_too(results, capsys):
    folder_of_result = results / RESULT
    shutil.copy(folder_of_result / "pt0-ft0/queries.parquet", folder_of_result / "kept")
    (folder_of_result / "pt0-ft0/queries.parquet").write_bytes(b"other")
    write_run(folder_of_result / "pt0-ft0/runs/sw.trec.gz", [("q", [("better", 1.0)])], "t")
    (folder_of_result / "kept").unlink()
    (results / "manifest.json").unlink()
    message = findings(results, capsys)
    assert "no manifest" in message
    assert "queries.parquet: has 5 bytes" in message and "(made by `score`" in message
    assert "sw.trec.gz: " in message and "(made by `retrieve`" in message


def test_files_that_came_or_went_are_named(results, capsys):
    (results / "tables").mkdir()
    (results / "tables/new.md").write_text("x")
    (results / RESULT / "pt0-ft0/runs/sw.trec.gz").unlink()
    message = findings(results, capsys)
    assert "tables/new.md: added" in message and "sw.trec.gz: removed" in message and "tables manifest" not in message


def test_files_of_a_run_killed_before_it_wrote_the_manifest_are_named_with_the_command_that_does(results, capsys):
    (results / "tables").mkdir()
    (results / "tables/new.md").write_text("x")
    command = findings(results, capsys).splitlines()[-1].partition(": stele ")[2]
    assert cli.main(command.split()) == 0 and not findings(results, capsys)
    (results / "tables").rename(results.with_name("disk"))
    (results / "tables").symlink_to(results.with_name("disk"))
    assert not findings(results, capsys), "a linked folder is followed"
    (results / "tables/new.md").unlink()
    assert findings(results, capsys).endswith("tables/new.md: removed\n"), "no killed run removes a file for good"


def test_a_seed_made_anew_without_its_average_is_named(results, capsys):
    folder_of_result = results / RESULT
    record = json.loads((folder_of_result / "pt0-ft0.json").read_text())
    record["metrics"]["mrr@100"]["languages"]["sw"] = 0.3
    write_sealed(folder_of_result / "pt0-ft0.json", record | {"content": digest(record["metrics"])})
    assert "zero_shot_marco.json: not made from the current pt0-ft0.json" in findings(results, capsys)


def test_labels_that_were_taken_off_and_other_files_beside_a_result_are_named(results, capsys):
    folder_of_result = results / RESULT
    record = json.loads((folder_of_result / "pt0-ft0.json").read_text())
    for facts in record["ancestry"].values():
        facts["labels"] = ["generated data"]
    write_sealed(folder_of_result / "pt0-ft0.json", record)
    (folder_of_result / "pt0-ft0/lengths_ar.csv").write_text("tokens,documents\n3,1\n")
    other = {"content": "", "inputs": {}, "job": "count", "outputs": {"lengths_ar.csv": {"bytes": 1, "sha256": ""}}}
    write_sealed(folder_of_result / "pt0-ft0/lengths_ar.json", other)
    (folder_of_result / "pt0-ft0/lengths_sw.csv").write_text("tokens,documents\n3,1\n")
    assert cli.main(["tables", "manifest", "--results-dir", str(results)]) == 0, "no cover for what was done by hand"
    message = findings(results, capsys)
    assert "pt0-ft0.json: its inputs bear the labels generated data, which it lacks" in message
    assert "lengths_ar.csv: has 21 bytes, but 1 were written" in message
    assert "lengths_sw.csv: no record beside it describes it" in message and "changed" not in message


@pytest.mark.parametrize("damage", [b"", b'{"metrics": {', b"[]", None])
def test_a_damaged_result_leaves_the_manifest_whole(results, capsys, damage):
    build(results, {"ar": 0.4, "sw": 0.2}, model="second")
    path = results / "mrtydi/first/zero_shot_marco.json"
    path.unlink()
    path.mkdir() if damage is None else path.write_bytes(damage)
    actual = manifest_of(results)
    assert str(path) in actual["results"]["mrtydi/first/zero_shot_marco.json"]["unreadable"]
    assert actual["results"]["mrtydi/second/zero_shot_marco.json"]["model"] == "second"
    wanted = "a folder, want a file" if damage is None else "not a"
    assert f"{path}: {wanted}" in findings(results, capsys)


@pytest.mark.parametrize("key", ["outputs", "queries", "setting"])
def test_a_record_cannot_name_a_file_elsewhere(results, capsys, key):
    """A folder of results may be a colleague's: what its records name lies in it."""
    manifest_of(results)
    folder_of_result = results / RESULT
    path = {
        "outputs": folder_of_result / "pt0-ft0/retrieval.json",
        "queries": folder_of_result / "pt0-ft0.json",
        "setting": folder_of_result.with_suffix(".json"),
    }
    name = "../../../../../secret"
    value = {"outputs": {name: {}}, "queries": {"file": name, "sha256": "0"}, "setting": name}[key]
    record = json.loads(path[key].read_text())
    write_sealed(path[key], {**record, "outputs": {}, key: value})
    assert f"'{name}" in (message := findings(results, capsys)) and "could lead outside its folder" in message


def test_the_manifest_holds_what_each_result_was_made_from(results):
    actual = manifest_of(results)
    (facts,) = actual["results"].values()
    assert "metrics" not in facts and facts["model"] == "first"
    assert {one["job"] for one in actual["ancestry"].values()} == {"score", "retrieve"}
    assert set(facts["inputs"].values()) <= actual["ancestry"].keys()


# --- counts -----------------------------------------------------------------------------------------------------------
def test_every_cell_is_counted_once(bench, results):
    bench.spec()
    rows = count_states(all_cells([bench.folder / "msm"], bench.results_dir))
    assert count_states(all_cells([bench.folder, bench.folder / "msm"], bench.results_dir)) == rows, "each table once"
    assert rows == [["paper", "tables", "cells", "measured", "not run"], ["msm", 1, 6, 3, 3], ["all", 1, 6, 3, 3]]


# --- diff -------------------------------------------------------------------------------------------------------------
def compare(bench, one, other, capsys) -> tuple[int, list[str]]:
    try:
        folders = ["--results-dir", str(one), "--against", str(other)]
        code = cli.main(["tables", "cells", *folders, "--specs", str(bench.folder / "msm")])
    except SystemExit as ended:
        code = ended.code
    return code, capsys.readouterr().out.splitlines()


def p_values(bench, *folders) -> dict[str, float | None]:
    """The p of each cell that differs between two folders, by its column."""
    pairs = pair_cells(*(all_cells([bench.folder / "msm"], folder) for folder in folders))
    return {cell.column.key: p for cell, _, p in differences(pairs, *map(Results, folders))}


def test_two_folders_are_compared_cell_by_cell_with_a_test(bench, results, tmp_path, capsys):
    bench.spec()
    build(tmp_path / "other", {"ar": 0.5, "sw": 0.45})
    build(tmp_path / "other", {"ar": 0.1, "sw": 0.1}, model="second")
    assert compare(bench, results, results, capsys) == (0, ["6 cells, 3 measured in both, 0 differ"])
    code, lines = compare(bench, results, tmp_path / "other", capsys)
    assert code == 1 and lines[-1] == "6 cells, 3 measured in both, 5 differ"
    sw = next(line for line in lines if "all/first/value/sw" in line).split("  ")
    assert sw[2:5] == ["0.25", "0.45", "+0.200000"]
    assert float(sw[5]) < 0.001  # every query is .2 better
    assert any("all/second/value/ar" in line and "not run" in line for line in lines)


def test_a_row_that_one_folder_s_configuration_added_is_compared_with_none(bench, results, tmp_path, capsys):
    bench.spec()
    build(results, {"ar": 0.5}, model="own")
    shutil.copytree(results, tmp_path / "other")
    (results / "tables").mkdir()
    (results / "tables/context.json").write_text(json.dumps({"extra_rows": [{"model": "own"}]}))
    code, lines = compare(bench, results, tmp_path / "other", capsys)
    assert code == 1 and lines[-1] == "6 cells (without 3 in added rows), 3 measured in both, 2 differ"
    assert {line.split("  ")[1] for line in lines[:-1]} == {"all/+own/value/ar", "all/+own/value/avg"}
    assert compare(bench, tmp_path / "other", results, capsys)[0] == 1


def test_the_test_needs_values_per_query_on_both_sides(bench, results, tmp_path):
    bench.spec()
    other_folder = build(tmp_path / "other", {"ar": 0.5, "sw": 0.45})
    (other_folder / "pt0-ft0/queries.parquet").unlink()
    assert p_values(bench, results, tmp_path / "other") == {"sw": None, "avg": None}


def test_a_difference_is_tested_where_only_another_language_lacks_queries(bench, results, tmp_path):
    """The other folder has 25 queries of ar as this one, and none of sw."""
    bench.spec()
    build(tmp_path / "other", {"ar": 0.3})
    found = p_values(bench, results, tmp_path / "other")
    assert found["ar"] is not None and found["ar"] < 0.05 and found["sw"] is None


def test_a_table_with_seeds_of_its_own_is_tested_on_their_values(bench, results, tmp_path):
    """The folders' means are of seed 0, which is the same in both; in seed 1 every query is .2 better in the other."""
    bench.spec(**{"stub: Method": "stub: Method\nseeds: {finetuning: [1]}"})
    folders = results, tmp_path / "other"
    shutil.copytree(*folders)
    for folder, better in zip(folders, (0.0, 0.2), strict=True):
        seed = build(tmp_path / f"seed{better}", {"ar": 0.5 + better, "sw": 0.25 + better})
        for name in ("pt0-ft0", "pt0-ft0.json"):
            (seed / name).rename(folder / RESULT / name.replace("ft0", "ft1"))
    found = p_values(bench, *folders)
    assert len(found) == 3 and all(p is not None and p < 0.001 for p in found.values())


# --- cells ------------------------------------------------------------------------------------------------------------
def test_every_cell_is_listed_with_the_command_that_builds_it(bench, results, capsys):
    bench.spec()
    line = ["tables", "cells", "--format", "csv", "--specs", str(bench.folder / "msm"), "--results-dir", str(results)]
    assert cli.main(line) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 6 and rows[0].keys() == set(COLUMNS)
    assert rows[0].items() >= {"language": "ar", "printed": "40.0", "measured": "50", "state": "measured"}.items()
    assert rows[3]["state"] == "not run" and rows[3]["measured"] == ""
    built = f"{results}/mrtydi/second/zero_shot_marco.json"
    assert rows[3]["command"] == f"snakemake {built} --config results_dir={results}"


def test_a_folder_that_is_not_there_gets_no_manifest(tmp_path, capsys):
    assert cli.main(["tables", "manifest", "--results-dir", str(tmp_path / "typo")]) == 1
    assert "no such folder of results" in capsys.readouterr().err and not (tmp_path / "typo").exists()
