"""Show how a model turns texts into vectors: each value with its origin, and two texts as the model reads them.

    stele encoders show me5_base --benchmark mrtydi
    stele encoders show intfloat/multilingual-e5-base --benchmark belebele --scale paper
    stele encoders show FOLDER --encoding '{"query_prompt": "query: "}'

MODEL is a folder, or the key (in models.yaml or a configuration) or hub id of a model with a checkpoint on disk.
stele.encoders.resolve lists the origins in order of precedence. Weights are not loaded.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from stele.command.arguments import Job, Json, Positional
from stele.encoders.named import encoder_of_model
from stele.encoders.resolve import Resolved, resolve
from stele.encoders.tokens import tokenize_inputs
from stele.files.reading import parse_object
from stele.files.strict import Values
from stele.recipes.encoding import BENCHMARK, FOLDER, SOME_INSTRUCTION, Kind, TextInput, check_keys

DEFAULT = "default"
QUERY = "Who carved the stele?"
PASSAGE = ("Stele", "A stele is an upright stone with a text.")


class Show(Job):
    model: Positional[str]
    """A model's key or hub id, or a folder."""
    benchmark: str | None = None
    """Benchmark whose lengths and instruction apply where nothing else sets them."""
    scale: str | None = None
    """Scale that the checkpoint belongs to; default: the scale of this folder."""
    configfile: Path | None = None
    """Configuration on top of config.yaml, e.g. evaluate/NAME.yaml of `stele evaluate`."""
    encoding: Json = "{}"
    """Keys of the encoding, used as if config.yaml had them."""


def run(args: Show) -> None:
    encoding = parse_object(args.encoding, "--encoding")
    check_keys(encoding, "--encoding")
    if Path(args.model).is_dir():
        folder, by_origin = Path(args.model), _of_folder(args)
    else:
        folder, by_origin = encoder_of_model(args.model, args.benchmark, args.scale, args.configfile)
    by_origin["config"] = {**by_origin.get("config", {}), **encoding}
    # without a benchmark a prompt's instruction is a placeholder
    by_origin[BENCHMARK] = {**({} if args.benchmark else SOME_INSTRUCTION), **by_origin.get(BENCHMARK, {})}
    sys.stdout.writelines(f"{line}\n" for line in shown(folder, resolve(folder, by_origin)))


def _of_folder(args: Show) -> dict[str, Values]:
    """Encoding of a folder that no configuration names, by origin: the benchmark's protocol, if one is given."""
    from stele import catalogue
    from stele.catalogue.schema.benchmarks import Benchmark

    protocol = catalogue.entry(Benchmark, args.benchmark).encoding if args.benchmark else None
    return {BENCHMARK: protocol.given()} if protocol else {}


def shown(folder: Path, resolved: Resolved) -> Iterator[str]:
    """Yields the lines to print: keys with value and origin, notes, and a query and a passage as tokens."""
    spec, origins, notes, _, cosine, chat = resolved
    values = {key: repr(value) for key, value in spec.model_dump().items()}
    width = max(map(len, values.values()))
    for key, value in values.items():
        yield f"{key:<15} {value:<{width}}  {origins.get(key, DEFAULT)}"
    if cosine:
        yield f"{'similarity':<15} {'cosine':<{width}}  {FOLDER}"
    if chat:
        yield f"{'chat template':<15} {'used':<{width}}  {FOLDER}"
    yield from (f"note: {note}" for note in notes)
    from stele.encoders.static_embedding import tokenizer_of

    tokenizer = tokenizer_of(folder / "query" if spec.towers == "separate" else folder)
    examples: list[tuple[Kind, TextInput]] = [("query", QUERY), ("passage", spec.passage(*PASSAGE))]
    for kind, text in examples:
        tokens = tokenize_inputs(tokenizer, spec, chat, [text], kind)
        yield f"a {kind}: {' '.join(tokenizer.convert_ids_to_tokens(tokens.ids.tolist()))}"
