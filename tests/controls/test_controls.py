"""Each benchmark has a row in miniature that is far above a guess, and exchanged candidates bring it down to the guess.

`make controls` builds these rows and runs this file; without it only the list of controls is checked. What they
are: docs/miniature.md.
"""

import gzip
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from stele import catalogue
from stele.artifacts import records
from stele.artifacts.results import RunKey
from stele.artifacts.run import run_of
from stele.benchmarks.arguments import data_folders
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import BenchmarkReader, ParallelTextsReader
from stele.catalogue.schema.benchmarks import Benchmark
from stele.config.model import parse_config
from stele.config.scale import load_scale
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric
from stele.files.digests import facts_digest, folder_facts
from stele.plan.paths import assignments
from stele.plan.plan import Plan
from stele.recipes.world import Pools
from stele.scoring.system_files.systems import given_outputs, read_case
from stele_world.content.generate import generate
from stele_world.site import Site
from stele_world.writers.clef import write_clef
from stele_world.writers.library import Library
from tests.workflow.conftest import snakemake

BUILT = os.environ.get("STELE_CONTROLS")
FAR, DRAWS = 5, 5  # standard errors above a guess; random rankings whose mean is the guess
ROWS = {  # benchmark -> model/setting
    "belebele": "me5_base/direct",
    "clef": "knrm_fasttext/cv5",
    "clef2006_fr": "bm25/direct",
    "lareqa": "me5_base/zero_shot",
    "mewsli_x": "labse/zero_shot",
    "miracl": "me5_base/direct",
    "miracl_hard_negatives": "me5_base/direct",
    "mrtydi": "bm25/tuned",
    "nq": "labse/supervised",
    "tatoeba": "labse/direct",
    "tatoeba_pairs": "me5_base/direct",
    "trec2002_ar": "bm25/direct",
    "trec3_es": "bm25/direct",
    "xda": "me5_base/direct",
    "xor_retrieve": "labse/zero_shot_nq_ccp",
    "xsa": "me5_base/direct",
}
BM25 = {"ciral": ["sw"], "neuclir_mono": ["ru", "zh"]}  # no setting of theirs has it: searched here, in languages
BY_HEART = {"mlqa": ["de-en", "en-de", "es-es"]}  # a reader that learns the test's own answers
READER = {
    "training_set": {"data": ["squad2"], "module": "squad2"},
    **{"batch": 16, "epochs": 15, "dev_from_epoch": 15, "learning_rate": 2e-3, "schedule": "linear", "dropout": 0.0},
    **{"length": 96, "question_length": 24, "stride": 48, "threads": 1},
}
# CLEF's 40 topics teach a cross-encoder nothing: its control has topics on all entities of a world with more news, in
# five folds as ever. All its documents are relevant to some topic, so none is found without its query.
PAIR, TOPICS, NEWS, OTHERS = "en-de", 1000, 900, 6
CROSS_ENCODER = {
    **{"scorer": "cross_encoder", "batch": 10, "epochs": 1, "learning_rate": 1e-3, "schedule": "linear"},
    **{"dropout": 0.0, "length": 40, "threads": 1},
}
# 20 and 14 topics keep no row of so small a model five standard errors above a guess: BM25 with the queries as people
# translated them, which are neuclir_mono's, searches for these; "all" is what it finds in all languages, by score
TRANSLATED = {"neuclir_clir": ("ru", "zh"), "neuclir_mlir": ("all",)}
needs_rows = pytest.mark.skipif(not BUILT, reason="`make controls` builds these rows and runs this test")


@pytest.fixture(scope="module")
def plan():
    return Plan(parse_config({"scale": "miniature"}))


def data_of(plan, name):
    """`dataset:part` -> record of what a benchmark reads."""
    entry = catalogue.entry(Benchmark, name)
    return plan.data.records(dict.fromkeys([*entry.data, *entry.judgments]), plan.data.read_languages(name))


@pytest.fixture(scope="module")
def output_of(plan, root, tmp_path_factory):
    """benchmark -> the file of what its control gives. Rows are built in one run, beside the tables."""
    rows = {name: RunKey(name, *value.split("/")) for name, value in ROWS.items()}
    outputs = {name: plan.rows.scored(row, *plan.rows.seeds(row)) for name, row in rows.items()}
    read = [
        plan.paths.checkpoint("mbert"),
        *(path for name in (*BM25, *BY_HEART, *TRANSLATED) for path in data_of(plan, name).values()),
    ]
    run = snakemake(root, *outputs.values(), *read, "--config", "scale=miniature")
    assert run.returncode == 0, run.stdout[-4000:]
    folder = tmp_path_factory.mktemp("controls")
    for name, languages in BM25.items():
        outputs[name] = folder / name / "retrieval.json"
        options = ["--recipe", '{"k1": 0.9, "b": 0.4}', "--depth", "100"]
        stele(root, folder, "retrieval", "bm25", name, languages, data_of(plan, name), outputs[name], *options)
    found = {language: folder / f"neuclir_mono/runs/{language}.trec.gz" for language in BM25["neuclir_mono"]}
    found["all"] = merged(found.values(), folder / "all.trec")
    named = {"ru": "ru", "zh": "zh", "all": "en"}  # the query sets
    for name, languages in TRANSLATED.items():
        outputs[name] = [f"{named[language]}={found[language]}" for language in languages]
    for name, pairs in BY_HEART.items():
        outputs[name] = folder / name / "answers.json"
        encoder = ["--model", "mbert", "--encoder", plan.paths.checkpoint("mbert"), "--recipe", json.dumps(READER)]
        questions = ["--training-data", f"squad2:all={questions_of_the_test(root, folder / 'squad2', pairs)}"]
        options = [*encoder, *questions, "--seed", "0"]
        stele(root, folder, "answering", "answer", name, pairs, data_of(plan, name), outputs[name], *options)
    return outputs


def stele(root, folder, stage, command, name, languages, data, output, *options):
    """One command on a benchmark."""
    where = ["--benchmark", name, "--languages", *languages, "--data", *assignments(data)]
    state = ["--state", str(folder / f"state-{name}"), "--code", "control", "--output", str(output)]
    run = subprocess.run(
        [sys.executable, "-m", "stele", stage, command, *where, *options, *state],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-4000:]


def merged(paths, output):
    """The runs of several collections as one TREC run, by score."""
    lines = (line for path in paths for line in gzip.decompress(path.read_bytes()).decode().splitlines())
    hits = sorted((line.split() for line in lines), key=lambda hit: -float(hit[4]))
    rows = (f"{query} Q0 {name} {rank} {score} x\n" for rank, (query, _, name, _, score, _) in enumerate(hits))
    output.write_text("".join(rows))
    return output


def questions_of_the_test(root, folder, pairs):
    """MLQA's test questions with their answers as the training set of a reader; the record of that."""
    archive = zipfile.ZipFile(root / "resources/miniature/mirror/dl.fbaipublicfiles.com/MLQA/MLQA_V1.zip")
    data = []
    for pair in pairs:
        question, context = pair.split("-")
        member = archive.read(f"MLQA_V1/test/test-context-{context}-question-{question}.json")
        for article in json.loads(member)["data"]:
            for paragraph in article["paragraphs"]:
                asked = [{**item, "id": item["id"] + pair, "is_impossible": False} for item in paragraph["qas"]]
                data.append({"title": pair, "paragraphs": [{"context": paragraph["context"], "qas": asked}]})
    folder.mkdir()
    for name in ("train-v2.0.json", "dev-v2.0.json"):
        (folder / name).write_text(json.dumps({"version": "v2.0", "data": data}))
    return recorded("squad2", folder)


def recorded(dataset, folder):
    """The record of a dataset that the test has written."""
    facts = folder_facts(folder)
    fields = {"dataset": dataset, "part": "all", "origin": "generated", "content": facts_digest(facts), "files": facts}
    records.write_record(folder / "record.json", job="sources dataset", inputs={}, labels=[], **fields)
    return folder / "record.json"


@pytest.fixture(scope="module")
def cross_encoder(plan, root, tmp_path_factory):
    """(the record of a CLEF of more topics, the run of a cross-encoder that learnt on them from E5's stand-in)."""
    encoder, folder = plan.paths.checkpoint("me5_base"), tmp_path_factory.mktemp("cross_encoder")
    run = snakemake(root, encoder, "--config", "scale=miniature")
    assert run.returncode == 0, run.stdout[-4000:]
    record, output = more_topics(folder), folder / "out/retrieval.json"
    options = ["--model", "me5_base", "--encoder", encoder, "--recipe", json.dumps(CROSS_ENCODER), "--seed", "0"]
    stele(root, folder, "reranking", "rerank", "clef", [PAIR], {"clef:all": str(record)}, output, *options)
    return record, output


def more_topics(folder):
    """CLEF of a larger world; a topic's further documents are drawn from those that other topics ask for."""
    scale = load_scale("miniature")
    sizes = scale.world.model_copy(update={"newswire": NEWS, "pools": Pools(train=0, dev=0, test=1)})
    world = generate(sizes, scale.languages, scale.seed)
    write_clef(Site(folder / "mirror", folder), Library(world), TOPICS)
    draws = np.random.default_rng(0)
    for path in (folder / "clef").glob("*/qrels*"):
        judged = [line.split() for line in path.read_text().splitlines()]
        relevant = {(topic, document): 1 for topic, _, document, value in judged if value == "1"}
        documents = [document for _, document in relevant]
        topics = sorted({topic for topic, _ in relevant})
        drawn = draws.choice(documents, (len(topics), OTHERS)).tolist()
        others = {(topic, document): 0 for topic, row in zip(topics, drawn, strict=True) for document in row}
        lines = (f"{topic} 0 {document} {value}\n" for (topic, document), value in (others | relevant).items())
        path.write_text("".join(lines))
    return recorded("clef", folder / "clef")


def candidates(plan, name, case):
    """The ids among which each query's ranking chooses: judged documents, parallel texts, or a whole collection."""
    reader = load_reader(name, BenchmarkReader)
    if any(entry["kind"] == "reranked" for entry in plan.protocols.settings[name].values()):
        return [sorted(judged) for judged in case.relevant]
    if isinstance(reader, ParallelTextsReader):
        return [case.runs[query_set.name].queries for query_set in case.query_sets]
    pools = {s.collection: sorted({p.id for p in reader.passages(case.data, s.collection)}) for s in {*case.query_sets}}
    return [pools[query_set.collection] for query_set in case.query_sets]


def scored(case, metric, rankings):
    """The values of other rankings, or answers, of the same queries."""
    case.memo.clear()
    if case.predictions:
        case.predictions = rankings
    else:
        for name, rows in case.rows_of.items():
            hits = {case.queries[n]: [(passage, -float(k)) for k, passage in enumerate(rankings[n])] for n in rows}
            case.runs[name] = run_of(hits)
    return metric.values(case)


def exchanged(case, rankings, pools, draws):
    """Rankings whose candidates bear one another's ids, as if vectors and ids were out of step; answers likewise."""
    if case.predictions:
        return [rankings[rows.start + n] for rows in case.rows_of.values() for n in draws.permutation(len(rows))]
    names = {id(pool): dict(zip(pool, draws.permutation(pool).tolist(), strict=True)) for pool in pools}
    return [[names[id(pool)][passage] for passage in ranking] for ranking, pool in zip(rankings, pools, strict=True)]


def of_another_query(case, rankings):
    """Each query's ranking is that of another, half of its query set away: neighbours ask about one passage."""
    return [
        rankings[rows[(k + len(rows) // 2) % len(rows)]] for rows in case.rows_of.values() for k in range(len(rows))
    ]


def guess(case, metric, rankings, pools):
    """The value of each query that a ranking drawn from its candidates has, or an answer drawn from all."""
    draws, values = np.random.default_rng(0), []
    for _ in range(DRAWS):
        if case.predictions:
            drawn = exchanged(case, rankings, pools, draws)
        else:
            depths = [min(max(1, len(ranking)), len(pool)) for ranking, pool in zip(rankings, pools, strict=True)]
            drawn = [draws.choice(pool, n, replace=False).tolist() for pool, n in zip(pools, depths, strict=True)]
        values.append(scored(case, metric, drawn))
    return np.mean(values, axis=0)


def standard_errors(case, gains):
    """How many of them a mean gain over a guess is from 0; a question that several query sets ask counts once."""
    counted = ~np.isnan(gains)
    questions, place = np.unique(np.array(case.queries)[counted], return_inverse=True)
    means = np.bincount(place, gains[counted]) / np.bincount(place)
    return means.mean() / (means.std(ddof=1) / np.sqrt(len(questions)))


def test_every_benchmark_of_the_miniature_has_a_control(plan):
    measured = {
        name for name, entry in catalogue.entries(Benchmark).items() if entry.data and plan.data.languages(name)
    }
    assert {*ROWS, *BM25, *TRANSLATED, *BY_HEART} == measured, "name a row that is far above a guess"
    for name, row in ROWS.items():
        assert plan.rows.problem(RunKey(name, *row.split("/"))) is None, name


def test_standard_errors_and_a_guess_by_hand():
    case = Case(queries=["a", "b", "a"], rows_of={"s": range(2), "t": range(2, 3)})
    assert standard_errors(case, np.array([1.0, 0.0, 0.0])) == pytest.approx(
        1.0
    )  # means .5 and 0: .25 / (.3536 / 1.4142)


@needs_rows
@pytest.mark.parametrize("name", [*ROWS, *BM25, *TRANSLATED, *BY_HEART])
def test_a_control_is_far_above_a_guess_and_exchanged_candidates_are_not(name, plan, root, output_of):
    data = data_folders({key: root / path for key, path in data_of(plan, name).items()})
    outputs = output_of[name] if name in TRANSLATED else [str(root / output_of[name])]
    assert_far_above_a_guess(plan, name, data, outputs)


@needs_rows
def test_a_cross_encoder_is_far_above_a_guess_and_exchanged_candidates_are_not(plan, cross_encoder):
    record, output = cross_encoder
    assert_far_above_a_guess(plan, "clef", data_folders({"clef:all": record}), [str(output)])


def assert_far_above_a_guess(plan, name, data, outputs):
    case = read_case(name, data, given_outputs(outputs))
    metric = load_metric(catalogue.entry(Benchmark, name).metrics[0])
    rankings = case.predictions or [case.ranking(row) for row in range(len(case.queries))]
    pools = None if case.predictions else candidates(plan, name, case)
    expected = guess(case, metric, rankings, pools)

    def above(changed):
        return standard_errors(case, scored(case, metric, changed) - expected)

    assert above(rankings) > FAR
    draws = np.random.default_rng(1)
    assert np.mean([above(exchanged(case, rankings, pools, draws)) for _ in range(DRAWS)]) < FAR
    assert above(of_another_query(case, rankings)) < FAR
