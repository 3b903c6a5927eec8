"""Specs of figures as tests change them, and the files beside results that figures draw."""

import csv
import io

from specs import write_spec

from stele.files.digests import sha256
from stele.papers.figure import load_figure
from stele.tables.render.figure_data import panel_series
from stele.tables.values.context import Context
from stele.tables.values.lookup import Results
from tests.sealed import write_sealed

CURVES = """
    paper: clir_lm
    number: 98
    kind: curves
    caption: Two curves & their points.
    target: {benchmark: clef, setting: cv5, metric: ap_judged}
    x: {label: epochs, range: [0, 10], ticks: [0, 5, 10]}
    series:
    - key: one
      label: One
      points:
      - {at: 0, target: {model: start}}
      - {at: 5, target: {model: one_5}}
      - {at: 10, target: {model: one_10}}
    - key: two
      label: Two $x_1$
      points:
      - {at: 0, target: {model: start}}
      - {at: 10, target: {model: two_10}}
    panels:
    - key: en_de
      title: En-De
      target: {language: en-de}
      y: {label: MAP, range: [0.4, 0.6], ticks: [0.4, 0.5, 0.6]}
      printed: {one: {0: 0.45, 10: 0.5}, two: {0: 0.45}}
"""
DISTRIBUTION = """
    paper: clir_lm
    number: 98
    kind: distribution
    caption: Lengths.
    target: {benchmark: statistics, model: clef, setting: count, metric: lengths}
    x: {label: length, unit: tokens, range: [0, 600]}
    y: {label: density, unit: per thousand, factor: 1000, range: [0, 2]}
    reference: 300
    series:
    - {key: en, label: English, target: {language: en}}
    - {key: fr, label: French, target: {language: fr}}
    panels:
    - {key: all, printed: {en: {300: 0.494}}}
"""
PROJECTION = """
    paper: ccp
    number: 98
    kind: projection
    caption: Pairs.
    target: {benchmark: tatoeba, metric: projection, language: ar}
    x: {label: first}
    y: {label: second}
    highlighted: 2
    series:
    - {key: en, label: English}
    - {key: ar, label: Arabic}
    panels:
    - {key: a, title: (a), target: {model: first, setting: direct}}
    - {key: b, title: (b), target: {model: second, setting: direct}}
"""


def spec(folder, text, **replace):
    return load_figure(write_spec(folder, text, **replace))


def found(bench, text, **context):
    """A figure and its panel_series."""
    figure = spec(bench.folder, text)
    return figure, panel_series(figure, Context(**context), Results(bench.results_dir))


def write_rows(path, rows, labels=(), **facts):
    """A CSV file and the record that describes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue())
    record = {"content": sha256(path), "labels": list(labels), **facts}
    write_sealed(path.with_suffix(".json"), record)
    return path


def projection(bench, model, seeds="pt0-ft0", pairs=4, labels=("generated data",), shift=0.0):
    """Sentences on two parallel lines."""
    path = bench.results_dir / f"tatoeba/{model}/direct/{seeds}/projection_ar.csv"
    rows = [(n, side, n + shift, place) for place, side in enumerate(("en", "ar")) for n in range(pairs)]
    return write_rows(path, [("line", "language", "x", "y"), *rows], labels, explained=[0.75, 0.2])


def lengths(bench, language, counts):
    path = bench.results_dir / f"statistics/clef/count/lengths_{language}.csv"
    return write_rows(path, [("tokens", "documents"), *counts], ["generated data"])


def curve_points(bench, points, labels=("stand-in checkpoint",), **more):
    """Results of some models, one value each."""
    for model, value in points.items():
        bench.result(
            model, {"en-de": value}, benchmark="clef", setting="cv5", metric="ap_judged", labels=labels, **more
        )


def texts(picture):
    """All texts of a picture, those of its legends and axes too."""
    from matplotlib.text import Text

    return [text.get_text() for text in picture.findobj(Text) if text.get_text()]
