"""Accuracy of sentence retrieval at each layer of an encoder, as numbers and as a picture; for no table.

CCP (section 4.2) reads layer 14 of 24 and does not say how it was chosen. Each sentence is encoded once, all layers'
vectors are kept. The nearest neighbour is the benchmark's: by cosine, the lowest line among equals. An accuracy is the
mean of both directions of a pair. Written: a row a layer (layer, the mean over languages or pairs, each of them), the
picture (.svg, .pdf) and the record.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stele.artifacts import records
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.command import arguments
from stele.errors import SteleError
from stele.evaluation.similarity import accuracy
from stele.files.atomic import atomic_file, file_facts
from stele.files.csv_files import write_csv
from stele.files.figures import save_figure
from stele.registry import load_named
from stele.retrieval.dense.encoding_argument import add_encoding_argument, encoder_of, parse_encoding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from stele.encoders.encode import Encoder

PICTURES = (".svg", ".pdf")
MEAN = "mean"  # the column over all languages or pairs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", required=True, choices=["tatoeba", "tatoeba_pairs"])
    parser.add_argument("--languages", nargs="+", required=True, help="or pairs, as the benchmark has them")
    parser.add_argument("--model", required=True, help="what the model is called")
    parser.add_argument("--encoder", type=Path, required=True, help="record.json in the encoder's folder")
    add_encoding_argument(parser)
    add_data_argument(parser)
    parser.add_argument("--threads", type=arguments.whole, help="CPU threads; default: as many as torch takes")
    parser.add_argument(
        "--output", type=arguments.output(".csv"), required=True, help="the picture and the record stand beside it"
    )


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    benchmark, data = load_named("stele.benchmarks", args.benchmark, "benchmark"), data_records(args.data)
    encoding = parse_encoding(args.encoding) or {}
    # what tables read; here it must not cut the model
    said = [encoding, *(values for values in encoding.values() if isinstance(values, dict))]
    evaluated = next((values.pop("layer") for values in said if "layer" in values), None)
    encoder, accuracies = encoder_of(args, encoding), {}
    for pair in zip(*[iter(benchmark.query_sets(args.languages))] * 2, strict=True):
        sides = [[query.text for query in benchmark.queries(data_folders(data), side)] for side in pair]
        accuracies[pair[0].language] = by_layer(encoder, *sides)
    if not accuracies:
        raise SteleError(f"{args.benchmark}: nothing to retrieve for {', '.join(args.languages)}")
    columns = {MEAN: np.mean(list(accuracies.values()), axis=0), **accuracies}
    outputs = written(args.output, columns, f"{args.model}: accuracy of {args.benchmark} by layer", evaluated)
    records.write_record(
        args.output.with_suffix(".json"),
        job="accuracy_by_layer",
        inputs={"encoder": args.encoder, **data},
        clock=clock,
        benchmark=args.benchmark,
        model=args.model,
        languages=list(accuracies),
        layer_of_tables=evaluated,
        **encoder.facts(),
        outputs=outputs,
        content=outputs[args.output.name]["sha256"],
    )


def by_layer(encoder: Encoder, first: list[str], second: list[str]) -> np.ndarray:
    """The accuracy at each layer [layers], both directions' mean, of texts that translate each other line by line."""
    queries = [encoder.encode_layers(texts, "query") for texts in (first, second)]
    if encoder.spec.symmetric:
        passages = queries
    else:
        passages = [encoder.encode_layers(texts, "passage") for texts in (first, second)]
    both = [
        [accuracy(searching[:, layer], searched[:, layer]) for layer in range(searching.shape[1])]
        for searching, searched in zip(queries, reversed(passages), strict=True)
    ]
    return np.mean(both, axis=0)


def written(output: Path, columns: Mapping[str, np.ndarray], title: str, evaluated: int | None) -> dict[str, Any]:
    """Writes numbers and pictures; the facts of the files by their names."""
    with atomic_file(output) as handle:
        rows = enumerate(zip(*columns.values(), strict=True), 1)
        write_csv(handle, [["layer", *columns], *([layer, *(f"{value:.6g}" for value in row)] for layer, row in rows)])
    best, highest = highest_of(columns[MEAN])
    words = f"Mean of {len(columns) - 1} languages or pairs at each layer; highest at layer {best}: {highest:.1%}."
    for suffix in PICTURES:
        save_figure(draw(columns, title, evaluated), output.with_suffix(suffix), title, words)
    return {path.name: file_facts(path) for path in map(output.with_suffix, (".csv", *PICTURES))}


def highest_of(accuracies: np.ndarray) -> tuple[int, float]:
    """The layer, from 1, of the highest accuracy, and that.

    >>> highest_of(np.array([0.25, 0.5, 0.5]))
    (2, 0.5)
    """
    return int(np.argmax(accuracies)) + 1, float(np.max(accuracies))


def draw(columns: Mapping[str, np.ndarray], title: str, evaluated: int | None) -> Figure:
    """The mean as a thick line with its highest point, each language as a thin one, the layer that tables read."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    figure = Figure(figsize=(4.8, 3.2), layout="constrained")
    axes = figure.subplots()
    mean = columns[MEAN]
    layers = np.arange(1, len(mean) + 1)
    for number, values in enumerate(values for name, values in columns.items() if name != MEAN):
        axes.plot(layers, values, color="0.8", linewidth=0.6, label=None if number else "each language")
    best, highest = highest_of(mean)
    axes.plot(layers, mean, color="#0072B2", linewidth=1.8, label="mean")
    axes.plot(best, highest, "o", color="#D55E00", label=f"highest: layer {best}, {highest:.1%}")
    if evaluated is not None:
        axes.axvline(evaluated, color="0.4", linewidth=0.8, linestyle="--", label=f"layer of the tables: {evaluated}")
    axes.set_title(title, fontsize=9, parse_math=False)
    axes.set_xlabel("layer", fontsize=8)
    axes.set_ylabel("accuracy, both directions", fontsize=8)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside lower center", ncols=2, fontsize=7, frameon=False)
    return figure
