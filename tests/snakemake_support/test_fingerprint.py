"""Which code a command can reach, and which changes of it count."""

import os
import shutil

import pytest

from stele.snakemake_support import fingerprint


def test_comments_docstrings_and_formatting_do_not_count():
    plain = "class J:\n    seed: int\ndef f(a):\n    return a + 1\n"
    dressed = '"""Module."""\n# why\nclass J:\n    """Doc."""\n    seed: int\n    """Help."""\n'
    dressed += 'def f( a ):\n    """Doc."""\n\n    return (a + 1)  # here\n'
    assert fingerprint.source_digest(plain) == fingerprint.source_digest(dressed)
    assert fingerprint.source_digest(plain) != fingerprint.source_digest(plain.replace("1", "2"))


def test_another_version_of_python_reruns_nothing():
    source = "class J:\n    seed: int = 1\ndef f(a, *b):\n    return g(a)\n"
    assert fingerprint.source_digest(source).startswith("2ccb1cd2dd91b474"), "as Python 3.11 has it"


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package: command -> shared -> deep (inside a function), and two objectives chosen by name."""
    root = tmp_path / "pack"
    files = {
        "stage/command.py": "from pack.shared import tool\n",
        "shared/tool.py": "def f():\n    from ..deep import g\n    return g\n",
        "deep.py": "def g():\n    return 1\n",
        "objectives/one.py": "import pack.deep\n",
        "objectives/two.py": "x = 1\n",
        "lonely.py": "x = 1\n",
        "data/a.yaml": "a: 1\n",
    }
    write(root, {f"{folder}/__init__.py": "" for folder in (".", "stage", "shared", "objectives")} | files)
    monkeypatch.setattr(fingerprint, "ROOT", root)
    monkeypatch.setattr(fingerprint, "PACKAGE", "pack")
    return root


def fresh(*args, **options):
    names = ("code", "_files", "_read", "_loaded_before", "_data_digest", "_language_facts")
    for function in (getattr(fingerprint, name) for name in names):
        function.cache_clear()
    return fingerprint.code(*args, **options)


def test_the_closure_follows_imports_inside_functions_and_relative_ones(package):
    assert set(fingerprint.closure(["stage.command"])) >= {"stage.command", "shared.tool", "deep"}
    assert "lonely" not in fingerprint.closure(["stage.command"])


def test_a_change_counts_exactly_where_it_is_reached(package):
    one, two = fresh("stage.command", "objectives.one"), fresh("stage.command", "objectives.two")
    (package / "objectives/two.py").write_text("x = 2\n")
    assert fresh("stage.command", "objectives.one") == one
    assert fresh("stage.command", "objectives.two") != two
    (package / "deep.py").write_text("def g():\n    return 2\n")
    assert fresh("stage.command", "objectives.one") != one


def test_what_the_package_offers_its_users_is_reached_by_no_command(package):
    (package / "__init__.py").write_text("def load():\n    from pack.lonely import x\n    return x\n")
    (package / "stage/command.py").write_text("from pack import deep\n")
    before = fresh("stage.command")
    assert set(fingerprint.closure(["stage.command"])) == {"stage", "stage.command", "deep"}
    (package / "lonely.py").write_text("x = 2\n")
    assert fresh("stage.command") == before


def test_the_package_beside_it_is_named_in_full_and_followed_into_the_product(package):
    world = package.parent / "stele_world"
    files = {"__init__.py": "", "writers/__init__.py": "", "writers/a.py": "from stele_world.data import x\n"}
    write(world, {**files, "data.py": "from pack.shared import tool\n", "a.yaml": "a: 1\n"})
    modules = fingerprint.package_modules("stele_world.writers")
    reached = {"stele_world", "stele_world.writers", "stele_world.writers.a", "stele_world.data"}
    assert set(fingerprint.closure(modules)) == {*reached, "shared", "shared.tool", "deep"}
    data = fingerprint.package_data("stele_world")
    assert data == ("stele_world/a.yaml",)
    before = fresh(*modules, data=data)
    (package / "deep.py").write_text("def g():\n    return 2\n")
    changed = fresh(*modules, data=data)
    (world / "a.yaml").write_text("a: 2\n")
    assert len({before, changed, fresh(*modules, data=data)}) == 3


def test_facts_about_languages_count_by_value_where_a_module_names_their_keys(package):
    languages = package / "catalogue/languages.yaml"
    languages.parent.mkdir()
    (package / "lonely.py").write_text('LANGUAGE_FACTS = ("spaces", "code")\n')

    def codes(facts):
        languages.write_text(facts)
        return fresh("lonely"), fresh("stage.command")

    before = codes("ja: {spaces: false, name: Japanese}")
    assert codes("# a comment\nja: {name: Nihongo, spaces: false}\nsw: {name: Swahili}") == before
    lonely, command = codes("ja: {name: Japanese}")
    assert lonely != before[0] and command == before[1]
    assert codes("ja: {spaces: false}\nsw: {code: swa}")[0] != before[0]


def test_a_reader_that_reads_facts_about_languages_names_their_keys():
    for module in fingerprint.package_modules("benchmarks"):
        reads = "entries(Language)" in fingerprint._files(fingerprint.ROOT)[module].read_text()
        in_names_of_files = module == "benchmarks._files"  # which the records of datasets have
        assert bool(fingerprint._language_facts(module)) == (reads and not in_names_of_files), module


def test_data_counts_by_value(package):
    before = fresh("lonely", data=("data",))
    (package / "data/a.yaml").write_text("# a comment\na:   1\n")
    assert fresh("lonely", data=("data",)) == before
    (package / "data/a.yaml").write_text("a: 2\n")
    assert fresh("lonely", data=("data",)) != before


def test_what_was_found_is_kept_for_the_same_bytes_and_where_nothing_can_be_kept_it_is_found_anew(package, monkeypatch):
    before = fresh("stage.command")
    kept = package / "stage/__pycache__/command.fingerprint.json"
    assert kept.exists()
    with monkeypatch.context() as patch:
        patch.setattr(fingerprint.ast, "parse", None)  # read, not found again
        assert fresh("stage.command") == before
    kept.write_text('["damaged')
    assert fresh("stage.command") == before
    source = package / "stage/command.py"
    times = source.stat()
    source.write_text(source.read_text().replace("tool", "took"))
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert fresh("stage.command") != before, "as many bytes of the same time are other code all the same"
    changed = fresh("stage.command")
    shutil.rmtree(kept.parent)
    kept.parent.touch()  # no folder can be there
    assert fresh("stage.command") == changed


def test_a_new_stage_or_group_of_commands_reruns_no_job():
    jobs = ["sources.dataset", "pretraining.pretrain", "retrieval.retrieve", "tables.table", "stele_world.mirror"]
    assert "command.groups" not in fingerprint.closure(jobs)
