"""Encode a collection that several benchmarks search, and write its vectors and ids for all these searches.

NeuCLIRBench's three benchmarks rank the same documents, by language or all in one. The vectors equal those that a
search itself would make, and stay until the last search is done (or for good, with `keep_index`). A killed job resumes
where it stopped: encoded blocks are kept in the state folder until the job is done. Several processes (torchrun's)
share the encoding and write the same bytes as one.
"""

import logging
from typing import Annotated

from stele.artifacts import records
from stele.artifacts.state import drop, own_folder
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import RetrievalReader
from stele.command.arguments import Datasets, EncoderJob, Name, NewRecord, ResumableJob, record_of
from stele.files.atomic import link_or_copy
from stele.files.reading import read_state
from stele.retrieval.dense.collection import CollectionEncoding, EncodedCollection
from stele.retrieval.dense.job_collections import JOB, STORED_FILES, ResumableClock
from stele.retrieval.dense.processes import ProcessGroup, set_threads
from stele.retrieval.dense.windows import WindowsJson, parse_windows
from stele.training.processes import process_context

logger = logging.getLogger(__name__)


class EncodeCollection(ResumableJob, EncoderJob):
    benchmark: str
    """A benchmark that searches the collection, as named in benchmarks.yaml."""
    collection: Name
    """Name of the collection in the benchmark: a language."""
    data: Datasets
    windows: WindowsJson = None
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: EncodeCollection) -> None:
    from stele.encoders.load import load_encoder, parse_encoding

    # the benchmark, and the encoder in all processes
    benchmark = load_reader(args.benchmark, RetrievalReader)
    benchmark_data = data_records(args.data)
    set_threads(args.threads)
    processes = ProcessGroup(process_context())
    encoder = load_encoder(args.encoder.parent, parse_encoding(args.encoding), str(processes.device))
    windows = parse_windows(args.windows)
    normalize = benchmark.NORMALIZE or encoder.cosine

    # the state folder
    facts = {
        "benchmark": args.benchmark,
        "collection": args.collection,
        "windows": windows and windows.model_dump(),
        "normalize": normalize,
    }
    inputs = {"encoder": args.encoder, **benchmark_data}
    made_by = {**facts, "encoding": encoder.spec.facts()}
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=0, code=args.code, first=processes.is_main)

    # encode
    clock = ResumableClock(state)
    settings = CollectionEncoding(
        passages=lambda name: benchmark.passages(data_folders(benchmark_data), name),
        inputs=inputs,
        encoder=encoder,
        processes=processes,
        state=state,
        key=state.name,
        normalize=normalize,
        windows=windows,
        on_block=clock.save,
    )
    vectors = state / "vectors"
    collection = EncodedCollection(settings, args.collection, vectors)
    collection.encode()
    collection.put_away()
    if not processes.is_main:
        return

    # publish the vectors and ids with their record
    with records.output_folder(args.output, JOB, inputs) as (folder, record):
        for name in STORED_FILES:
            link_or_copy(vectors / name, folder / name)
        record.update(
            earlier=clock.earlier,
            labels=encoder.labels,
            **facts,
            **encoder.facts(),
            counts=collection.counts(),
            dimension=encoder.dimension,
            processes=processes.world,
            outputs=read_state(vectors / "progress.json")["outputs"],
        )
    logger.info("collection %s: %d vectors of %d numbers", args.collection, collection.size, encoder.dimension)
    drop(state)
