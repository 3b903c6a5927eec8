"""Fill the page on the study on real text: `python evidence/real/page.py FOLDER TEMPLATE > docs/real.md`.

FOLDER holds what `stele claims pack results_adapt/NAME FOLDER/NAME` keeps of each name that was judged. Differences
and scores are in points of a hundred. A sentence about a comparison asks for the verdict that it states
(`comparison("ltg", "msm", "ltg_titles", "as it was", "worse")`): where the verdict is another, the page is refused.
"""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from stele.adapt.verdict import leaks
from stele.artifacts import records
from stele.claims.judging.estimate import combine, interval
from stele.claims.judging.findings import ALPHA
from stele.claims.judging.observed import Runs
from stele.claims.judging.on_adaptation import Row, rows_of, term_of, values_of
from stele.claims.judging.report import fill
from stele.errors import SteleError

NAMES = ("news_latin", "news_other", "news_apart", "ltg")  # in the order of the plan
CALIBRATED = ("tatoeba", "shifted")  # the benchmark and setting of the encoder as it was, its vectors shifted
CALIBRATED_NAME = "as it was, calibrated"
SIDES = ("as it was", "MLM")  # what a method is compared with
POINTS = 100


def main() -> None:
    folder, template = map(Path, sys.argv[1:])
    verdicts = {name: records.read_record(folder / name / "verdict.json") for name in NAMES if (folder / name).is_dir()}
    studies = [study_facts(name, folder / name, verdict) for name, verdict in verdicts.items()]
    comparisons = {
        (study["name"], row["method"], row["benchmark"], row["against"]): row
        for study in studies
        for row in study["comparisons"]
    }

    def comparison(name: str, method: str, benchmark: str, against: str, state: str) -> Mapping[str, Any]:
        row = comparisons[name, method, benchmark, against]
        if row["state"] != state:
            raise SteleError(f"the page says {method} of {name} is {state}; it is {row['state']}: write it anew")
        return row

    def calibration_above_all(name: str) -> Mapping[str, Any]:
        """The gain of calibration; SteleError unless its interval lies above those of all methods."""
        study = next(study for study in studies if study["name"] == name)
        table = next(table for table in study["by_language"] if table["against"] == SIDES[0])
        calibrated, *methods = table["differences"][None]
        if table["models"][0] != CALIBRATED_NAME or calibrated["interval"][0] <= max(m["interval"][1] for m in methods):
            raise SteleError(f"the page says that calibration of {name} is above all methods: write it anew")
        return calibrated

    facts = {"studies": studies, "comparison": comparison, "calibration_above_all": calibration_above_all}
    facts["missing"] = [name for name in NAMES if name not in verdicts]
    sys.stdout.write(fill(template, facts))


def study_facts(name: str, folder: Path, verdict: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows of a name."""
    base, control = verdict["base"], verdict["control"]
    methods = {model: model.removeprefix(f"{base}-") for model in (*verdict["methods"], control)}
    sides = dict(zip((base, control), SIDES, strict=True))
    runs, rows = Runs(folder), {(row.benchmark, row.model): row for row in rows_of(verdict)}
    return {
        "name": name,
        "command": verdict["command"],
        "seeds": len(verdict["seeds"]),
        "methods": list(methods.values()),
        "benchmarks": list(verdict["benchmarks"]),
        "comparisons": [
            {
                **row,
                "method": methods[row["model"]],
                "against": sides[row["against"]],
                "mean": row["mean"] * POINTS,
                "interval": [limit * POINTS for limit in row["interval"]],
            }
            for row in verdict["comparisons"]
        ],
        "scores": [
            {
                **_score(row),
                "model": {base: "as it was", **methods}[row["model"]],
                "trainings": seed_scores(runs, rows[row["benchmark"], row["model"]]),
            }
            for row in verdict["values"] + _calibrated(folder, verdict)
        ],
        "by_language": by_language(runs, verdict, {**methods, base: CALIBRATED_NAME}),
        "trainings": [
            training_facts([row for row in verdict["trainings"] if row["model"] == model]) | {"method": method}
            for model, method in methods.items()
        ],
        "neighbours": neighbour_shares(verdict["neighbours"], {base: "as it was", **methods}),
        "leaks": list(leaks(verdict["leakage"])),
        "cpu_hours": sum(row["cpu_seconds"] for row in verdict["trainings"]) / 3600,
    }


def by_language(runs: Runs, verdict: Mapping[str, Any], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Of each benchmark of several languages two tables, against the encoder as it was and against the control.

    Differences of each model by language, the mean over all languages first, without verdicts.
    """
    tables = []
    for benchmark in verdict["benchmarks"]:
        rows = {row.model: row for row in rows_of(verdict) if row.benchmark == benchmark}
        languages = next(row["languages"] for row in verdict["values"] if row["benchmark"] == benchmark)
        if len(languages) == 1:
            continue
        for side, model in zip(SIDES, (verdict["base"], verdict["control"]), strict=True):
            compared = [rows[method] for method in verdict["methods"]]
            if benchmark == CALIBRATED[0] and model == verdict["base"]:
                compared.insert(0, rows[model]._replace(setting=CALIBRATED[1]))
            differences = {
                language: [difference(runs, row, rows[model], language) for row in compared]
                for language in (None, *languages)
            }
            shown = [names[row.model] for row in compared]
            tables.append({"benchmark": benchmark, "against": side, "models": shown, "differences": differences})
    return tables


def difference(runs: Runs, row: Row, against: Row, language: str | None) -> Mapping[str, Any]:
    """What a row is above another, in points with a 95 % interval: in a language, or the mean over all."""
    estimate = combine([term_of(runs, row, 1.0, language), term_of(runs, against, -1.0, language)])
    return {"mean": estimate.mean * POINTS, "interval": [limit * POINTS for limit in interval(estimate, ALPHA)]}


def _calibrated(folder: Path, verdict: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The scores of the encoder as it was after calibration, where they were asked for."""
    benchmark, setting = CALIBRATED
    if benchmark not in verdict["benchmarks"]:
        return []
    row = Row(benchmark, verdict["base"], setting, verdict["benchmarks"][benchmark]["metric"])
    return [{**scores, "calibrated": True} for scores in values_of(folder, verdict["seeds"], [row])]


def _score(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "benchmark": row["benchmark"],
        "metric": row["metric"],
        "calibrated": row.get("calibrated", False),
        "mean": row["mean"] * POINTS,
        "interval": [limit * POINTS for limit in row["interval"]] if row["interval"] else None,
        "queries": sum(row["queries"].values()),
    }


def seed_scores(runs: Runs, row: Row) -> list[float]:
    """The lowest and the highest score of the trainings of a row's model, in points; none of what was not trained."""
    term = term_of(runs, row, 1.0)
    if not term.seeds:
        return []
    means = sum(language.means for language in term.languages) / len(term.languages) * POINTS
    return [float(means.min()), float(means.max())]


def training_facts(trainings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Steps, losses and minutes of a method, each a mean over seeds, and how many ended above chance or diverged."""
    (task,) = trainings[0]["chance"]
    return {
        "steps": fmean(row["steps"] for row in trainings),
        "loss": fmean(row["losses"][task] for row in trainings),
        "chance": fmean(row["chance"][task] for row in trainings),
        "above": sum(task in row["above_chance"] for row in trainings),
        "diverged": sum(bool(row.get("diverged")) for row in trainings),
        "minutes": fmean(row["cpu_seconds"] for row in trainings) / 60,
    }


def neighbour_shares(runs: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The share of held-out sentences that find their neighbour, and how far apart others are: means over languages."""
    shares, cosines = defaultdict(list), defaultdict(list)
    for run in runs:
        for of_language in run["languages"].values():
            shares[run["model"]].append(of_language["found"] / of_language["sentences"])
            cosines[run["model"]].append(of_language["cosine"])
    return [
        {"model": names[model], "share": fmean(shares[model]) * POINTS, "cosine": fmean(cosines[model])}
        for model in shares
    ]


if __name__ == "__main__":
    try:
        main()
    except SteleError as error:
        raise SystemExit(str(error)) from None
