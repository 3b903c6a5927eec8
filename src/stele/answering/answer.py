"""Fine-tune an encoder to find answers in paragraphs, then answer a benchmark's questions in each of its query sets.

For each query set the epoch is taken at which its dev questions are answered best; only then its test questions are
answered. epochs.csv beside the record has the dev F1 of every epoch. answers/ has {question id: answer} of each query
set, as the scripts of MLQA and SQuAD read them. A killed job goes on from its saved step.

    python -m stele answering answer --model mine --benchmark mlqa --languages en-de de-de --encoder mine/record.json \\
        --recipe '{"training_set": "squad2", "batch": 16, "learning_rate": 1e-5}' --data mlqa=mlqa/record.json \\
        --training-data squad2=squad2/record.json --seed 0 --state state --output out/answers.json
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.artifacts import records
from stele.artifacts.epochs import write_with_epochs
from stele.artifacts.state import add_state_arguments, drop, own_folder
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.benchmarks.types import Data, QuerySet, SpanQuestion
from stele.command import arguments
from stele.encoders.tokenizer import load_tokenizer, read_json
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import JsonObject, parse_object
from stele.progress import track
from stele.recipes.finetuning import AnsweringRecipe, parse_answering
from stele.registry import load_named

if TYPE_CHECKING:
    from stele.answering.reader.training import Asked, Outcome

COLUMNS = ("search", "epoch", "dev_f1", "chosen")
log = logging.getLogger(__name__)

JOB = "answer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="what the model is called")
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--languages", nargs="+", required=True, help="of questions and paragraphs: en-de")
    parser.add_argument("--recipe", required=True, metavar="JSON", help="how the model learns to answer")
    add_data_argument(parser)
    add_data_argument(parser, "--training-data")
    parser.add_argument("--encoder", type=Path, required=True, metavar="RECORD", help="what is fine-tuned")
    parser.add_argument("--seed", required=True, type=arguments.seed)
    add_state_arguments(parser)
    arguments.add_record_beside(parser, JOB, ["answers"], "epochs.csv")


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    recipe = parse_answering(parse_object(args.recipe, "--recipe"))
    of_data, of_training = data_records(args.data), data_records(args.training_data, "--training-data")
    inputs = of_data | of_training | {"encoder": args.encoder}
    whole = {"benchmark": args.benchmark, "languages": args.languages, **recipe.model_dump(mode="json")}
    state = own_folder(args.state, recipe=whole, inputs=inputs, seed=args.seed, code=args.code)
    benchmark = load_named("stele.benchmarks", args.benchmark, kind="benchmark")
    data, query_sets = data_folders(of_data), benchmark.query_sets(args.languages)
    test = {query_set: list(benchmark.questions(data, query_set, "test")) for query_set in query_sets}
    dev = {query_set: list(benchmark.questions(data, query_set, "dev")) for query_set in query_sets}
    given, off_span = training_questions(data_folders(of_training), recipe)
    outcome, answers = answered(args.encoder.parent, recipe, given, dev, test, seed=args.seed, state=state)
    files = {query_set.name: partial(atomic_write_json, value=texts) for query_set, texts in answers.items()}
    outputs, content = write_with_epochs(
        args.output.parent / "answers", JOB, ".json", files, [COLUMNS, *_rows(outcome)]
    )
    records.write_record(
        args.output,
        job=JOB,
        inputs=inputs,
        clock=clock,
        seed=args.seed,
        model=args.model,
        benchmark=args.benchmark,
        languages=list(args.languages),
        answered={query_set.name: _facts(query_set, dev, test, answers, outcome) for query_set in query_sets},
        training={"questions": len(given), "answers_off_their_span": off_span, **outcome.counts},
        recipe=recipe.model_dump(mode="json", exclude_none=True),
        outputs=outputs,
        content=content,
    )
    drop(state)


def training_questions(folders: Data, recipe: AnsweringRecipe) -> tuple[list[SpanQuestion], int]:
    """The questions of the training set, and how many are left out since their answer does not stand at its place."""
    training_set = recipe.training_set
    module = load_named("stele.benchmarks", training_set.module, kind="training set")
    if not hasattr(module, "training_questions"):
        raise SteleError(f"--recipe: training set {training_set.module} has no questions with answers in paragraphs")
    if missing := sorted({*(training_set.data or ())} - {*folders}):
        raise SteleError(f"--recipe: training set {training_set.name} needs --training-data {missing[0]}=record.json")
    own = {name: folders[name] for name in training_set.data or folders}
    read = list(module.training_questions(own, "train"))
    kept = [item for item in read if all(item.stands(answer) for answer in item.answers)]
    if off_span := len(read) - len(kept):
        log.warning("%d of %d training questions are left out: their answer is off its span", off_span, len(read))
    return kept, off_span


def answered(
    folder: Path,
    recipe: AnsweringRecipe,
    given: list[SpanQuestion],
    dev: Mapping[QuerySet, list[SpanQuestion]],
    test: Mapping[QuerySet, list[SpanQuestion]],
    *,
    seed: int,
    state: Path,
) -> tuple[Outcome, dict[QuerySet, dict[str, str]]]:
    """The encoder of a folder fine-tuned on `given`, and its answers to the test questions of each query set."""
    from stele.answering.reader import training
    from stele.answering.reader.model import new_reader
    from stele.answering.reader.predictions import predictions
    from stele.answering.reader.windows import make_windows

    tokenizer = load_tokenizer(folder)
    segments = read_json(folder / "config.json").get("type_vocab_size", 0) > 1

    def asked(questions: list[SpanQuestion]) -> Asked:
        return training.Asked(questions, make_windows(tokenizer, questions, recipe, segments))

    reader = new_reader(folder, tokenizer.pad_token_id, recipe, seed)
    of_dev = {query_set: asked(questions) for query_set, questions in dev.items()}
    outcome = training.train(reader, asked(given), of_dev, recipe, seed=seed, state=state, label="answer")
    answers: dict[QuerySet, dict[str, str]] = {}
    for query_set in track(sorted(test, key=lambda query_set: outcome.epochs[query_set.name]), len(test), "test"):
        training.restore(reader, state, outcome.epochs[query_set.name])
        of_test = asked(test[query_set])
        answers[query_set] = predictions(reader, of_test.windows, of_test.questions)
    return outcome, answers


def _facts(
    query_set: QuerySet,
    dev: Mapping[QuerySet, list[SpanQuestion]],
    test: Mapping[QuerySet, list[SpanQuestion]],
    answers: Mapping[QuerySet, Mapping[str, str]],
    outcome: Outcome,
) -> JsonObject:
    epoch = outcome.epochs[query_set.name]
    return {
        "language": query_set.language,
        "pool": query_set.collection,
        "queries": len(test[query_set]),
        "dev_queries": len(dev[query_set]),
        "without_prediction": len(test[query_set]) - len(answers[query_set]),
        "answers_off_their_span": off_span(test[query_set]),
        "epoch": epoch,
        "dev_f1": outcome.dev_f1[query_set.name][epoch],
    }


def off_span(questions: Iterable[SpanQuestion]) -> int:
    """How many questions have an answer that does not stand at its place; they are scored by its text all the same."""
    return sum(not all(item.stands(answer) for answer in item.answers) for item in questions)


def _rows(outcome: Outcome) -> Iterator[tuple[Any, ...]]:
    for name, values in outcome.dev_f1.items():
        for epoch, value in sorted(values.items()):
            yield name, epoch, f"{value:.6f}", int(epoch == outcome.epochs[name])
