"""Fine-tune an encoder to find answers in paragraphs, then answer a benchmark's questions in each of its query sets.

Each query set's test questions are answered by the weights of the epoch with its best dev F1. epochs.csv beside the
record has the dev F1 of every epoch. answers/ has {question id: answer} for each query set, the format of the scripts
of MLQA and SQuAD. A killed job resumes at its saved step.

    stele answering answer --model mine --benchmark mlqa --languages en-de de-de --encoder mine/record.json \\
        --recipe '{"training_set": "squad2", "batch": 16, "learning_rate": 1e-5}' --data mlqa=mlqa/record.json \\
        --training-data squad2=squad2/record.json --seed 0 --state state --output out/answers.json
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from stele.artifacts import records
from stele.artifacts.state import drop, own_folder, write_with_epochs
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import AnsweringReader, SpanTrainingReader
from stele.benchmarks.types import Data, QuerySet, SpanQuestion
from stele.command.arguments import Datasets, Json, Name, NewRecord, Record, ResumableJob, Seed, Some, record_beside
from stele.encoders.tokenizer import load_tokenizer, read_json
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import parse_object
from stele.files.strict import validate
from stele.progress import track
from stele.recipes.finetuning import AnsweringRecipe

if TYPE_CHECKING:
    from stele.answering.reading.reader import ReaderTraining

COLUMNS = ("search", "epoch", "dev_f1", "chosen")
log = logging.getLogger(__name__)

JOB = "answer"


class Answer(ResumableJob):
    model: str
    """Name of the model."""
    benchmark: str
    """Name of the benchmark in benchmarks.yaml."""
    languages: Some[Name]
    """Pairs of a question language and a paragraph language, e.g. en-de."""
    recipe: Json
    """Recipe: training set, sizes, optimisation."""
    data: Datasets
    training_data: Datasets
    """Data of the training set as DATASET[:PART]=PATH ...; each PATH is a record.json, a folder or a file."""
    encoder: Record
    """Record of the encoder to fine-tune."""
    seed: Seed
    output: Annotated[NewRecord, record_beside(JOB, ["answers"], "epochs.csv")]


def run(args: Answer) -> None:
    from stele.answering.reading import reader as reader_module
    from stele.answering.reading.windows import make_windows
    from stele.training.callbacks import restore_epoch

    # the recipe, the inputs and the state folder
    recipe = validate(AnsweringRecipe, parse_object(args.recipe, "--recipe"), "--recipe")
    benchmark_data = data_records(args.data)
    training_data = data_records(args.training_data, "--training-data")
    inputs = benchmark_data | training_data | {"encoder": args.encoder}
    made_by = {"benchmark": args.benchmark, "languages": args.languages, **recipe.model_dump(mode="json")}
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=args.seed, code=args.code)

    # the questions: test and dev of each query set, and the training set
    benchmark = load_reader(args.benchmark, AnsweringReader)
    data, query_sets = data_folders(benchmark_data), benchmark.query_sets(args.languages)
    test = {query_set: read_questions(benchmark, data, query_set, "test") for query_set in query_sets}
    dev = {query_set: read_questions(benchmark, data, query_set, "dev") for query_set in query_sets}
    train, off_span = read_training_questions(data_folders(training_data), recipe)

    # fine-tune, choosing an epoch for each query set on its dev questions
    folder = args.encoder.parent
    tokenizer = load_tokenizer(folder)
    segments = read_json(folder / "config.json").get("type_vocab_size", 0) > 1
    windowed = partial(make_windows, tokenizer, recipe=recipe, segments=segments)
    reader = reader_module.new_reader(folder, tokenizer.pad_token_id, recipe, args.seed)
    windowed_dev = {query_set: windowed(questions) for query_set, questions in dev.items()}
    training = reader_module.train(reader, windowed(train), windowed_dev, recipe, args.seed, state)

    # answer the test questions of each query set with its epoch, epoch by epoch
    answers: dict[QuerySet, dict[str, str]] = {}
    by_epoch = sorted(test, key=lambda query_set: training.epochs[query_set.name])
    for query_set in track(by_epoch, len(test), "test"):
        restore_epoch(reader, state, training.epochs[query_set.name])
        answers[query_set] = reader_module.predictions(reader, windowed(test[query_set]))

    # write the answers with epochs.csv, and the record
    answered = {}
    for query_set in query_sets:
        epoch = training.epochs[query_set.name]
        answered[query_set.name] = {
            "language": query_set.language,
            "pool": query_set.collection,
            "queries": len(test[query_set]),
            "dev_queries": len(dev[query_set]),
            "without_prediction": len(test[query_set]) - len(answers[query_set]),
            "answers_off_their_span": sum(not _is_in_place(question) for question in test[query_set]),
            "epoch": epoch,
            "dev_f1": training.dev_f1[query_set.name][epoch],
        }
    files = {query_set.name: partial(atomic_write_json, value=texts) for query_set, texts in answers.items()}
    rows = [COLUMNS, *_epoch_rows(training)]
    outputs, content = write_with_epochs(args.output.parent / "answers", JOB, ".json", files, rows)
    records.write_record(
        args.output,
        job=JOB,
        inputs=inputs,
        earlier=training.earlier,
        seed=args.seed,
        model=args.model,
        benchmark=args.benchmark,
        languages=list(args.languages),
        answered=answered,
        training={"questions": len(train), "answers_off_their_span": off_span, **training.counts},
        recipe=recipe.model_dump(mode="json", exclude_none=True),
        outputs=outputs,
        content=content,
    )
    drop(state)


def read_questions(benchmark: AnsweringReader, data: Data, query_set: QuerySet, split: str) -> list[SpanQuestion]:
    """Reads the questions of a split. Raises SteleError if there are none, before anything is trained for them."""
    questions = list(benchmark.questions(data, query_set, split))
    if not questions:
        raise SteleError(f"{query_set.name}: found no {split} question in the data; leave the pair out or get it again")
    return questions


def read_training_questions(folders: Data, recipe: AnsweringRecipe) -> tuple[list[SpanQuestion], int]:
    """Reads the training questions whose answers match their spans, and counts the others.

    Raises SteleError if the training set has no questions about paragraphs, or one of its datasets is not given.
    """
    training_set = recipe.training_set
    reader = load_reader(training_set.module, SpanTrainingReader)
    if missing := sorted({*(training_set.data or ())} - {*folders}):
        raise SteleError(f"--recipe: training set {training_set.name} needs --training-data {missing[0]}=record.json")
    of_set = {name: folders[name] for name in training_set.data or folders}
    questions = list(reader.training_questions(of_set, "train"))
    in_place = [question for question in questions if _is_in_place(question)]
    if off_span := len(questions) - len(in_place):
        log.warning("%d of %d training questions left out: an answer does not match its span", off_span, len(questions))
    return in_place, off_span


def _is_in_place(question: SpanQuestion) -> bool:
    """Whether all answers match their spans; test questions are scored by their answers' text even if not."""
    return all(question.stands(answer) for answer in question.answers)


def _epoch_rows(training: ReaderTraining) -> Iterator[tuple[Any, ...]]:
    for name, values in training.dev_f1.items():
        for epoch, value in sorted(values.items()):
            yield name, epoch, f"{value:.6f}", int(epoch == training.epochs[name])
