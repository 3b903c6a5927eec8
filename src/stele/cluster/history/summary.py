"""What the jobs of each rule took together, and that as a page of Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stele.files.formats import bullets, duration, table

if TYPE_CHECKING:
    from pandas import DataFrame, Series

FULL = 0.8  # of what a job requested: near the end that SLURM makes
LISTED = 20  # jobs that are named
SUMS = ["wall_s", "cpu_s", "gpu_hours", "expected_s"]
MOST = ["peak_mb", "share_of_time", "share_of_memory"]


def by_rule(jobs: DataFrame) -> DataFrame:
    """Rules by name, those that took most time first, of the rows of `cluster usage` (columns: usage.COLUMNS).

    jobs, longest_s    how many there are, and the wall seconds of the longest
    SUMS               of all jobs; 0 where no job's is known
    MOST               of any job; NaN: unknown, or nothing was requested
    """
    groups = jobs.astype(dict.fromkeys([*SUMS, *MOST], float)).groupby("rule", sort=False)
    rules = groups[SUMS].sum().join(groups[MOST].max())
    rules = rules.assign(jobs=groups.size(), longest_s=groups["wall_s"].max())
    return rules.sort_values("wall_s", ascending=False, kind="stable")


def _share(value: float) -> str:
    if value != value:  # NaN
        return ""
    return f"{100 * value:.{0 if value >= 0.1 else 1}f} %" if value >= 0.001 else "< 0.1 %"


HEAD = "rule | jobs | time | expected | longest | CPU time | GPU-hours | most memory | of the time | of the memory"


def markdown(rules: DataFrame, jobs: DataFrame) -> str:
    """The page: a line a rule, the sum, and which jobs came near what they requested."""
    title = "# What the jobs took"
    if jobs.empty:
        return f"{title}\n\nNo job of this scale was done here.\n"
    total = rules[SUMS].sum()
    together = ["**all**", str(len(jobs)), duration(total.wall_s), "", "", duration(total.cpu_s), _hours(total)]
    lines = [[name, *_cells(rule)] for name, rule in rules.iterrows()]
    names = (jobs["rule"] + " " + jobs["job"]).str.strip()
    used = jobs[["share_of_time", "share_of_memory"]].astype(float).max(axis=1)
    near = used[used >= FULL].sort_values(ascending=False, kind="stable")
    starts = jobs[["attempts", "slurm_starts"]].astype(float).max(axis=1)
    lists = {
        f"Jobs that took more than {100 * FULL:.0f} % of the time or of the memory that they requested": [
            f"{names[job]}: {_share(share)}" for job, share in near.items()
        ],
        "Jobs that were started more than once": [
            f"{names[job]}: {number:.0f} times" for job, number in starts[starts > 1].items()
        ],
    }
    parts = [
        title,
        table(HEAD.split(" | "), [*lines, [*together, "", "", ""]]),
        "Time is that of all jobs one after the other. Expected is the estimate made before (`snakemake cost`). The"
        " last two columns are the largest share of what a job requested. Job by job, with where each figure is from:"
        " usage.csv.",
        *(bullets(title, items, LISTED) for title, items in lists.items() if items),
    ]
    return "\n\n".join(parts) + "\n"


def _hours(figures: Series) -> str:
    return f"{figures.gpu_hours:,.1f}" if figures.gpu_hours else ""


def _cells(rule: Series) -> list[str]:
    expected = duration(rule.expected_s) if rule.expected_s else ""
    spans = [duration(rule.wall_s), expected, duration(rule.longest_s), duration(rule.cpu_s)]
    peak = "" if rule.peak_mb != rule.peak_mb else f"{rule.peak_mb:,.0f} MB"
    return [f"{rule.jobs:.0f}", *spans, _hours(rule), peak, _share(rule.share_of_time), _share(rule.share_of_memory)]
