"""Whatever is damaged between two jobs is named by the next one, with the command that makes it again."""

import gzip
import json
import os
import re
from pathlib import Path

import pytest

from tests.sealed import write_sealed
from tests.workflow.conftest import TABLE, clone, outputs, planned, shell, snakemake

ROW = "results/xor_retrieve/msm/zero_shot_nq"


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def remove_half_of_the_lines(path: Path) -> None:
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[::2])))


def edit_a_value(path: Path) -> None:
    result = json.loads(path.read_text())
    metric = next(iter(result["metrics"].values()))
    metric["average"] = 0.99
    metric["languages"] = dict.fromkeys(metric["languages"], 0.99)
    write_sealed(path, result)


MIRROR, DATASETS = "resources/tiny/mirror", "resources/tiny/datasets"
CHECKPOINT, STORE = "resources/tiny/checkpoints/xlmr", "work/tiny/pairs/msm/xlmr/en"
DOCUMENTS, TOWERS = "work/tiny/documents/cc100/en", "work/tiny/finetuned/msm/nq/pt0-ft0"
# what is damaged -> (the folder of its maker's record, the file below it, how, the command that reads it)
IN_FOLDERS = {
    "unpacked dataset": (f"{DATASETS}/nltk_punkt/all", "english/*", truncate, "scoring score"),
    "dataset": (f"{DATASETS}/cc100/ru", "ru.txt.xz", flip_a_bit, "corpora cc100 --language ru"),
    "converted checkpoint": (CHECKPOINT, "model.safetensors", flip_a_bit, "pretraining pretrain"),
    "documents": (DOCUMENTS, "*.parquet", truncate, "pairs mine .*--language en"),
    "tokens": (STORE, "tokens.npy", flip_a_bit, "pretraining pretrain"),
    "pretrained encoder": ("work/tiny/encoders/msm/pt0", "model.safetensors", os.unlink, "finetuning finetune"),
    "query tower": (TOWERS, "query/model.safetensors", flip_a_bit, "retrieval retrieve"),
}
GENERATED, RUN = f"{MIRROR}/data.statmt.org/cc-100/ru.txt.xz", f"{ROW}/pt0-ft0/runs/ru.trec.gz"
# what is damaged -> (the file, how, the command that reads it, the record that its maker writes)
DAMAGES = {
    **{
        what: (f"{folder}/{file}", how, reader, f"{folder}/record.json")
        for what, (folder, file, how, reader) in IN_FOLDERS.items()
    },
    "generated text": (GENERATED, truncate, "world standin", f"{MIRROR}/manifest.json"),
    "run": (RUN, remove_half_of_the_lines, "scoring score", f"{ROW}/pt0-ft0/retrieval.json"),
    "values per query": (f"{ROW}/pt0-ft0/queries.parquet", flip_a_bit, "scoring average", f"{ROW}/pt0-ft0.json"),
    "result of a seed": (f"{ROW}/pt0-ft0.json", edit_a_value, "scoring average", f"{ROW}/pt0-ft0.json"),
    "average": (f"{ROW}.json", edit_a_value, "tables table", f"{ROW}.json"),
}


def damage(project: Path, what: str) -> Path:
    """Damages a file and leaves its times as they were; returns its path below the project."""
    pattern, how, *_ = DAMAGES[what]
    path = next(path for path in sorted(project.glob(pattern)) if path.is_file())
    times = path.stat()
    how(path)
    if path.exists():
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    return path.relative_to(project)


def named(output: str) -> tuple[str, list[str]]:
    """The one command that an error names, and what it makes."""
    (command,) = set(re.findall(r"`(snakemake --force [^`]+)`", output))
    return command, command.split()[2:]


@pytest.fixture(scope="module")
def commands(chain, tmp_path_factory) -> list[str]:
    """The commands of all jobs of the chain."""
    project = clone(chain, tmp_path_factory.mktemp("commands") / "stele")
    lines = snakemake(project, "-n", "-p", "-F", TABLE).stdout.splitlines()
    return [line[line.index("python -m") :].partition(" > ")[0] for line in lines if "python -m stele" in line]


@pytest.mark.parametrize("what", DAMAGES)
def test_the_next_job_names_what_is_damaged_and_how_to_make_it_again(built, commands, what):
    *_, reader, record = DAMAGES[what]
    path = damage(built, what)
    done = shell(built, next(command for command in commands if re.search(reader, command)))
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert str(path) in done.stderr and named(done.stderr)[1] == [record], done.stderr


@pytest.mark.slow
def test_all_damage_is_found_at_once_and_the_named_command_heals_it(built, chain):
    damaged = [damage(built, what) for what in DAMAGES]
    run = snakemake(built, "verify")
    assert run.returncode != 0
    for path in damaged:
        assert str(path) in run.stdout
    command, made = named(run.stdout)
    assert sorted(made) == sorted({record for *_, record in DAMAGES.values()})
    healed = shell(built, command)
    assert healed.returncode == 0, healed.stdout[-3000:] + healed.stderr[-3000:]
    run = snakemake(built, TABLE)
    assert run.returncode == 0, run.stdout[-3000:]
    assert outputs(built) == outputs(chain)
    assert snakemake(built, "verify").returncode == 0


def test_an_edited_average_is_shown_as_unreadable_and_the_exit_code_says_so(built, chain):
    edit_a_value(built / f"{ROW}.json")
    run = snakemake(built, TABLE)
    assert run.returncode != 0 and f"{ROW}.json: its values are not those that were scored" in run.stdout
    assert "unreadable" in (built / TABLE).read_text() and "99.0" not in (built / TABLE).read_text()
    assert shell(built, named(run.stdout)[0]).returncode == 0
    assert snakemake(built, TABLE).returncode == 0
    assert (built / TABLE).read_bytes() == (chain / TABLE).read_bytes()


def test_to_check_everything_is_no_reason_to_build_anything(built):
    assert planned(built, TABLE, "--config", "verify_inputs=true") == {}
