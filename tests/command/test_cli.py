"""The command line: what it lists, what it refuses, with which exit code."""

import importlib
import os
import resource
import signal
import subprocess
import sys
from unittest import mock

import faiss
import numpy as np
import pytest
import safetensors.torch
import torch

from stele.command import cli
from tests.conftest import ROOT

NO_VERBS = {"CC-100", "Wikipedia", "Wikidata's", "Text", "What", "How", "A", "An", "The", "One", "All"}


@pytest.mark.parametrize(
    ("argv", "message"), [(["scorin"], "'scoring'"), (["scoring", "scre"], "'score'"), (["tables", "tabel"], "'table'")]
)
def test_wrong_usage_is_2_and_names_the_nearest(argv, message, capsys):
    assert cli.main(argv) == 2
    assert f"did you mean {message}?" in capsys.readouterr().err


def test_an_error_that_the_user_can_mend_is_1(tmp_path, capsys):
    assert cli.main(["tables", "table", "--spec", str(tmp_path / "none.yaml")]) == 1
    assert "none.yaml" in capsys.readouterr().err


def test_a_library_that_interrupts_for_want_of_memory_is_no_ctrl_c(monkeypatch, capsys):
    """OpenBLAS raises SIGINT where it can start no threads."""

    monkeypatch.setattr(cli, "_run", mock.Mock(side_effect=KeyboardInterrupt))
    assert cli.main(["tables", "table"]) == 130 and capsys.readouterr().err == "stele: error: interrupted\n"
    monkeypatch.setattr("threading.Thread.start", mock.Mock(side_effect=RuntimeError("can't start new thread")))
    assert cli.main(["tables", "table"]) == 1
    assert capsys.readouterr().err.startswith("stele: error: memory is full, or a limit of it is reached")


def test_a_library_that_cannot_be_mapped_is_full_memory(monkeypatch, capsys):
    """`ulimit -v` makes it an ImportError, which nobody would take for full memory."""
    error = ImportError("libtorch_cpu.so: failed to map segment from shared object")
    monkeypatch.setattr(cli, "_run", mock.Mock(side_effect=error))
    assert cli.main(["tables", "table"]) == 1
    assert capsys.readouterr().err.startswith("stele: error: memory is full, or a limit of it is reached")


def full_disk(write):
    """The error of `write` where no file may have more than 1,000 bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(Exception) as caught:
            write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    return caught.value


@pytest.mark.parametrize("library", ["safetensors", "numpy", "torch", "faiss"])
def test_a_full_disk_is_told_in_a_sentence_whichever_library_writes(library, tmp_path, monkeypatch, capsys):
    path, numbers = str(tmp_path / "written"), torch.zeros(64, 64)

    def save(*_):
        if library == "torch":
            with open(path, "wb") as handle:
                torch.save(numbers, handle)
        elif library == "numpy":
            np.save(path, numbers.numpy())
        elif library == "faiss":
            faiss.write_index(index, path)
        else:
            safetensors.torch.save_file({"a": numbers}, path)

    index = faiss.IndexFlatIP(64)
    index.add(numbers.numpy())
    error = full_disk(save)
    monkeypatch.setattr(cli, "_run", mock.Mock(side_effect=error))
    assert cli.main(["tables", "table"]) == 1
    assert capsys.readouterr().err.startswith("stele: error: the disk is full, or a quota or a limit of file sizes")


def test_help_lists_every_stage_and_its_commands(capsys, monkeypatch):
    assert cli.main([]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n{stage}\n" in listed for stage in cli.GROUPS)
    assert "  score " in listed and "  pretrain " in listed
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main([]) == 0
    narrow = capsys.readouterr().out
    assert max(map(len, narrow.splitlines())) <= 80 and "".join(narrow.split()) == "".join(listed.split())


def test_another_package_has_its_commands_at_its_top(capsys):
    assert (cli.main(["--help"], "stele_world"), cli.main(["--gpus", "0"], "stele_world")) == (0, 2)
    listed = capsys.readouterr()
    assert listed.out.startswith("usage: stele-world [--nodes N] [--gpus N] [--cpus N] COMMAND [--flags]\n\n  mirror ")
    assert "the command is missing" in listed.err
    assert cli.main(["miror"], "stele_world") == 2
    assert "unknown command of stele-world 'miror'; did you mean 'mirror'?" in capsys.readouterr().err


def test_every_command_is_listed_with_a_line_in_the_imperative():
    for stage, package in [*((stage, "stele") for stage in cli.GROUPS), ("", "stele_world")]:
        for name, line in cli.commands(stage, package).items():
            module = importlib.import_module(".".join(filter(None, (package, stage, name))))
            assert line == module.__doc__.partition("\n")[0] and len(line) <= 120
            verb = line.split()[0]
            assert verb[0].isupper() and not verb.endswith(("s", "ing", "ed")) and verb not in NO_VERBS, line


def test_a_stage_has_commands_at_its_top_and_nothing_else():
    # two groups are also read by others: what encodes, and what plans and measures a cluster
    for stage in set(cli.GROUPS) - {"encoders", "cluster"}:
        modules = {path.stem for path in (ROOT / "src/stele" / stage).glob("*.py")}
        assert modules - {"__init__"} == set(cli.commands(stage)), stage


@pytest.mark.parametrize("arguments", [["--help"], ["claims", "list"]])
def test_output_that_nobody_reads_on_ends_quietly(arguments):
    """`stele ... | head -0`: the reader is gone before a line is written."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "stele", *arguments]
    run = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    os.close(writer)
    assert (run.returncode, run.stderr) == (128 + signal.SIGPIPE, "")


def test_another_pipe_that_breaks_is_an_error_like_any_other(monkeypatch):
    monkeypatch.setattr(cli, "_main", mock.Mock(side_effect=BrokenPipeError(32, "Broken pipe")))
    with open(os.devnull, "w") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        with pytest.raises(BrokenPipeError):
            cli.main(["tables"])
