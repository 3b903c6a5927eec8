"""The mirror as a whole: repeatable, complete, swapped in at once, in agreement with the catalogue."""

import hashlib
import json

import pytest

from stele import catalogue
from stele.catalogue.datasets import dataset, languages_of, resolve_entry
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError
from stele.files.atomic import MARK, atomic_directory
from stele_world import mirror
from stele_world.mirror import _remove_empty
from tests.jobs import job

MSM = ("mrtydi", "xor_retrieve", "mewsli_x", "lareqa", "nq", "tatoeba")


def digests(folder):
    files = (p for p in folder.rglob("*") if p.is_file() and p.name != "manifest.json")
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_the_manifest_lists_every_file_with_its_digest_and_size(generated):
    files = generated.manifest["files"]
    for url, entry in files.items():
        data = generated.path(url).read_bytes()
        assert hashlib.sha256(data).hexdigest() == entry["sha256"], url
        assert len(data) == entry["bytes"]
        assert hashlib.sha256(generated.open(url)).hexdigest() == entry["raw_sha256"] or url.endswith(".zip")
    on_disk = {p for p in generated.folder.rglob("*") if p.is_file() and p.name not in ("manifest.json", MARK)}
    assert on_disk == {generated.path(url) for url in files}
    assert generated.manifest["labels"] == ["generated data"]


def test_the_same_seed_writes_the_same_bytes_and_another_seed_others(tmp_path, write_mirror):
    small = {"entities": 30, "web_documents": 2, "newswire": 60, "parallel": {"tatoeba": 3, "training": 3}}
    one, two, other = (
        write_mirror(tmp_path / n, seed, ["en", "fr", "sw"], small) for n, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert digests(tmp_path / "a") == digests(tmp_path / "b") != digests(tmp_path / "c")
    assert one["content"] == two["content"] != other["content"]


def test_no_time_of_writing_is_in_a_gzip_file(generated):
    for url in (u for u in generated.manifest["files"] if u.endswith(".gz")):
        head = generated.path(url).read_bytes()[:10]
        assert head[3] == 0 and head[4:8] == bytes(4), url  # no file name, no time stamp


def test_every_address_of_the_catalogue_that_msm_reads_is_in_the_mirror(generated):
    benchmarks = [catalogue.load("benchmarks")[name] for name in MSM]
    wanted = {read for entry in benchmarks for read in [*entry["data"], *entry["judgments"]]}
    wanted = {name for name in wanted if catalogue.load("datasets")[name]["wall"] == "none"}
    wanted |= {
        "tatoeba_exports", "cc100", "wikipedia", "wikidata_items", "msmarco_passage", "msmarco_passage_corpus",
        "nq_dpr", "squad", "squad2", "mlqa", "mrtydi_combined", "fasttext_aligned", "miracl", "miracl_corpus",
        "miracl_train", "miracl_hard_negatives", "belebele", "ciral", "ciral_corpus",
    }  # fmt: skip
    table, have, missing = catalogue.entries(Language), set(generated.world.languages), []
    for name in sorted(wanted):
        entry = dataset(name)
        languages = [code for code in languages_of(entry, table) if code in have]
        parts = languages if entry.parts == "languages" else ["all"]
        for part in parts:
            resolved = resolve_entry(name, entry, part, languages, table)
            missing += [file.url for file in resolved.files if file.url not in generated.manifest["files"]]
    assert wanted and missing == []


def test_counts_have_the_names_and_keys_that_the_catalogue_expects(generated):
    for name, counts in generated.manifest["counts"].items():
        for what, facts in catalogue.load("datasets").get(name, {}).get("counts", {}).items():
            found, expected = counts[what], facts.get("expect", 0)  # none is expected of what changes every week
            assert isinstance(found, dict) == isinstance(expected, dict), (name, what)
            assert not isinstance(found, dict) or set(found) <= set(expected), (name, what)


def test_licensed_files_are_in_the_user_data_folder_only(generated):
    listed = generated.manifest["licensed"]
    assert set(listed) == {"mewsli_x_news", "xor_dpr_train", "trec2002_ar", "clef", "smart_shuffling"}
    for owner, files in listed.items():
        for name, entry in files.items():
            assert hashlib.sha256((generated.user_data / owner / name).read_bytes()).hexdigest() == entry["sha256"]
    assert not list(generated.folder.rglob("dpr_train_data.json"))


SMALL = {"entities": 30, "web_documents": 2}


def test_a_run_that_fails_leaves_the_old_mirror_as_it_was(tmp_path, write_mirror, monkeypatch):
    write_mirror(tmp_path, 0, ["en"], SMALL)
    before = digests(tmp_path)
    monkeypatch.setattr("stele_world.content.generate.World.translations", lambda world: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_mirror(tmp_path, 1, ["en"], SMALL)
    assert digests(tmp_path) == before
    assert (tmp_path / "mirror/manifest.json").is_file()


@pytest.mark.parametrize("when", ["_remove_empty", "os.replace"])
def test_a_run_killed_while_files_are_swapped_leaves_no_manifest_and_the_next_run_mends_it(
    tmp_path, write_mirror, monkeypatch, when
):
    write_mirror(tmp_path, 0, ["en"], SMALL)
    before, calls = digests(tmp_path), []

    def killed(*args, **options):
        calls.append(args)
        if len(calls) > 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(f"stele_world.mirror.{when}", killed)
        write_mirror(tmp_path, 1, ["en"], SMALL)
    assert len(calls) == 2 and not (tmp_path / "mirror/manifest.json").exists()
    (tmp_path / "mirror" / f"{mirror.PART}left").mkdir()  # as kill -9 leaves it
    write_mirror(tmp_path, 0, ["en"], SMALL)
    assert digests(tmp_path) == before
    assert not list((tmp_path / "mirror").glob(f"{mirror.PART}*"))


def test_published_checkpoints_stay_when_the_mirror_is_written_again(tmp_path, write_mirror):
    write_mirror(tmp_path, 0, ["en", "sw"], SMALL)
    hub = tmp_path / "mirror/huggingface.co/FacebookAI/xlm-roberta-base"
    with atomic_directory(hub, "world standin") as made:
        (made / "resolve/main").mkdir(parents=True)
        (made / "resolve/main/config.json").write_text("{}")
        (made / "manifest.json").write_text(json.dumps({"files": {}}))
    write_mirror(tmp_path, 1, ["en"], SMALL)
    assert {p.name for p in hub.rglob("*") if p.is_file()} == {"config.json", "manifest.json", MARK}
    assert not list(tmp_path.rglob("*swahili*"))


@pytest.mark.parametrize(
    "name",
    [
        "mirror/notes.txt",
        "mirror/huggingface.co/own/model/config.json",
        "user_data/{licensed}/own.txt",
        "user_data/own.txt",
    ],
)
def test_files_that_the_mirror_did_not_write_stay(name, tmp_path, write_mirror):
    write_mirror(tmp_path, 0, ["en"], SMALL)
    (tmp_path / "mirror/manifest.json").unlink()  # as Snakemake does before a job
    licensed = next(path.name for path in (tmp_path / "user_data").iterdir() if path.is_dir())
    own = tmp_path / name.format(licensed=licensed)
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("mine")
    before = digests(tmp_path)
    if name == "user_data/own.txt":  # only the folders of datasets are replaced
        write_mirror(tmp_path, 0, ["en"], SMALL)
        assert own.read_text() == "mine"
        return
    with pytest.raises(SteleError, match=own.name):
        write_mirror(tmp_path, 0, ["en"], SMALL)
    assert digests(tmp_path) == before
    own.unlink()
    _remove_empty(own.parent, tmp_path)
    write_mirror(tmp_path, 0, ["en"], SMALL)


def test_a_misspelt_key_of_the_world_s_files_is_named_before_anything_is_written(tmp_path, write_mirror, monkeypatch):
    monkeypatch.setattr("stele_world.schema.read", lambda name: {"en": {"talkk": "Talk"}})
    with pytest.raises(SteleError, match=r"^stele_world/.*\.yaml: .*en"):
        write_mirror(tmp_path, 0, ["en"], SMALL)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--output": "m/record.json"}, "want the file name manifest.json"),
        ({"--world": "{"}, "--world: not a readable argument: not JSON"),
        ({"--world": "[]"}, "want an object, found list"),
        ({"--world": '{"entitys": 3}'}, "entitys"),
        ({"--languages": "xx"}, "xx"),
    ],
)
def test_wrong_flags_get_one_clear_error_and_leave_nothing(tmp_path, changes, message):
    flags = {"--world": "{}", "--languages": "en", "--seed": "0", "--output": "m/manifest.json", "--user-data": "u"}
    flags |= changes
    for key in ("--output", "--user-data"):
        flags[key] = str(tmp_path / flags[key])
    with pytest.raises(SteleError, match=message):
        mirror.run(job(mirror, [word for pair in flags.items() for word in pair]))
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_second_file_at_a_mirror_s_address_is_refused(tmp_path):
    from stele_world.site import Site

    site = Site(tmp_path / "m", tmp_path / "u")
    site.put("https://host/a.txt.gz", b"text")
    with pytest.raises(SteleError, match=r"a\.txt\.gz: this address is written twice"):
        site.put("https://host/a.txt.gz", b"other")
