"""A job from a command line: digits as in files, flags as the shell gives them, outputs that can be written."""

import importlib
import inspect
import os
from typing import Annotated, Literal

import pytest
from cyclopts import Parameter
from pydantic import TypeAdapter

from stele.cluster.cost import Cost
from stele.command import arguments, cli
from stele.command.arguments import Datasets, Job, Positional, Record, Seed, Some
from stele.command.parse import job_type, parse
from stele.errors import SteleError, UsageError
from stele.files.atomic import atomic_file


class Try(Job):
    benchmark: Positional[str]
    languages: Some[str] | None = None
    """Codes, as `de`."""
    system: Some[tuple[str, ...]] = ()
    data: Datasets = ()
    encoder: Record | None = None
    mirrors: tuple[str, ...] | None = None
    recipe: str = "{}"
    limit: int | None = None
    level: float = 0.5
    seed: Seed = 0
    strict: bool = False
    format: Literal["text", "csv"] = "text"
    snakemake: Annotated[tuple[str, ...], Parameter(allow_leading_hyphen=True)] = ()


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (["--languages", "de", "en", "--limit", "-3"], {"languages": ("de", "en"), "limit": -3}),
        (["--limit=4", "--level", "-.5e-1", "--strict"], {"limit": 4, "level": -0.05, "strict": True}),
        (["--recipe", '{"a": [1]}', "--mirrors", "--seed", "7"], {"mirrors": (), "recipe": '{"a": [1]}', "seed": 7}),
        (["--recipe", "", "--limit", "1", "--limit", "2"], {"recipe": "", "limit": 2}),
        (["--mirrors", "none", "/x y"], {"mirrors": ("none", "/x y")}),
        (["--data", "a:b=c", "d=e"], {"data": ("a:b=c", "d=e")}),
        (["--system", "a", "1", "2", "--system", "b", "3"], {"system": (("a", "1", "2"), ("b", "3"))}),
        (["--snakemake", "-n", "--config", "a=b", "--strict"], {"snakemake": ("-n", "--config", "a=b", "--strict")}),
    ],
)
def test_a_line_is_read_as_the_shell_gives_it(line, values):
    assert parse(Try, ["mrtydi", *line]) == Try(benchmark="mrtydi", **values)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ([], "missing: BENCHMARK"),
        (["x", "--limmit", "3"], "--limmit. Did you mean --limit?"),
        (
            ["x", "--limit", "1.5"],
            "--limit: Input should be a valid integer, unable to parse string as an integer (found '1.5')",
        ),
        (["x", "--seed", "a", "--level", "nan"], "--level: Input should be a finite number (found 'nan')\n--seed: "),
        (["x", "--seed", str(2**32)], "--seed: Input should be less than or equal to 4294967295"),
        (["x", "--seed", "-1"], "--seed: Input should be greater than or equal to 0"),
        (["x", "--languages"], "--languages requires at least 1"),
        (["x", "--encoder"], "--encoder requires an argument"),
        (["x", "--format", "cvs"], "--format: Input should be 'text' or 'csv' (found 'cvs'); did you mean 'csv'?"),
        (["x", "y", "z"], "unexpected: y z; --help lists the flags"),
    ],
)
def test_what_is_no_job_is_named_with_its_flag(line, message):
    with pytest.raises(UsageError) as refused:
        parse(Try, line)
    assert message in str(refused.value)


def test_a_missing_flag_does_not_hide_unknown_ones():
    class Needs(Try):
        spec: str

    with pytest.raises(UsageError, match=r"^missing: --spec\nunexpected: --spek; --help lists the flags$"):
        parse(Needs, ["x", "--seed", "1", "--spek", "y"])


def test_help_has_the_text_below_a_field_and_only_help_reads_sources(monkeypatch, capsys):
    """Pydantic's reader of such texts asks for the module of each frame, a sixth of a second at each start of a job."""
    monkeypatch.setattr(inspect, "getmodule", None)

    class Longer(Try):
        more: int = 0
        """Of this class alone."""

    assert parse(Longer, ["x", "--more", "1"]).more == 1
    monkeypatch.undo()
    example = f"    stele try mrtydi --languages {' '.join(['de', 'en'] * 20)} # wider than a terminal"
    assert parse(Longer, ["--help"], text=f"Tries.\n\n{example}\n") is None
    shown = capsys.readouterr().out
    assert f"\n{example}\n" in shown
    assert "Codes, as `de`." in shown and "Of this class alone." in shown and "Seed of all random choices." in shown


def test_words_of_snakemake_come_after_two_dashes():
    words = ["--config", "scale=tiny", "--", "results/tables/msm/table_16.md"]
    assert parse(Cost, ["--all", "--", *words]) == Cost(all=True, snakemake=tuple(words))


FIELDS = {
    f"{stage} {name}": job_type(importlib.import_module(f"stele.{stage}.{name}").run).model_fields
    for stage in cli.GROUPS
    for name in cli.commands(stage)
}


def test_positional_fields_stand_before_the_others():
    """Cyclopts takes no word for a field behind a flag's."""
    for command, fields in FIELDS.items():
        named = [field.kw_only for field in fields.values()]
        assert named == sorted(named), command


def test_a_count_below_1_and_a_seed_below_0_are_refused_by_every_command():
    for fields in FIELDS.values():
        for name, least in {"depth": 1, "limit": 1, "most": 1, "seed": 0}.items():
            if field := fields.get(name):
                with pytest.raises(ValueError, match=f"greater than or equal to {least}"):
                    TypeAdapter(Annotated[field.annotation, *field.metadata, name]).validate_python(least - 1)


@pytest.mark.parametrize(
    ("flag", "name"), [("--queries", "x.txt"), ("--csv", "x.tsv"), ("--output", "x"), ("--csv", "d.csv")]
)
def test_an_output_of_another_ending_or_a_folder_is_refused_before_the_work(tmp_path, capsys, flag, name):
    (tmp_path / "d.csv").mkdir()
    assert cli.main(["scoring", "score", "mrtydi", "--run", "none", flag, str(tmp_path / name)]) == 1
    assert f"{tmp_path / name}: " in (message := capsys.readouterr().err) and "want a file that ends in" in message


def test_a_folder_is_never_written_over_and_a_path_below_a_file_is_one_error(tmp_path, capsys):
    with pytest.raises(SteleError, match="a folder, want the name of a file"), atomic_file(tmp_path):
        pass
    (tmp_path / "file").write_text("x")
    assert cli.main(["tables", "schema", "--to", str(tmp_path / "file")]) == 1
    assert str(tmp_path / "file") in (message := capsys.readouterr().err) and message.startswith("stele: error: ")


def test_an_argument_that_is_no_text_is_named(capsys):
    assert cli.main(["scoring", "score", os.fsdecode(b"\xff")]) == cli.WRONG_USAGE
    assert "is not UTF-8" in capsys.readouterr().err


ENCODING = "--benchmark mine --data x=y --encoder r --state s --output record.json"


@pytest.mark.parametrize(
    "command",
    [
        "tables all_tables --name ../x",
        f"retrieval retrieve --languages en ../x {ENCODING}",
        f"retrieval encode_collection --collection /x {ENCODING}",
    ],
)
def test_a_name_that_becomes_a_part_of_a_path_stays_in_its_folder(command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(command.split()) == 1
    assert "x' could lead outside its folder" in capsys.readouterr().err


def test_the_text_below_a_field_takes_the_place_of_its_type_s():
    class Train(Job):
        data: Datasets
        training: Datasets
        """Data of the training set."""

    Train.describe()
    described = {name: field.description for name, field in Train.model_fields.items()}
    assert described["training"] == "Data of the training set." and "DATASET" in described["data"]


@pytest.mark.parametrize("argument", ["msm=a.json", "msm:en", "msm:en=", "a:b:c=d", "msm:en=a msm:en=b"])
def test_malformed_named_paths_are_refused(argument):
    with pytest.raises(SteleError, match=r"want STORE:PART=RECORD|msm:en is given twice"):
        arguments.named_paths(argument.split(), "--pairs", "STORE:PART=RECORD")
