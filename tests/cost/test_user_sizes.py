"""What a user has is what is counted: texts by their files, memory by model, batch and length, the time of a plan."""

import gzip
import json
import lzma
from types import SimpleNamespace

import pytest

from stele.cluster import preflight, resources
from stele.cluster.cost_page import of_this_plan
from stele.cluster.requests import JobRequest, estimate
from stele.cluster.work import Work, from_catalogue, is_users_text
from stele.config.user_sets import user_sets
from stele.recipes.flops import Shape, encode

MINILM = Shape(layers=6, width=384, inner=1536, vocabulary=30522)
MB, GB = 10**6, 10**9


class Wildcards(SimpleNamespace):
    def items(self):
        return vars(self).items()


@pytest.fixture
def scale(tmp_path):
    """scale(text) -> a scale of the user's own, of real data without a GPU."""

    def write(text="", gpus=0):
        (tmp_path / "mine.yaml").write_text(f"title: mine\ngenerated: false\nthreads: 2\ngpus: {gpus}\n{text}")
        return str(tmp_path / "mine.yaml")

    return write


@pytest.fixture
def minilm(tmp_path):
    """models: of a folder of six layers of width 384, and one that MSM continues from it."""
    sizes = {"num_hidden_layers": 6, "hidden_size": 384, "intermediate_size": 1536, "vocab_size": 30522}
    (tmp_path / "minilm").mkdir()
    (tmp_path / "minilm/config.json").write_text(json.dumps({"model_type": "bert", **sizes}))
    return {"minilm": {"checkpoint": str(tmp_path / "minilm")}, "ours": {"base": "minilm", "recipe": "msm"}}


@pytest.fixture
def text(tmp_path):
    """A folder of 3 MB of web text in two languages, one of them packed."""
    (tmp_path / "text").mkdir()
    (tmp_path / "text/sw.txt").write_bytes(b"maneno " * (2 * MB // 7))
    (tmp_path / "text/fi.txt.xz").write_bytes(lzma.compress(b"sanoja ja " * 10) + bytes(MB // 4))
    return str(tmp_path / "text")


@pytest.mark.parametrize("kind", ["paper", "miniature"])
def test_three_megabytes_of_text_cost_what_they_are_and_not_cc_100(jobs, scale, text, minilm, kind):
    plan = jobs(scale=kind, user_data={"cc100": text}, models=minilm)
    for part, plain in (("sw", 2 * MB), ("fi", 4.5 * MB / 4)):
        documents = estimate(plan, "cc100", {"part": part})
        mined = estimate(plan, "mine", {"method": "msm", "model": "minilm", "part": part})
        assert documents.kept == pytest.approx(0.35 * plain, rel=0.02)
        assert mined.kept == pytest.approx(1.1 * plain, rel=0.02) and mined.cpu_seconds < 2
    assert estimate(plan, "cc100", {"part": "te"}).kept == 0, "not there: the job says so"
    asked = resources.job_resources("mine", plan)
    assert asked["disk_mb"](Wildcards(method="msm", model="minilm", part="sw")) in (1002, 1003)


def test_a_plain_dump_is_reckoned_as_large_as_a_packed_one_of_the_same_pages(jobs, tmp_path):
    for name, size in {"swwiki-x-pages-articles.xml": 366, "fiwiki-x-pages-articles.xml.bz2": 100}.items():
        with open(tmp_path / name, "wb") as handle:
            handle.truncate(size << 20)
    plan = jobs(scale="paper", user_data={"wikipedia": str(tmp_path)})
    assert plan.corpora.dump_mb("sw") == plan.corpora.dump_mb("fi") == 100
    assert plan.corpora.dump_mb("te") == 0 < jobs(scale="paper").corpora.dump_mb("te")


def test_the_catalogue_s_sizes_are_named_and_are_no_reason_to_refuse(jobs, text, monkeypatch):
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda path: SimpleNamespace(free=10 * GB))
    monkeypatch.setattr(preflight, "_left_of_quotas", dict)

    def job(kept, *catalogued):
        outputs = ("work/paper/x.json",)
        return JobRequest("pairs", "mine", {}, "x.log", outputs, 1, {}, work=Work(kept=kept), catalogued=catalogued)

    errors, (warning,) = preflight.disk_problems([job(400 * GB, "cc100"), job(7 * GB, "xlmr"), job(2 * GB)])
    assert not errors and "keeps about 409 GB there (407 GB by the catalogue's sizes of cc100, xlmr)" in warning
    (error,), _ = preflight.disk_problems([job(31 * GB), job(GB, "xlmr")])
    assert "keeps about 32.0 GB there (1.0 GB by the catalogue's sizes of xlmr)" in error
    plan = jobs(scale="paper", user_data={"cc100": text})
    mine = {"method": "msm", "model": "xlmr", "part": "sw"}
    assert is_users_text(plan, "mine", mine) and from_catalogue(plan, "mine", mine) == []
    assert from_catalogue(jobs(scale="paper"), "mine", mine) == ["cc100"]
    assert from_catalogue(plan, "pretrain", {"model": "msm", "pt": "0"}) == ["xlmr"]
    own = jobs(scale="paper", models={"own": {"checkpoint": "a/b"}})
    assert from_catalogue(own, "checkpoint", {"model": "own"}) == ["xlmr"], "assumed, until its settings are here"
    monkeypatch.setattr(Shape, "in_folder", lambda _: MINILM)
    assert from_catalogue(own, "checkpoint", {"model": "own"}) == []
    small = jobs(scale="miniature")
    assert from_catalogue(small, "mine", mine) == from_catalogue(small, "pretrain", {"model": "msm"}) == []
    assert from_catalogue(plan, "knowledge_pairs", {"method": "clk", "part": "fi-sw"}) == ["wikipedia"]


def test_answering_in_a_generated_world_takes_what_the_miniature_s_took_and_not_what_all_of_squad_takes(jobs):
    """By the world's entities (200, 1,200) and the layers of the stand-ins, which have twelve times the weights."""
    row = {"benchmark": "mlqa", "model": "mbert", "setting": "zero_shot", "seeds": "pt0-ft0"}
    took = [estimate(jobs(scale=name), "answer", row) for name in ("miniature", "small")]
    assert not took[0].flops and took[0].cpu_seconds == pytest.approx(4.3)
    assert took[1].cpu_seconds == pytest.approx((0.3 + 6 * 4) * 12)


def test_a_public_checkpoint_that_a_generated_world_lacks_is_counted_as_a_download(jobs):
    """A result of a model without a stand-in fetches it from the hub; the plan said 0 MB."""
    plan = jobs(scale="miniature")
    fetched = estimate(plan, "checkpoint", {"model": "para_minilm"})
    assert fetched.download == fetched.kept == 471_000_000
    assert estimate(plan, "checkpoint", {"model": "xlmr"}).download == 0, "a stand-in, made here"


# --- memory -----------------------------------------------------------------------------------------------------------
def memory(plan, rule, **wildcards):
    return resources.job_resources(rule, plan)["mem_mb"](Wildcards(**wildcards), 1)


def test_without_gpus_a_training_asks_for_none_and_for_the_memory_of_its_model_batch_and_length(jobs, scale, minilm):
    """A peak of MSM's pretraining of MiniLM that was measured: 4,250 MB with groups of 256 sentences of 64 tokens."""
    sizes = "documents: 8, mlm_sequences: 16, mlm_length: 128, steps: 6"
    plan = jobs(scale=scale(f"pretraining: {{msm: {{{sizes}}}}}"), models=minilm)
    assert resources.gpus("pretrain", plan) == resources.gpus("retrieve", plan) == 0
    whole = memory(plan, "pretrain", model="ours", pt="0")
    assert 4250 < whole < 3 * 4250
    chunked = jobs(scale=scale(f"pretraining: {{msm: {{{sizes}, encode_chunk: 16}}}}"), models=minilm)
    assert memory(chunked, "pretrain", model="ours", pt="0") < whole / 2
    large = memory(plan, "finetune", model="xlmr_large", recipe="nq", seeds="pt0-ft0")
    assert memory(plan, "finetune", model="ours", recipe="nq", seeds="pt0-ft0") < large / 5
    row = {"benchmark": "lareqa", "model": "ours", "setting": "direct", "seeds": "pt0-ft0"}
    assert 500 < memory(plan, "retrieve", **row) < 4000
    assert memory(jobs(scale="paper"), "pretrain", model="msm", pt="0") == 112_000, "of the host, beside GPUs"


def test_beside_a_gpu_an_adaptation_asks_for_what_its_encoder_takes(jobs, scale, minilm):
    adapt = {"base": "minilm", "methods": ["ours"], "control": "ours", "benchmarks": ["lareqa"]}
    row = {"benchmark": "lareqa", "model": "ours", "setting": "direct", "seeds": "pt0-ft0"}
    scaled = scale(gpus=1)
    assert memory(jobs(scale=scaled, models=minilm), "pretrain", model="ours", pt="0") == 64_000
    plan = jobs(scale=scaled, models=minilm, adapt=adapt)
    assert 16_000 < memory(plan, "pretrain", model="ours", pt="0") < 64_000
    assert 24_000 < memory(plan, "retrieve", **row) < 30_000


def test_a_set_of_one_s_own_costs_what_its_files_hold(jobs, scale, minilm, tmp_path):
    folder = tmp_path / "news"
    (folder / "qrels").mkdir(parents=True)
    passage = json.dumps({"_id": "1", "title": "", "text": "word " * 130}) + "\n"
    (folder / "corpus.jsonl").write_text(passage * 3000)
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "1", "text": "a question of some words"}) + "\n")
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n1\t1\t1\n")
    plan = jobs(scale=scale(), models=minilm, **user_sets([folder], ["en"]))
    row = {"benchmark": "news", "model": "minilm", "setting": "direct", "seeds": "pt0-ft0"}
    work = estimate(plan, "retrieve", row)
    assert work.flops["encoding"] == pytest.approx(3000 * encode(1, 150, MINILM, first_only=False), rel=0.1)
    assert 500 < memory(plan, "retrieve", **row) < 2000
    with gzip.open(folder / "corpus.jsonl.gz", "w", compresslevel=1) as handle:
        handle.write("".join(passage.replace("word", f"{n:x}") for n in range(3000)).encode())
    size = (folder / "corpus.jsonl.gz").stat().st_size
    (folder / "corpus.jsonl").unlink()
    packed = estimate(jobs(scale=scale(), models=minilm, **user_sets([folder], ["en"])), "retrieve", row)
    assert packed.flops["encoding"] == pytest.approx(4.5 * size / 675 * encode(1, 150, MINILM, False), rel=0.1)


def test_a_collection_of_one_s_own_in_another_layout_is_not_taken_for_an_empty_one(jobs, minilm, tmp_path):
    """A search of gigabytes would be given half an hour on a cluster."""
    (tmp_path / "topics.txt").write_text("<top>")
    with open(tmp_path / "news.sgml", "wb") as handle:
        handle.truncate(2 * GB)
    entry = {"title": "x", "languages": ["es"]}
    about = {"version": "1", "parts": "all", "files": [], "licence": "mine", "wall": "private", "how": "mine"}
    searched = {"data": ["mine"], "judgments": ["mine"], "metrics": ["ndcg@20"], "depth": 1000, "module": "collection"}
    encoding = {"query_length": 64, "passage_length": 512, "passage_format": "text"}
    plan = jobs(
        scale="paper",
        models=minilm,
        user_data={"mine": str(tmp_path)},
        add_datasets={"mine": {**entry, **about}},
        add_benchmarks={"mine": {**entry, **searched, "encoding": encoding}},
        add_settings={"mine": {"direct": {"kind": "dense"}}},
    )
    row = {"benchmark": "mine", "model": "minilm", "setting": "direct", "seeds": "pt0-ft0"}
    assert estimate(plan, "retrieve", row) is None
    assert resources.job_resources("retrieve", plan)["runtime"](Wildcards(**row), 1) == resources.DAY


# --- the line of a plan -----------------------------------------------------------------------------------------------
def test_a_plan_takes_as_long_as_its_longest_chain_or_as_its_work_shared_by_the_cores():
    def job(name, minutes, threads=1, after=(), kept=0.0):
        work = Work(cpu_seconds=60 * minutes, kept=kept)
        return JobRequest("x", name, {}, f"{name}.log", (name,), threads, {}, after=after, work=work)

    chain = [job("a", 10), job("b", 20, after=("a.log",), kept=3 * GB), job("c", 10)]
    assert of_this_plan(chain, 2, gpus=False).startswith("about 30 min on 2 cores, 3.0 GB on the disk")
    assert of_this_plan(chain, 1, gpus=False).startswith("about 40 min on one core")
    wide = [job("a", 10, threads=8), job("b", 10, threads=8)]
    assert of_this_plan(wide, 2, gpus=False).startswith("about 20 min"), "threads are as many as the cores"
