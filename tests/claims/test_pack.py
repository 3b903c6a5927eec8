"""Packed results: the same verdicts, checked like results, joined by later seeds, begun under claims that stay."""

import json
import shutil
import time
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet
import pytest

from stele.artifacts.records import content_digest, own_encoding, read_record
from stele.artifacts.results import RunKey, read_result
from stele.claims import pack as packing
from stele.claims.judging import trainings
from stele.claims.judging.verdicts import CONTEXT
from stele.claims.pack import begin, numbered, pack
from stele.command import cli
from stele.errors import SteleError
from stele.evaluation.paired import pair, read_system
from stele.files.digests import digest, sha256
from stele.files.paths import STAMP, STUDY
from stele.papers.table import load_specs
from stele.tables.render.cell_details import provenance
from stele.tables.values.context import context_of
from stele.tables.values.lookup import Results
from tests.claims.made_results import write_results, write_system
from tests.conftest import ROOT
from tests.sealed import write_sealed

SPECS = ROOT / "paper_tables"
EFFECTS = {"msm": 0.05, "xlmr": 0.0, "crop": 0.02}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = write_results(tmp_path_factory.mktemp("made") / "results", EFFECTS, seeds=4, queries=20)
    (folder / STAMP).write_text("study\n", encoding="utf-8")
    return folder


def of_seeds(results, folder, seeds):
    """A copy of a folder of results with some seeds of pretraining alone."""
    shutil.copytree(results, folder)
    for path in folder.glob("*/*/*/pt*-ft*"):
        if int(path.name.removeprefix("pt").partition("-")[0]) not in seeds:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return folder


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_of_other_files_is_not_filled(results, tmp_path, capsys):
    (tmp_path / "manifest.json").write_text("mine")
    assert cli.main(["claims", "pack", str(results), str(tmp_path), "--specs", str(SPECS)]) == 1
    assert "holds other files" in capsys.readouterr().err
    assert files(tmp_path) == {"manifest.json": b"mine"}


def test_a_first_packing_that_failed_can_be_repeated(results, tmp_path):
    specs, folder = shutil.copytree(SPECS, tmp_path / "specs"), tmp_path / "packed"
    claims = specs / "msm/claims.yaml"
    whole = claims.read_text()
    claims.write_text("claims: [")
    with pytest.raises(SteleError, match="claims"):
        pack(results, folder, specs)
    claims.write_text(whole)
    assert pack(results, folder, specs) > 0


def test_nothing_is_packed_or_drawn_into_a_folder_of_results(results, capsys):
    """It would be read as a benchmark's results."""
    before = files(results)
    for command in (["claims", "pack", str(results)], ["tables", "site", str(results), "--to"]):
        assert cli.main([*command, str(results / "kept"), "--specs", str(SPECS)]) == 1
        assert f"{results / 'kept'}: lies in {results}, which holds results" in capsys.readouterr().err
    assert files(results) == before


def test_a_packed_folder_is_right_by_its_manifest_and_a_flipped_byte_is_noticed(results, tmp_path, capsys):
    folder = tmp_path / "study"
    assert cli.main(["claims", "pack", str(results), str(folder), "--specs", str(SPECS)]) == 0
    verify = ["tables", "verify", "--results-dir", str(folder)]
    assert cli.main(verify) == 0
    assert cli.main(["claims", "pack", str(folder), str(tmp_path / "again"), "--specs", str(SPECS)]) == 1
    assert "is packed already (study.json is in it)" in capsys.readouterr().err and not (tmp_path / "again").exists()
    queries = next(folder.glob("mrtydi/msm/*/pt1-ft0/queries.parquet"))
    content = bytearray(queries.read_bytes())
    content[len(content) // 2] ^= 1
    queries.write_bytes(content)
    capsys.readouterr()
    assert cli.main(verify) == 1
    assert "pt1-ft0/queries.parquet: changed" in capsys.readouterr().err


def test_verdicts_on_a_packed_folder_are_those_on_the_results(results, tmp_path, capsys):
    pack(results, tmp_path / "study", SPECS)
    said = []
    for folder in (results, tmp_path / "study"):
        command = ["claims", "judge", str(folder), "--paper", "msm", "--specs", str(SPECS), "--format", "json"]
        assert cli.main(command) == 0
        said.append(json.loads(capsys.readouterr().out))
    assert {claim["state"] for claim in said[0]["claims"]} > {"no data"}
    for ours, packed in zip(*(found["claims"] for found in said), strict=True):
        assert ours["state"] == packed["state"], ours["key"]
        if ours["mean"] is not None:
            assert packed["mean"] == pytest.approx(ours["mean"], abs=1e-4)


def test_tables_of_a_packed_folder_show_all_its_seeds(results, tmp_path):
    """KEPT's Table 7 wants three seeds of fine-tuning; the last run that joined the folder knew of its own alone."""
    row = RunKey("mrtydi", "kept", "zero_shot_nq")
    given = of_seeds(results, tmp_path / "results", {0})
    (given / CONTEXT).parent.mkdir()
    seeds = {"kept/7": {row.name: ["pt0-ft0", "pt0-ft1", "pt0-ft2"]}}
    (given / CONTEXT).write_text(json.dumps({"scale": "study", "table_seeds": seeds}), encoding="utf-8")
    pack(given, tmp_path / "study", SPECS)
    table = next(table for table in load_specs(SPECS / "kept") if table.id == "kept/7")
    said = [context_of(folder) for folder in (given, tmp_path / "study")]
    assert [len(context.seeds_of(table, row)) for context in said] == [3, 0], (
        "none: the file that averages what is there"
    )
    assert said[1].scale == "study"


def test_tables_of_a_packed_folder_show_the_languages_of_all_its_runs(results, tmp_path):
    made = of_seeds(results, tmp_path / "results", {0})
    (made / CONTEXT).parent.mkdir()
    for languages in (["sw", "te"], ["ar", "sw"]):
        (made / CONTEXT).write_text(json.dumps({"languages_in_scale": {"mrtydi": languages}}), encoding="utf-8")
        pack(made, tmp_path / "study", SPECS)
    assert context_of(tmp_path / "study").languages_in_scale == {"mrtydi": ["sw", "te", "ar"]}


def test_values_per_query_are_kept_in_single_precision_and_the_means_as_they_were(results, tmp_path):
    pack(results, tmp_path / "study", SPECS)
    name = "mrtydi/msm/zero_shot_marco/pt0-ft0"
    before, after = (
        pyarrow.parquet.read_table(folder / name / "queries.parquet") for folder in (results, tmp_path / "study")
    )
    assert before.select(["search", "language"]).to_pylist() == after.select(["search", "language"]).to_pylist()
    known = pyarrow.parquet.read_table(tmp_path / "study/mrtydi/zero_shot_marco.parquet").to_pylist()
    of_search = {}
    for row in known:
        of_search.setdefault(row["search"], []).append(row["query"])
    meant = [of_search[row["search"]][int(row["query"])] for row in after.to_pylist()]
    assert meant == before["query"].to_pylist(), "each number leads back to its query"
    assert np.array_equal(before["mrr@100"].to_numpy().astype(np.float32), after["mrr@100"].to_numpy())
    assert read_result(results / f"{name}.json") == read_result(tmp_path / "study" / f"{name}.json")


def test_a_search_of_other_queries_is_refused_and_a_new_one_is_numbered_whatever_came_first(tmp_path):
    path = tmp_path / "queries.parquet"
    assert numbered(path, ["sw", "sw", "sw"], ["q10", "q2", "q10"]) == ["0", "1", "0"]
    assert numbered(path, ["ar", "sw", "sw"], ["x", "q2", "q10"]) == ["0", "1", "0"]
    before = path.read_bytes()
    with pytest.raises(SteleError, match=r"queries.parquet: the search sw had other queries"):
        numbered(path, ["sw", "th"], ["q10", "y"])
    assert path.read_bytes() == before
    other = tmp_path / "other.parquet"
    numbered(other, ["ar"], ["x"])
    numbered(other, ["sw", "sw"], ["q2", "q10"])
    assert other.read_bytes() == before


def test_a_question_stays_the_same_in_languages_that_ask_other_parts_of_the_questions(tmp_path):
    """As in MLQA: by their numbers, es-de's first question was taken for de-de's."""
    draw, folders = np.random.default_rng(5), [tmp_path / "results", tmp_path / "packed"]
    languages = ["de-de"] * 12 + ["es-de"] * 3
    for model in ("mbert_gsw", "mbert_rr_20"):
        write_system(folders[0], f"mlqa/{model}/zero_shot", {"f1": draw.random((1, 1, 15))}, languages)
    (folders[0] / STAMP).write_text("study\n", encoding="utf-8")
    pack(*folders, SPECS)
    samples = []
    for folder in folders:
        systems = [read_system([folder / f"mlqa/{name}/zero_shot.json"]) for name in ("mbert_gsw", "mbert_rr_20")]
        samples.append(pair(*systems, "f1").samples("macro", same_questions=True))
    np.testing.assert_allclose(samples[1], samples[0], rtol=1e-5)


def test_what_results_come_from_stands_once_and_pages_show_it(results, tmp_path):
    """A seed's record names its ancestors; their recipes stand in ancestry.json, from where a page has them.

    How its texts were encoded stays: published numbers are compared with that.
    """
    folder, source = tmp_path / "study", of_seeds(results, tmp_path / "results", range(4))
    path = source / "mrtydi/msm/zero_shot_marco/pt2-ft0.json"
    encoded = {"job": "retrieve", "encoding": {"pooling": "cls"}, "encoding_decided_by": {"config": ["pooling"]}}
    record = json.loads(path.read_text())
    write_sealed(path, record | {"ancestry": record["ancestry"] | {"e" * 16: encoded | {"recipe": {}}}})
    pack(source, folder, SPECS)
    assert own_encoding(read_record(folder / path.relative_to(source))) == {"pooling": "cls"}
    digest, recipe = "d" * 16, {"steps": 7}
    path = folder / "mrtydi/msm/zero_shot_marco/pt0-ft0.json"
    record = json.loads(path.read_text())
    write_sealed(path, record | {"inputs": {"retrieval": "r" * 16}})
    retrieved = {"job": "retrieve", "inputs": {"encoder": digest}}
    everything = {"r" * 16: retrieved, digest: {"recipe": recipe}, "z" * 16: {}}
    (folder / "ancestry.json").write_text(json.dumps(everything))
    kept = provenance(
        [SimpleNamespace(result=RunKey("mrtydi", "msm", "zero_shot_marco"), sources=(path,))], Results(folder)
    )
    assert kept[0].ancestry[digest] == {"recipe": recipe} and "z" * 16 not in kept[0].ancestry
    slim = json.loads((folder / "mrtydi/msm/zero_shot_marco/pt1-ft0.json").read_text())
    assert all("recipe" not in facts for facts in slim["ancestry"].values()) and "intervals" not in slim


def test_the_means_are_those_of_the_rule_that_averages_seeds(results, tmp_path):
    pack(results, tmp_path / "study", SPECS)
    row = tmp_path / "study/mrtydi/msm/zero_shot_marco"
    seeds = map(str, sorted(row.glob("pt*-ft*.json")))
    assert cli.main(["scoring", "average", "--seeds", *seeds, "--output", str(tmp_path / "mean.json")]) == 0
    packed, averaged = read_result(row.with_suffix(".json")), read_result(tmp_path / "mean.json")
    assert packed.metrics == averaged.metrics and packed.seeds == averaged.seeds
    assert packed.metrics["mrr@100"].average is not None and packed.metrics["mrr@100"].std.average > 0


def test_of_pretrainings_that_results_come_from_the_loss_is_kept(results, tmp_path):
    """A curve of 120 steps is 50 means of equal stretches; a step that did not draw a task has no part in its mean."""
    encoder = tmp_path / "work/encoders/msm/pt0"
    encoder.mkdir(parents=True)
    facts = {"job": "pretrain", "model": "msm", "seed": 0, "steps": 120, "losses": {"msm": 1.9}, "chance": {"msm": 3.3}}
    write_sealed(encoder / "record.json", {**facts, "content": "c", "cpu_seconds": 5.0})
    rows = [f"{step},0.1,{step},{step if step % 2 else ''}" for step in range(1, 121)]
    (encoder / "curve.csv").write_text("\n".join(["step,learning_rate,msm,mlm", *rows]) + "\n")
    digest = content_digest(encoder / "record.json")
    assert dict(trainings.trainings(tmp_path / "work", {"of another"})) == {}
    kept = dict(trainings.trainings(tmp_path / "work", {digest}))[digest]
    assert kept.items() >= {"model": "msm", "losses": {"msm": 1.9}, "cpu_seconds": 5.0}.items()
    curve = kept["curve"]
    assert len(curve["step"]) == 50 and curve["step"][-1] == 120 and "learning_rate" not in curve
    assert curve["msm"][0] == 2.0 and curve["mlm"][0] == 2.0  # steps 1 to 3: mean of 1, 2, 3; of 1 and 3
    (encoder / "curve.csv").write_text("step,learning_rate,msm\n1,0.1,x\n")
    with pytest.raises(SteleError, match=r"curve.csv: not a readable loss curve"):
        list(trainings.trainings(tmp_path / "work", {digest}))


def test_of_fine_tunings_that_results_come_from_the_cost_is_kept(results, tmp_path):
    work, facts = tmp_path / "work", {"model": "msm", "seed": 0, "steps": 150, "cpu_seconds": 7.5}
    for seeds in ("pt0-ft0", "pt0-ft1"):
        folder = work / "finetuned/msm/nq" / seeds
        folder.mkdir(parents=True)
        write_sealed(folder / "record.json", {"job": "finetune", **facts, "recipe": {"batch": 48}, "content": seeds})
    digest = content_digest(work / "finetuned/msm/nq/pt0-ft1/record.json")
    assert dict(trainings.trainings(work, {digest}, trainings.FINETUNING)) == {digest: facts}
    pack(results, tmp_path / "study", SPECS, work)
    assert json.loads((tmp_path / "study" / trainings.FINETUNING).read_text()) == {}, "no result comes from them"


def test_seeds_that_come_later_make_the_folder_that_all_at_once_make(results, tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "_now", lambda: "2026-11-23T17:35:43Z")
    pack(results, tmp_path / "whole", SPECS)
    for seeds in ({2, 3}, {0, 1}):
        pack(of_seeds(results, tmp_path / f"only{min(seeds)}", seeds), tmp_path / "pieces", SPECS)
    assert files(tmp_path / "pieces") == files(tmp_path / "whole")


def test_a_copy_under_a_short_name_is_not_packed(results, tmp_path):
    """It would stay the mean over its own run's seeds when others join."""
    given = shutil.copytree(results, tmp_path / "given")
    shutil.copyfile(given / "mrtydi/msm/zero_shot_marco.json", given / "mrtydi/msm/zero_shot.json")
    pack(given, tmp_path / "study", SPECS)
    assert sorted(path.name for path in (tmp_path / "study/mrtydi/msm").glob("*.json")) == ["zero_shot_marco.json"]


def test_a_paper_s_claims_are_written_down_with_its_first_result(results, tmp_path):
    """Claims of a paper without results may still change; the time is that of the beginning."""
    specs, folder = tmp_path / "paper_tables", tmp_path / "study"
    shutil.copytree(SPECS, specs)
    pack(results, folder, specs)
    begun = json.loads((folder / STUDY).read_text(encoding="utf-8"))
    assert time.strptime(begun["begun"], "%Y-%m-%dT%H:%M:%SZ") and "looks_sha256" not in begun
    assert begun["claims_sha256"]["msm"] == sha256(specs / "msm/claims.yaml")
    assert "dense_clt" not in begun["claims_sha256"]
    with (specs / "dense_clt/claims.yaml").open("a", encoding="utf-8") as handle:
        handle.write("# nothing was built yet\n")
    values = {"ap": np.full((1, 1, 4), 0.3)}
    more = tmp_path / "more"
    write_system(more, "clef2006_fr/mbert/zero_shot_marco", values, ["fr"] * 4)
    (more / STAMP).write_text("study\n", encoding="utf-8")
    pack(more, folder, specs)
    after = json.loads((folder / STUDY).read_text(encoding="utf-8"))
    own = {"dense_clt": sha256(specs / "dense_clt/claims.yaml")}
    assert after == begun | {"claims_sha256": begun["claims_sha256"] | own}
    with (specs / "dense_clt/claims.yaml").open("a", encoding="utf-8") as handle:
        handle.write("# a bar that suits the results\n")
    with pytest.raises(SteleError, match="was begun under other claims of dense_clt"):
        pack(more, folder, specs)


@pytest.mark.parametrize("where", ["results", "study"])
def test_the_seeds_of_the_first_look_stay(results, tmp_path, where):
    made = of_seeds(results, tmp_path / "results", {0, 1})
    (made / "looks.yaml").write_text("first: {pretraining: [0, 1]}\n")
    pack(made, tmp_path / "study", SPECS)
    begun = json.loads((tmp_path / "study" / STUDY).read_text(encoding="utf-8"))
    assert begun["looks_sha256"] == sha256(made / "looks.yaml") == sha256(tmp_path / "study/looks.yaml")
    pack(made, tmp_path / "study", SPECS)
    (tmp_path / where / "looks.yaml").write_text("first: {pretraining: [0, 1, 2]}\n")
    with pytest.raises(SteleError, match=r"was begun with another looks.yaml"):
        pack(made, tmp_path / "study", SPECS)


def test_a_packed_seed_of_other_values_stays(results, tmp_path):
    """Scored again with other values it is refused before anything is written; with a further metric it is packed."""
    made, folder = of_seeds(results, tmp_path / "results", {0, 1}), tmp_path / "study"
    pack(made, folder, SPECS)
    path = made / "mrtydi/msm/zero_shot_marco/pt1-ft0.json"
    record = json.loads(path.read_text())
    more = record["metrics"] | {"ndcg@10": record["metrics"]["mrr@100"]}
    write_sealed(path, record | {"metrics": more, "content": digest(more)})
    pack(made, folder, SPECS)
    before = files(folder)
    assert "ndcg@10" in read_result(folder / "mrtydi/msm/zero_shot_marco/pt1-ft0.json").metrics
    write_sealed(path, record)
    with pytest.raises(SteleError, match=r"pt1-ft0.json: other values of ndcg@10 than in .*a packed seed is not repl"):
        pack(made, folder, SPECS)
    assert files(folder) == before


def test_results_of_another_scale_and_of_none_are_refused(results, tmp_path):
    begin(tmp_path / "study", "small", SPECS, tmp_path)
    with pytest.raises(SteleError, match="holds results of the scale small, these are of study"):
        pack(results, tmp_path / "study", SPECS)
    with pytest.raises(SteleError, match=r"no results of a scale \(scale.txt is missing\)"):
        pack(tmp_path, tmp_path / "other", SPECS)
