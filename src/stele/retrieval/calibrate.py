"""Calibrate an encoder's vectors: learn each language's mean and deviation, and a rotation for each language pair.

The method is that of CCP, section 3.2: it learns from sentences of CommonCrawl, language by language and pair by pair,
and from no translations. Finished languages and pairs stay in the state folder, so that a killed job resumes. The
vectors of a language are dropped after its last pair.
"""

import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from stele.artifacts import records
from stele.artifacts.documents import document_shards
from stele.artifacts.state import drop, own_folder
from stele.command.arguments import Encoding, Json, NewRecord, Record, ResumableJob, Seed, Some, named_paths, record_of
from stele.encoders import calibration
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import parse_object, read_state, reading
from stele.files.strict import validate
from stele.progress import bar
from stele.retrieval.dense.vector_files import READ_ROWS, Layout, encode_part
from stele.training.sampling import generator

log = logging.getLogger(__name__)
JOB = "calibrate"
SPREAD = 4  # sentences read per drawn one, to mix the row groups of neighbouring documents


class Calibrate(ResumableJob):
    model: str
    """Name of the calibrated model."""
    encoder: Record
    """record.json in the encoder's folder."""
    encoding: Encoding = "{}"
    documents: Some[str]
    """Records of each language's documents of CommonCrawl, as LANGUAGE=RECORD."""
    pairs: tuple[str, ...] = ()
    """Language pairs to rotate, e.g. fr-en, which rotates French to English."""
    recipe: Json = "{}"
    """Keys of the recipe that differ from its defaults: sentences, scale_by, rotation."""
    seed: Seed
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: Calibrate) -> None:
    import torch

    from stele.encoders.load import load_encoder, parse_encoding
    from stele.recipes.search import CalibrationRecipe
    from stele.training.processes import default_device

    # the recipe, the documents and the pairs
    values = parse_object(args.recipe, "--recipe")
    recipe = validate(CalibrationRecipe, values, "--recipe")
    documents = dict(sorted(named_paths(args.documents, "--documents").items()))
    check_pairs(args.pairs, documents)

    # the encoder
    torch.set_num_threads(recipe.threads)
    encoder = load_encoder(args.encoder.parent, parse_encoding(args.encoding), str(default_device()))
    if not encoder.spec.of_one_kind:
        raise SteleError("--encoder: queries and passages are encoded differently; give one with a vector per text")

    # the state folder
    inputs = {"encoder": args.encoder, **{f"documents {language}": path for language, path in documents.items()}}
    made_by = {**values, "encoding": encoder.spec.facts()}  # without languages, which name the learnt parts
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=args.seed, code=args.code)

    # learn the rotation of each pair, then the statistics of languages without one
    job = CalibrationJob(encoder, recipe, documents, args.seed, state)
    for number, pair in enumerate(args.pairs, start=1):
        job.rotate(pair, later=args.pairs[number:])
    for language in documents:
        job.statistics(language)
        job.forget(language)

    # publish the calibration with its record, both at once
    statistics = {language: job.statistics(language) for language in documents}
    rotations = {pair: job.rotation(pair) for pair in args.pairs}
    with records.output_folder(args.output, JOB, inputs) as (folder, facts):
        calibration.write_tensors(folder / calibration.FILE, statistics, rotations)
        facts.update(
            seed=args.seed,
            model=args.model,
            recipe=recipe.model_dump(mode="json"),
            **encoder.facts(),
            languages={language: job.facts(language) for language in documents},
            rotations={pair: job.facts(pair) for pair in args.pairs},
        )
    drop(state)


def check_pairs(pairs: Sequence[str], documents: Mapping[str, Path]) -> None:
    """Raises SteleError if a pair is not of two languages with documents, or is repeated."""
    seen: set[frozenset[str]] = set()
    for pair in pairs:
        languages = pair.split("-")
        if len(languages) != 2 or "" in languages or languages[0] == languages[1]:
            raise SteleError(f"--pairs {pair!r}: want a pair of languages, e.g. fr-en")
        if missing := [language for language in languages if language not in documents]:
            raise SteleError(
                f"--pairs {pair}: there is no CommonCrawl text of {missing[0]}, so it cannot be calibrated: give "
                f"--documents {missing[0]}=RECORD, or leave the pair out"
            )
        if frozenset(languages) in seen:
            raise SteleError(f"--pairs {pair}: the pair appears twice; one rotation serves both directions")
        seen.add(frozenset(languages))


class CalibrationJob:
    """Learns the calibration of an encoder, language by language and pair by pair, in a state folder."""

    def __init__(self, encoder: Any, recipe: Any, documents: Mapping[str, Path], seed: int, state: Path) -> None:
        self.encoder, self.recipe, self.documents, self.seed, self.state = encoder, recipe, documents, seed, state
        self._vectors: dict[str, np.ndarray] = {}  # language -> vectors that are still needed

    def facts(self, name: str) -> dict[str, Any] | None:
        """Facts of a finished language or pair; None if it is not finished."""
        return read_state(self.state / f"{name}.json")

    def statistics(self, language: str) -> calibration.Statistics:
        """Mean and deviation of a language's vectors; computes and saves them at the first call."""
        path = self.state / f"statistics.{language}.safetensors"
        if self.facts(language) is None:
            vectors = self.vectors(language)
            blocks = (vectors[start : start + READ_ROWS] for start in range(0, len(vectors), READ_ROWS))
            calibration.write_tensors(path, {language: calibration.statistics(blocks, language)}, {})
            atomic_write_json(self.state / f"{language}.json", {"sentences": len(vectors)})
        statistics, _ = calibration.read_tensors(path)
        return statistics[language]

    def rotate(self, pair: str, later: Sequence[str]) -> None:
        """Learns and saves the rotation of a pair, if not yet saved; drops the vectors that no `later` pair needs."""
        from stele.encoders.rotation import learn_rotation

        languages, recipe = pair.split("-"), self.recipe.rotation
        if self.facts(pair) is None:
            sides = [self.scaled(language) for language in languages]
            state = self.state / f"rotation {pair}"
            state.mkdir(exist_ok=True)
            epochs = recipe.epochs if recipe.start == "adversarial" else None
            with bar(epochs, f"rotation {pair}", "epochs") as shown:
                rotation = learn_rotation(
                    *sides,
                    recipe,
                    self.seed,
                    pair,
                    device=str(self.encoder.device),
                    state=state,
                    watch=lambda done: shown.update(1),
                )
            calibration.write_tensors(self.state / f"rotation.{pair}.safetensors", {}, {pair: rotation.matrix})
            facts = rotation.facts()
            atomic_write_json(self.state / f"{pair}.json", facts)
            shutil.rmtree(state)
            log.info("%s: %s kept, criterion %.4f", pair, facts["kept"], facts["criterion"])
        for language in set(languages).difference(*(other.split("-") for other in later)):
            self.forget(language)

    def rotation(self, pair: str) -> np.ndarray:
        """Reads the saved rotation W [d, d] of a pair."""
        _, rotations = calibration.read_tensors(self.state / f"rotation.{pair}.safetensors")
        return rotations[pair]

    def vectors(self, language: str) -> np.ndarray:
        """Vectors of a language's sentences, float32 [n, d], memory-mapped; encodes the sentences at the first call."""
        if language in self._vectors:
            return self._vectors[language]
        folder = self.state / "vectors" / language
        sentences = sample_sentences(self.documents[language], self.recipe.sentences, self.seed, language)
        with bar(len(sentences), f"encode {language}", "sentences") as shown:

            def encode(items):
                for ids, block in self.encoder.encode_stream(items, self.encoder.spec.longer):
                    yield ids, block
                    shown.update(len(ids))

            named = ((f"{language} {number}", text) for number, text in enumerate(sentences, start=1))
            encode_part(folder, named, encode, Layout(self.encoder.dimension, "float32", False, language))
        self._vectors[language] = np.load(folder / "vectors.npy", mmap_mode="r")
        return self._vectors[language]

    def scaled(self, language: str) -> np.ndarray:
        """Vectors of a language's sentences, shifted and scaled, float32 [n, d]."""
        of_language = calibration.Calibration({language: self.statistics(language)}, {}, self.recipe.scale_by)
        return of_language.apply(self.vectors(language), "scaled", language)

    def forget(self, language: str) -> None:
        """Drops the vectors of a language."""
        self._vectors.pop(language, None)
        shutil.rmtree(self.state / "vectors" / language, ignore_errors=True)


def sample_sentences(documents: Path, count: int, seed: int, language: str) -> list[str]:
    """Draws at most `count` distinct sentences of a corpus (given by its record), in random order.

    It reads row groups in an order that seed and language decide, until they hold SPREAD times `count` sentences, and
    draws from these with equal probability. Raises SteleError for a corpus without a sentence.
    """
    texts: list[str] = []
    draws: list[np.ndarray] = []
    for name, group, sentences in _groups(documents, seed, language):
        texts += sentences
        draws.append(generator(seed, "calibration", language, name, group).random(len(sentences)))
        if len(texts) >= SPREAD * count:
            break
    if not texts:
        raise SteleError(f"{documents}: found no sentence of {language} to calibrate by; leave {language} out")
    order = np.argsort(np.concatenate(draws), kind="stable")
    return list(islice(dict.fromkeys(texts[place] for place in order), count))


def _groups(documents: Path, seed: int, language: str) -> Iterator[tuple[str, int, list[str]]]:
    """Reads the row groups of a corpus in random order; yields (shard, row group number, sentences)."""
    import pyarrow.parquet as pq

    kind, places = ("Parquet file", "build the corpus again"), []
    for path in document_shards(documents):
        with reading(path, *kind):
            places += [(path, number) for number in range(pq.read_metadata(path).num_row_groups)]
    for place in generator(seed, "calibration", language, "groups").permutation(len(places)):
        path, number = places[place]
        with reading(path, *kind), pq.ParquetFile(path) as file:
            column = file.read_row_group(number, columns=["sentences"]).column("sentences").combine_chunks()
            sentences = column.flatten().to_pylist()
        yield path.name, number, sentences
