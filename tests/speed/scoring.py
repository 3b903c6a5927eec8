"""Scoring runs, significance, claims, and rendering tables."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.speed.table import ROOT, same, speed

METRICS = ("mrr@100", "recall@100")


def stele(*line: Any) -> str:
    """What a command prints, as a process of its own."""
    environment, command = {**os.environ, "PYTHONPATH": str(ROOT / "src")}, [sys.executable, "-m", "stele", *line]
    return subprocess.run(
        [*map(str, command)], check=True, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ).stdout.decode()


# --- runs -------------------------------------------------------------------------------------------------------------
def write_run(folder: Path, queries: int, depth: int) -> None:
    """A run without ties and its judgments, two passages a query of which one is often retrieved."""
    rng = np.random.default_rng(0)
    with open(folder / "run.txt", "w") as run, open(folder / "qrels.txt", "w") as qrels:
        for query in range(queries):
            passages = rng.choice(1_000_000, depth, replace=False)
            scores = np.float32(100) - np.arange(depth, dtype=np.float32) - rng.random(dtype=np.float32)
            rows = zip(passages.tolist(), scores.tolist(), strict=True)
            run.write("".join(f"q{query} Q0 {p}#{p % 9} {r} {s:.9g} t\n" for r, (p, s) in enumerate(rows, 1)))
            right = int(passages[rng.integers(depth)])
            qrels.write(f"q{query} 0 {right}#{right % 9} 1\nq{query} 0 x{query} 1\n")


@speed({"polars and ranx": 2.0}, size={"queries": 13_000, "depth": 100}, tiny={"queries": 60, "depth": 20})
def reading_and_scoring_a_run(folder, queries, depth):
    """Ours also puts the run into canonical order."""
    import polars
    import ranx

    from stele.evaluation.evaluate import evaluate
    from stele.evaluation.metrics import load_metric
    from stele.scoring.system_files.systems import given_outputs, read_case

    write_run(folder, queries, depth)
    columns = ["q_id", "Q0", "doc_id", "rank", "score", "tag"]
    types = {"column_1": polars.String, "column_3": polars.String, "column_5": polars.Float64}

    def ours():
        outputs = given_outputs([f"sw={folder / 'run.txt'}"])
        case = read_case("mrtydi", {"mrtydi": {"sw": folder / "qrels.txt"}}, outputs)
        results = evaluate(case, {name: load_metric(name) for name in METRICS}, "macro").metrics
        return [results[name]["average"] for name in METRICS]

    def theirs():
        layout = {"separator": " ", "has_header": False, "new_columns": columns, "schema_overrides": types}
        frame = polars.read_csv(folder / "run.txt", **layout).select("q_id", "doc_id", "score").to_pandas()
        run = ranx.Run.from_df(frame.astype({"q_id": object, "doc_id": object}))
        qrels = ranx.Qrels.from_file(str(folder / "qrels.txt"), kind="trec")
        values = ranx.evaluate(qrels, run, list(METRICS))
        return [float(values[name]) for name in METRICS]

    return ours, [theirs], lambda a, b: 0 < a[0] < 1 and np.allclose(a, b, atol=1e-12, rtol=0)


TREC_EVAL = """
import sys
import pytrec_eval
with open(sys.argv[1]) as run, open(sys.argv[2]) as qrels:
    run, qrels = pytrec_eval.parse_run(run), pytrec_eval.parse_qrel(qrels)
values = pytrec_eval.RelevanceEvaluator(qrels, {"recall.100"}).evaluate(run).values()
print(f"{sum(value['recall_100'] for value in values) / len(values):.4f}")
"""
LARGE_RUN = {"queries": 10_000, "depth": 1000}


@speed({"pytrec_eval": 1.25}, size=LARGE_RUN, tiny={"queries": 60, "depth": 20}, rounds=2)
def a_large_run_from_file_to_metrics(folder, queries, depth):
    """Both as processes of their own, imports included; ours computes MRR@100 besides."""
    run, qrels = folder / "run.txt", folder / "qrels.txt"
    write_run(folder, queries, depth)

    def ours():
        printed = stele("scoring", "score", "mrtydi", "--run", f"sw={run}", "--data", f"mrtydi:sw={qrels}")
        return printed.split()[-1]

    def theirs():
        command = [sys.executable, "-c", TREC_EVAL, str(run), str(qrels)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().strip()

    return ours, [theirs], same


@speed({"a limit of 1 GB": 1.0}, size=LARGE_RUN, tiny={"queries": 60, "depth": 20}, rounds=1, unit="MB")
def memory_of_scoring_a_large_run(folder, queries, depth):
    """The peak of the process."""
    write_run(folder, queries, depth)
    line = ["--run", f"sw={folder / 'run.txt'}", "--data", f"mrtydi:sw={folder / 'qrels.txt'}"]

    def ours():
        command = [sys.executable, "-m", "stele", "scoring", "score", "mrtydi", *line]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss / 1024

    return ours, [1000.0], same


@speed({"a limit of 3 s": 1.0}, size={}, tiny={})
def start_of_a_command(folder):
    """`scoring score` on a run of one query."""
    write_run(folder, 1, 1)
    given = ["--run", f"sw={folder}/run.txt", "--data", f"mrtydi:sw={folder}/qrels.txt"]
    return lambda: stele("scoring", "score", "mrtydi", *given), [3.0], same


# --- significance -----------------------------------------------------------------------------------------------------
@speed(
    {"ranx, one thread": 20.0},
    size={"queries": 2000, "permutations": 100_000},
    tiny={"queries": 200, "permutations": 4000},
)
def fisher_randomisation_test(folder, queries, permutations):
    """Both p-values are estimates, of draws that ranx's seed does not fix."""
    from ranx.statistical_tests import fisher_randomization_test

    from stele.evaluation.significance import load_test

    rng = np.random.default_rng(0)
    baseline = rng.beta(0.3, 0.5, queries)  # many near 0 or 1, as reciprocal ranks are
    system = rng.beta(0.32, 0.5, queries)
    fisher_randomization_test(system, baseline, n_permutations=2)  # compiles

    def theirs():
        return float(fisher_randomization_test(system, baseline, n_permutations=permutations)[0])

    def within_five_errors(p, q):
        return 0.005 < p < 0.9 and abs(p - q) < 5 * math.sqrt(2 * p * (1 - p) / permutations)

    test = load_test("fisher")
    return lambda: test.p_value([system - baseline], permutations=permutations, seed=0), [theirs], within_five_errors


# --- claims -----------------------------------------------------------------------------------------------------------
def write_results(folder: Path, papers: list[str] | None, seeds: tuple[int, int], queries: int) -> None:
    """Random results of every row that a claim speaks of, in at most 12 languages of a benchmark."""
    from stele.claims.judging.pairs import references_of
    from stele.papers.addresses import load_paper
    from stele.papers.claims import load_claims, papers_with_claims
    from tests.claims.made_results import write_system

    wanted: dict[Any, tuple[set[str], set[str]]] = {}
    for paper_folder in papers_with_claims(ROOT / "paper_tables", papers):
        paper = load_paper(paper_folder)
        for claim in load_claims(paper_folder / "claims.yaml").claims:
            for reference in references_of(claim, paper):
                metrics, languages = wanted.setdefault(reference.result, (set(), set()))
                metrics.add(reference.metric)
                languages.update(reference.languages)
    rng = np.random.default_rng(0)
    for row, (metrics, codes) in wanted.items():
        if row.benchmark in ("statistics", "parameters"):
            continue
        names = [code for code in sorted(codes)[:12] for _ in range(queries)]
        level, shape = rng.uniform(0.2, 0.4), (*seeds, len(names))
        scored = sorted(metrics - {"parameters"})
        if scored:
            values = {name: np.clip(rng.normal(level, 0.2, shape), 0.01, 1) for name in scored}
            write_system(folder, row.path, values, names)


@speed(
    {"a limit of 60 s": 1.0},
    size={"papers": None, "seeds": (5, 2), "queries": 300},
    tiny={"papers": ["kept"], "seeds": (3, 1), "queries": 20},
    rounds=1,
)
def judging_all_claims(folder, papers, seeds, queries):
    """`claims judge` on made results of the study's size."""
    write_results(folder, papers, seeds, queries)
    line = ["claims", "judge", folder, "--format", "json", "--specs", ROOT / "paper_tables"]

    def ours():
        claims = json.loads(stele(*line, *(["--paper", *papers] if papers else [])))["claims"]
        states = [claim["state"] for claim in claims]
        assert len(claims) >= 76 and states.count("no data") < 0.4 * len(claims), states
        return len(claims)

    return ours, [60.0], same


# --- tables -----------------------------------------------------------------------------------------------------------
@speed({"pandas' to_latex and to_html": 0.5}, size={"papers": "*"}, tiny={"papers": "clir_lm"})
def grids_of_tables(folder, papers):
    """The grids of all tables (ours, the paper's and the difference) as LaTeX and HTML."""
    import pandas

    from stele.papers.table import load_spec
    from stele.tables.render import html, latex, page_fit, pages
    from stele.tables.render.formats import latex_page
    from stele.tables.render.layout import build
    from stele.tables.values.context import Context
    from stele.tables.values.lookup import Results
    from stele.tables.values.significance import fill

    specs, results = sorted((ROOT / "paper_tables").glob(f"{papers}/table_*.yaml")), Results(folder)
    grids = [build(fill(load_spec(path), Context(), results), "side") for path in specs]
    named = [(grid, {box.address: "" for line in grid.lines for box in line.boxes}) for grid in grids]
    frames = []
    for grid in grids:
        lines = [line for section in grid.sections for line in section.lines]
        rows = [[f"{box.text}{box.raised}" for box in (*line.stubs, *line.boxes)] for line in lines]
        frames.append(pandas.DataFrame(rows, columns=[*grid.stub, *(column.header for column in grid.columns)]))

    def ours():
        for remembered in (latex.escape, html.escape, page_fit.letters):
            remembered.cache_clear()
        return len([(latex_page("grid", grid=grid), pages.draw_grid(grid, names)) for grid, names in named])

    theirs = lambda: len([(frame.to_latex(index=False), frame.to_html(index=False)) for frame in frames])  # noqa: E731
    return ours, [theirs], same


@speed({"a limit of 60 s": 1.0}, size={"papers": "*"}, tiny={"papers": "clir_lm"}, rounds=1)
def rendering_all_tables(folder, papers):
    """The commands `table`, `figure` and `all_tables` on a folder without results, start-ups included."""
    specs = sorted((ROOT / "paper_tables").glob(f"{papers}/table_*.yaml"))
    figures = sorted((ROOT / "paper_tables").glob(f"{papers}/figure_*.yaml"))
    (folder / "results").mkdir()
    results, target = ["--results-dir", folder / "results"], folder / "made"

    def ours():
        stele("tables", "table", "--spec", *specs, "--output-dir", target, *results)
        stele("tables", "all_tables", "--spec", *specs, "--output-dir", target, *results)
        for path in figures:
            picture = target / path.parent.name / f"{path.stem}.svg"
            stele("tables", "figure", "--spec", path, "--output", picture, *results)

    return ours, [60.0], same
