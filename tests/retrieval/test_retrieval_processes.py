"""Retrieval and mining on several processes: the same bytes as one, also after a process was killed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import test_hard_negatives as mining
import test_retrieve as retrieval
from recorded import put

from stele.encoders import encode
from stele.encoders.encode import Encoder
from stele.errors import SteleError
from stele.retrieval import hard_negatives, retrieve
from stele.retrieval.dense import collection as searched
from stele.retrieval.dense import vector_files
from stele.retrieval.searches import search_job
from tests.forked import forked
from tests.killing import kill_at

data, small_windows = retrieval.data, retrieval.small_windows
collection, crowded, tuned = mining.collection, mining.crowded, mining.tuned
KILLED = -9


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def on(world: int, command, args, disturb=lambda rank: None) -> list[int]:
    """Runs a command on so many processes, after disturb(rank) in each."""

    def work(rank: int) -> None:
        disturb(rank)
        command.run(args)

    return forked(world, work)


def killing(rank: int, module, name: str, call: int):
    """Kills the process `rank` instead of the call-th call of a function."""
    return lambda this_rank: setattr(*kill_at(module, name, call)) if this_rank == rank else None


def arguments(tmp_path: Path, encoder: Path, data: list[str], name: str, *more: str):
    """With an index kept in a folder of its own."""
    index = str(tmp_path / f"{name}_index")
    return retrieval.arguments(tmp_path, encoder, data, name, "--keep-index", index, *more)


@pytest.fixture
def alone(tmp_path, encoder, data) -> dict[str, bytes]:
    """What one process makes: the runs, and the kept index."""
    retrieve.run(arguments(tmp_path, encoder, data, "alone"))
    return made(tmp_path, "alone")


def made(tmp_path: Path, name: str) -> dict[str, bytes]:
    return contents(tmp_path / name / "runs") | contents(tmp_path / f"{name}_index")


@pytest.mark.parametrize(("world", "precision"), [(2, "float32"), (3, "bfloat16"), (8, "float32")])  # of 7 windows
def test_the_same_bytes_as_one_process(tmp_path, encoder, data, world, precision):
    more = ["--encoding", json.dumps({**retrieval.SPEC, "precision": precision})]
    retrieve.run(arguments(tmp_path, encoder, data, "alone", *more))
    args, alone = arguments(tmp_path, encoder, data, "several", *more), made(tmp_path, "alone")
    assert on(world, retrieve, args) == [0] * world
    assert len(alone) == 11, "two runs, three files of each kept collection, and the mark of each of the three folders"
    assert made(tmp_path, "several") == alone
    records = [json.loads((tmp_path / name / "retrieval.json").read_text()) for name in ("several", "alone")]
    assert [actual["processes"] for actual in records] == [world, 1]
    assert records[0]["content"] == records[1]["content"] and records[0]["searches"] == records[1]["searches"]
    assert records[0]["encoding"]["precision"] == precision
    assert not args.state.exists()


FAULTS = [
    (1, vector_files, "_save_progress", 3),  # a window's bytes are there and do not count yet
    (0, vector_files, "_write_ids", 1),  # the first has encoded all, the other perhaps not
    (0, search_job, "write_run", 2),  # first collection done, second encoded
    (0, vector_files, "_table", 2),  # the kept index half joined
    (1, searched.shutil, "rmtree", 1),  # the index is joined, a part not yet removed
    (0, retrieve.records, "write_record", 1),  # everything but the record
]


@pytest.mark.parametrize("then", [2, 1, 3])
@pytest.mark.parametrize(("rank", "module", "name", "call"), FAULTS)
def test_kill_9_of_one_process_and_again(tmp_path, encoder, data, alone, rank, module, name, call, then):
    args = arguments(tmp_path, encoder, data, "killed")
    assert on(2, retrieve, args, killing(rank, module, name, call))[rank] == KILLED
    assert not args.output.exists()
    assert on(then, retrieve, args) == [0] * then
    assert made(tmp_path, "killed") == alone
    assert not args.state.exists()


def test_each_process_encodes_only_what_is_left_to_it(tmp_path, encoder, data):
    """Killed when the second collection was encoded; another number of processes does that one again, and no other."""
    args, original = retrieval.arguments(tmp_path, encoder, data, "killed"), Encoder.encode_stream

    def spying(rank: int) -> None:
        def spy(self, items, kind, **options):
            for ids, vectors in original(self, items, kind, **options):
                with open(tmp_path / f"encoded{rank}", "a") as handle:
                    handle.write(f"{len(ids)} ")
                yield ids, vectors

        Encoder.encode_stream = spy

    def encoded() -> list[int]:
        """Sizes of the blocks that were encoded since the last call."""
        texts = [path.read_text() for path in tmp_path.glob("encoded*")]
        for path in tmp_path.glob("encoded*"):
            path.unlink()
        return sorted(map(int, " ".join(texts).split()))

    def disturb(rank: int) -> None:
        spying(rank)
        killing(0, search_job, "write_run", 2)(rank)

    assert KILLED in on(2, retrieve, args, disturb)
    assert encoded() == [4, 4, *[16] * 12], "every window in one process"
    assert on(3, retrieve, args, spying) == [0, 0, 0]
    assert encoded() == [4, *[16] * 6]


@pytest.mark.parametrize("world", [1, 2])
def test_an_id_that_is_there_twice_is_refused(tmp_path, encoder, data, world):
    names = [f"p{row}" for row in range(60)]
    names[50] = names[3]
    put(tmp_path / "sw/c/corpus.jsonl.gz", [{"docid": name, "title": "", "text": "river nile"} for name in names])
    args = retrieval.arguments(tmp_path, encoder, data)

    def work(rank: int) -> None:
        try:
            retrieve.run(args)
        except SteleError as error:
            (tmp_path / "said").write_text(str(error))
            raise

    for _ in range(2):  # the second time all is encoded, and the first process has not seen the passages go by
        assert 1 in forked(world, work)
        said = (tmp_path / "said").read_text()
        assert said == "collection sw: passage id 'p3' appears twice (passages 4 and 51 of 60)"
        (tmp_path / "said").unlink()
    assert not args.output.exists()


def test_an_error_of_one_process_ends_all(tmp_path, encoder, data):
    def disturb(rank: int) -> None:
        def refuse(*given):
            raise SteleError("its vector is not finite")

        if rank == 1:
            vector_files._stored = refuse

    ended = on(3, retrieve, retrieval.arguments(tmp_path, encoder, data), disturb)
    assert ended[1] == 1 and all(ended)


# --- hard negatives ---
@pytest.mark.parametrize("then", [3, 1])
@pytest.mark.parametrize(
    ("rank", "fault"),
    [
        (1, (vector_files, "_save_progress", 2)),
        (0, (hard_negatives, "save_found", 2)),  # one part of the questions searched
        (1, (searched, "blocks", 2)),  # one part of the questions searched by one process only
        (0, (hard_negatives, "in_order", 2)),  # the first collection is done, the second one searched
    ],
)
def test_kill_9_while_mining_and_again(tmp_path, tuned, collection, crowded, monkeypatch, rank, fault, then):
    monkeypatch.setattr(hard_negatives, "HITS", 120)
    mining.mine(tmp_path, tuned, collection.given, "alone")
    args = mining.arguments(tmp_path, tuned, collection.given, "killed", 4, "--threads", "1")
    assert on(2, hard_negatives, args, killing(rank, *fault))[rank] == KILLED
    assert on(then, hard_negatives, args) == [0] * then
    assert mining.files(tmp_path / "killed") == mining.files(tmp_path / "alone")
    record = json.loads(args.output.read_text())
    assert record["processes"] == then and record["pools"]["sw"]["questions"] == 40
    assert not args.state.exists()


# --- as it is started in earnest ---
@pytest.mark.slow
def test_from_the_command_line(tmp_path, encoder, data, monkeypatch):
    """Two processes, of which one has nothing to encode: the collections are smaller than a window."""
    monkeypatch.undo()
    assert encode.CPU_WINDOW > 100
    retrieve.run(retrieval.arguments(tmp_path, encoder, data, "alone"))
    line = ["--benchmark", "mrtydi", "--languages", "sw", "th", "--depth", "20", "--threads", "1", "--data", *data]
    line += ["--encoder", str(encoder), "--encoding", json.dumps(retrieval.SPEC)]
    line += ["--state", str(tmp_path / "state/two"), "--output", str(tmp_path / "two/retrieval.json")]
    command = [sys.executable, "-m", "stele", "--gpus", "2", "retrieval", "retrieve", *line]
    environment = {**os.environ, "STELE_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": "0,1"}  # a rehearsal on CPUs
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert retrieval.files(tmp_path / "two") == retrieval.files(tmp_path / "alone")
    assert json.loads((tmp_path / "two/retrieval.json").read_text())["processes"] == 2
    assert done.stderr.count("search sw: 5 queries, 100 passages") == 1, "said once"
