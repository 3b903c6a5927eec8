"""A small table of today's encoders for tests: its text, and the spec that a changed text gives."""

import textwrap

from stele.papers.table import load_spec

SPEC = """
    paper: today
    number: 99
    caption: Two encoders.
    stub: Model
    target: {benchmark: mrtydi, setting: direct, metric: mrr@100}
    columns:
    - {key: ko, header: KO, target: {language: ko}}
    - {key: sw, header: SW, target: {language: sw}}
    - {key: avg, header: AVG, target: {average: [ko, sw]}}
    groups:
    - {key: all, models: [me5_small, msm]}
"""


def spec(bench, text=SPEC, **replace):
    text = textwrap.dedent(text)
    for old, new in replace.items():
        assert old in text
        text = text.replace(old, new)
    path = bench.folder / "today/table_99.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_spec(path)
