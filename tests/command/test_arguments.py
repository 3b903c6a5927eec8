"""Arguments of commands: digits as in files, outputs whose ending says the format, no traceback for a folder."""

import argparse
import os

import pytest

from stele.command import arguments, cli
from stele.errors import SteleError
from stele.files.atomic import atomic_file


@pytest.mark.parametrize("text", ["١", "1_0", " 1", "1.0", "", "+1", "9" * 19, "0x1"])
def test_a_whole_number_has_the_digits_0_to_9(text):
    with pytest.raises(argparse.ArgumentTypeError):
        arguments.whole(text)
    assert arguments.whole("-10") == -10


@pytest.mark.parametrize("text", ["٠.٥", "1_0.5", "nan", "inf", "1e999", "", "0,5"])
def test_a_number_is_finite_and_has_the_digits_0_to_9(text):
    with pytest.raises(argparse.ArgumentTypeError):
        arguments.number(text)
    assert arguments.number("-.5e-1") == -0.05


def test_a_seed_is_one_that_all_generators_take():
    assert arguments.seed(str(2**32 - 1)) == 2**32 - 1
    with pytest.raises(argparse.ArgumentTypeError, match="the largest is 4294967295"):
        arguments.seed("1" * 12)


def test_a_seed_of_twenty_digits_is_wrong_usage(capsys):
    line = ["scoring", "compare", "--system", "a", "a.csv", "--system", "b", "b.csv", "--seed", "12345678901234567890"]
    with pytest.raises(SystemExit) as ended:
        cli.main(line)
    assert ended.value.code == cli.WRONG_USAGE and "argument --seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "name"), [("--queries", "x.txt"), ("--csv", "x.tsv"), ("--output", "x"), ("--csv", "d.csv")]
)
def test_an_output_of_another_ending_or_a_folder_is_refused_before_the_work(tmp_path, capsys, flag, name):
    (tmp_path / "d.csv").mkdir()
    assert cli.main(["scoring", "score", "mrtydi", "--run", "none", flag, str(tmp_path / name)]) == 1
    assert f"{tmp_path / name}: " in (message := capsys.readouterr().err) and "want a file that ends in" in message


def test_a_folder_is_never_written_over(tmp_path):
    with pytest.raises(SteleError, match="a folder, want the name of a file"), atomic_file(tmp_path):
        pass


def test_a_path_below_a_file_is_one_error(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    below = tmp_path / "file" / "schema.json"
    assert cli.main(["tables", "schema", "--output", str(below)]) == 1
    assert str(tmp_path / "file") in (message := capsys.readouterr().err) and message.startswith("stele: error: ")


def test_an_argument_that_is_no_text_is_named(capsys):
    assert cli.main(["scoring", "score", os.fsdecode(b"\xff")]) == cli.WRONG_USAGE
    assert "is not UTF-8" in capsys.readouterr().err
