"""The texts of specs and the records of results for tests, written at their places."""

import re
import textwrap

from tests.sealed import write_sealed

PAPERS = {"msm", "kept", "ccp", "clir_lm", "dense_clt"}  # tests hold their files; a paper may be put beside them


def write_spec(folder, text, **replace):
    """A table's or a figure's spec at the place that its text says, then with some of its texts replaced."""
    text = textwrap.dedent(text)
    paper, number = (re.search(rf"^{key}: (\w+)$", text, re.MULTILINE)[1] for key in ("paper", "number"))
    path = folder / paper / f"{'figure' if 'panels:' in text else 'table'}_{number}.yaml"
    for old, new in replace.items():
        assert old in text, old
        text = text.replace(old, new)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def write_result(folder, row, metrics, **facts):
    """A result at its place in a folder of results; `row` is its benchmark, model and setting."""
    path = folder.joinpath(*row).with_suffix(".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_sealed(path, dict(zip(("benchmark", "model", "setting"), row, strict=True)) | {"metrics": metrics} | facts)
    return path


TODAY = """
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
