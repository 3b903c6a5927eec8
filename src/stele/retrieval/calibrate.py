"""Calibrate an encoder's vectors across languages: mean and deviation of each, and a rotation of each pair.

CCP, section 3.2; nothing is learnt from translations. From sentences of CommonCrawl, language by language and pair by
pair; what is finished stays in the state folder, so that a job that was killed goes on where it was. The vectors of a
language are dropped after its last pair.
"""

from __future__ import annotations

import argparse
import logging
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from stele.artifacts import records
from stele.artifacts.state import add_state_arguments, drop, own_folder
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_write_json
from stele.files.digests import folder_facts
from stele.files.reading import parse_object, read_state
from stele.progress import bar
from stele.retrieval.dense.encoding_argument import add_encoding_argument, parse_encoding

log = logging.getLogger(__name__)
JOB = "calibrate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="what the model is called")
    parser.add_argument("--encoder", type=Path, required=True, help="record.json in the encoder's folder")
    add_encoding_argument(parser)
    parser.add_argument(
        "--documents",
        nargs="+",
        required=True,
        metavar="LANGUAGE=RECORD",
        help="records of the documents of CommonCrawl: the languages to calibrate",
    )
    parser.add_argument(
        "--pairs", nargs="*", default=[], metavar="PAIR", help="to rotate, e.g. fr-en: French to English"
    )
    parser.add_argument("--recipe", default="{}", metavar="JSON", help="sentences, scaling, rotation; default: MUSE's")
    parser.add_argument("--seed", required=True, type=arguments.seed)
    add_state_arguments(parser)
    arguments.add_record(parser, JOB)


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    import torch

    from stele.encoders.load import load_encoder
    from stele.recipes.calibration import parse_recipe
    from stele.training.processes import default_device

    values = parse_object(args.recipe, "--recipe")
    recipe, documents = parse_recipe(values), documents_of(args.documents)
    pairs = checked_pairs(args.pairs, documents)
    torch.set_num_threads(recipe.threads)
    encoder = load_encoder(args.encoder.parent, parse_encoding(args.encoding), str(default_device()))
    if not encoder.spec.of_one_kind:
        raise SteleError(
            "--encoder: queries and passages are encoded differently; a calibration wants one vector a text"
        )
    inputs = {"encoder": args.encoder, **{f"documents {language}": path for language, path in documents.items()}}
    made_by = {**values, "encoding": encoder.spec.facts(), "pairs": pairs}
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=args.seed, code=args.code)
    job = Job(encoder, recipe, documents, args.seed, state)
    for pair in pairs:
        job.rotate(pair, later=pairs[pairs.index(pair) + 1 :])
    for language in documents:
        job.statistics(language)
        job.forget(language)
    publish(args, job, pairs, inputs, clock)
    drop(state)


def documents_of(given: list[str]) -> dict[str, Path]:
    """The records of documents by language, in the order of the languages."""
    found: dict[str, Path] = {}
    for item in given:
        language, equals, path = item.partition("=")
        if not (language and equals and path) or language in found:
            raise SteleError(f"--documents {item!r}: want LANGUAGE=RECORD, each language once")
        if not Path(path).is_file():
            raise SteleError(f"--documents {language}: no such record: {path}")
        found[language] = Path(path)
    return dict(sorted(found.items()))


def checked_pairs(pairs: list[str], documents: Mapping[str, Path]) -> list[str]:
    """The pairs, each of two languages that have documents; one W serves both directions."""
    seen: set[frozenset[str]] = set()
    for pair in pairs:
        languages = pair.split("-")
        if len(languages) != 2 or not all(languages) or len(set(languages)) != 2:
            raise SteleError(f"--pairs {pair!r}: want a pair of languages, as fr-en")
        if missing := [language for language in languages if language not in documents]:
            raise SteleError(
                f"--pairs {pair}: there is no CommonCrawl text of {missing[0]}, so it cannot be calibrated: give "
                f"--documents {missing[0]}=RECORD, or leave the pair out"
            )
        if frozenset(languages) in seen:
            raise SteleError(f"--pairs {pair}: the pair is there twice; one W serves both directions")
        seen.add(frozenset(languages))
    return pairs


class Job:
    """What is learnt of an encoder, piece by piece, in a state folder."""

    def __init__(self, encoder: Any, recipe: Any, documents: Mapping[str, Path], seed: int, state: Path) -> None:
        self.encoder, self.recipe, self.documents, self.seed, self.state = encoder, recipe, documents, seed, state
        self._vectors: dict[str, np.ndarray] = {}  # those that are still needed

    def statistics(self, language: str) -> Any:
        """The statistics of a language."""
        from stele.encoders.calibration.artifact import read_tensors, write_tensors
        from stele.encoders.calibration.statistics import statistics
        from stele.retrieval.dense.vector_files import READ_ROWS

        path = self.state / f"statistics.{language}.safetensors"
        if self.facts(language) is None:
            vectors = self.vectors(language)
            blocks = (vectors[start : start + READ_ROWS] for start in range(0, len(vectors), READ_ROWS))
            write_tensors(path, {language: statistics(blocks, language)}, {})
            atomic_write_json(self._facts(language), {"sentences": len(vectors)})
        return read_tensors(path)[0][language]

    def rotate(self, pair: str, later: list[str]) -> None:
        """Learns the W of a pair, unless it is there; drops the vectors that no `later` pair looks at."""
        from stele.encoders.calibration.artifact import write_tensors
        from stele.encoders.calibration.rotation import learn_rotation

        languages, recipe = pair.split("-"), self.recipe.rotation
        if self.facts(pair) is None:
            sides, state = [self.scaled(language) for language in languages], self.state / f"rotation {pair}"
            state.mkdir(exist_ok=True)
            epochs = recipe.epochs if recipe.start == "adversarial" else None
            with bar(epochs, f"rotation {pair}", "epochs") as shown:
                given = {"device": str(self.encoder.device), "state": state, "watch": lambda done: shown.update(1)}
                rotation = learn_rotation(*sides, recipe, self.seed, pair, **given)
            write_tensors(self.state / f"rotation.{pair}.safetensors", {}, {pair: rotation.matrix})
            atomic_write_json(self._facts(pair), rotation.facts())
            shutil.rmtree(state)
            log.info("%s: %s kept, criterion %.4f", pair, *(rotation.facts()[key] for key in ("kept", "criterion")))
        needed = {language for other in later for language in other.split("-")}
        for language in set(languages) - needed:
            self.forget(language)

    def facts(self, name: str) -> dict[str, Any] | None:
        """What is known of a language or a pair that is finished; None before."""
        return read_state(self._facts(name))

    def _facts(self, name: str) -> Path:
        return self.state / f"{name}.json"

    def vectors(self, language: str) -> np.ndarray:
        """The vectors [n, d] of a language's sentences, encoded unless they are there; mapped, not loaded."""
        if language not in self._vectors:
            self._vectors[language] = self._encoded(language)
        return self._vectors[language]

    def _encoded(self, language: str) -> np.ndarray:
        from stele.retrieval.calibration.sentences import sample_sentences
        from stele.retrieval.dense.vector_files import Layout, encode_part

        folder = self.state / "vectors" / language
        sentences = sample_sentences(self.documents[language], self.recipe.sentences, self.seed, language)
        with bar(len(sentences), f"encode {language}", "sentences") as shown:

            def encode(items):
                for ids, block in self.encoder.encode_stream(items, self.encoder.spec.longer):
                    yield ids, block
                    shown.update(len(ids))

            named = ((f"{language} {number}", text) for number, text in enumerate(sentences, start=1))
            encode_part(folder, named, encode, Layout(self.encoder.dimension, "float32", False, language))
        return np.load(folder / "vectors.npy", mmap_mode="r")

    def scaled(self, language: str) -> np.ndarray:
        """The vectors of a language, shifted and scaled, float32."""
        from stele.encoders.calibration.artifact import Calibration

        own = Calibration({language: self.statistics(language)}, {}, self.recipe.scale_by)
        return own.apply(self.vectors(language), "scaled", language)

    def forget(self, language: str) -> None:
        """Drops the vectors of a language."""
        self._vectors.pop(language, None)
        shutil.rmtree(self.state / "vectors" / language, ignore_errors=True)


def publish(
    args: argparse.Namespace, job: Job, pairs: list[str], inputs: Mapping[str, Path], clock: records.Clock
) -> None:
    """Writes the calibration and its record into the folder of the output, all at once."""
    from stele.encoders.calibration.artifact import FILE, read_tensors, write_tensors

    statistics = {language: job.statistics(language) for language in job.documents}
    rotations = {pair: read_tensors(job.state / f"rotation.{pair}.safetensors")[1][pair] for pair in pairs}
    with atomic_directory(args.output.parent, JOB) as folder:
        write_tensors(folder / FILE, statistics, rotations)
        records.write_record(
            folder / args.output.name,
            job=JOB,
            inputs=inputs,
            clock=clock,
            seed=args.seed,
            model=args.model,
            recipe=job.recipe.model_dump(mode="json"),
            **job.encoder.facts(),
            languages={language: job.facts(language) for language in job.documents},
            rotations={pair: job.facts(pair) for pair in pairs},
            outputs=folder_facts(folder),
        )
