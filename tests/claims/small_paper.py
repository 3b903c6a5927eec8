"""A paper of one small table and one figure, and claims about it."""

import textwrap
from pathlib import Path

import yaml

from stele.claims.check import judge_paper
from stele.errors import SteleError

TABLE = """
    paper: msm
    number: 1
    caption: Systems by language.
    stub: Method
    lines_header: Metric
    significance: {against: mbert}
    marks: {"*": significantly better than base, †: from elsewhere}
    target: {benchmark: mrtydi, setting: zero_shot_marco}
    columns:
    - {key: ar, header: AR, target: {language: ar}}
    - {key: sw, header: SW, target: {language: sw}}
    - {key: th, header: TH, target: {language: th}}
    - {key: avg, header: AVG, target: {average: [ar, sw, th]}}
    lines:
    - {key: mrr, label: MRR, target: {metric: mrr@100}}
    - {key: recall, label: Recall, target: {metric: recall@100}}
    groups:
    - key: all
      rows:
      - key: base
        label: Base
        target: {model: mbert}
        printed: {mrr: [30.0, 20.0, 40.0, 30.0], recall: [60.0, 50.0, 70.0, 60.0]}
      - key: ours
        label: Ours
        target: {model: msm}
        printed:
          mrr: [{value: 35.0, marks: "*"}, 19.5, {value: 44.0, marks: "*†"}, {value: 32.8, marks: †}]
          recall: [66.0, 50.0, 71.0, {value: 62.3, marks: "*"}]
      - key: other
        label: Other
        target: {model: xlmr}
        printed: {mrr: [33.0, null, 44.0, 38.5], recall: [61.0, 51.0, 72.0, 61.3]}
"""
COSTS = """
    paper: msm
    number: 2
    caption: Sizes, and the loss of training.
    stub: Method
    report: {scale: 1, decimals: 2}
    direction: lower
    target: {benchmark: mrtydi, setting: zero_shot_marco, language: ar}
    columns:
    - {key: size, header: Size, direction: none, target: {metric: parameters}}
    - {key: loss, header: Loss, target: {metric: mrr@10}}
    groups:
    - key: all
      rows:
      - {key: base, label: Base, target: {model: mbert}, printed: [2.0, 0.5]}
      - {key: ours, label: Ours, target: {model: msm}, printed: [4.1, 0.25]}
"""
FIGURE = """
    paper: msm
    number: 3
    kind: curves
    caption: Over time.
    target: {benchmark: mrtydi, setting: zero_shot_marco, metric: mrr@100, language: ar}
    x: {label: epochs}
    y: {label: MRR}
    series:
    - key: ours
      label: Ours
      points:
      - {at: 0, target: {model: mbert}}
      - {at: 5, target: {model: xlmr}}
      - {at: 10, target: {model: msm}}
    panels:
    - {key: ar, printed: {ours: {0: 0.3, 10: 0.35}}}
"""
CLAIM = {"key": "a_claim", "text": "In our words.", "places": ["s3.2"], "printed": {"verdict": "holds"}}
BARS = {"points": 1.0, "map": 0.01}


def write_paper(folder: Path, claims: list[dict]) -> Path:
    """The folder of the paper, `msm` below `folder`; each claim has what `CLAIM` has, unless it says otherwise."""
    paper = folder / "msm"
    paper.mkdir(parents=True, exist_ok=True)
    for name, text in (("table_01", TABLE), ("table_02", COSTS), ("figure_03", FIGURE)):
        (paper / f"{name}.yaml").write_text(textwrap.dedent(text), encoding="utf-8")
    content = {"paper": "msm", "bars": BARS, "claims": [CLAIM | claim for claim in claims]}
    (paper / "claims.yaml").write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return paper


def judged(folder: Path, **claim):
    """The judgement on print of one claim."""
    (one,) = judge_paper(write_paper(folder, [claim]))
    if one.error:
        raise SteleError(one.error)
    return one.judgement


def cells(at: str | list[str], **more) -> dict:
    """An address in the first table; one of fewer parts is a row of MRR."""
    return {"table": 1, "at": at, **more}


OURS, BASE, OTHER = "all/ours/mrr/*", "all/base/mrr/*", "all/other/mrr/*"
GREATER = {"kind": "greater", "left": cells(OURS), "right": cells(BASE)}
BEST = {"kind": "best", "left": cells("all/ours/mrr/avg"), "right": cells("all/*/mrr/avg")}
