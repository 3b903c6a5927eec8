"""datasets.yaml: each entry is complete, and a choice asks for its own files and no others."""

import re
from fnmatch import fnmatch
from urllib.parse import urlsplit

import pytest

from stele import catalogue
from stele.catalogue import datasets
from stele.catalogue.schema.datasets import Dataset
from stele.catalogue.schema.languages import Language
from stele.catalogue.user_data import part_files
from stele.errors import SteleError
from stele.sources.download.counts import KINDS

NAMES = sorted(catalogue.load("datasets"))
LENGTHS = {"sha256": 64, "sha1": 40, "md5": 32}


@pytest.mark.parametrize("name", NAMES)
def test_every_part_of_every_dataset_resolves(name):
    entry = datasets.dataset(name)
    assert entry.wall in datasets.WALLS and entry.title and entry.version and entry.licence
    assert (entry.wall == "none") == (entry.how is None)
    for part in datasets.parts(entry):
        source = datasets.resolve(name, part)
        paths = [file.path for file in source.files]
        assert len(paths) == len(set(paths))
        if entry.wall == "none":
            assert paths and all(urlsplit(file.url).scheme == "https" for file in source.files)
        for file in source.files:
            filled = [file.path, *file.addresses, *file.like, *file.variants]
            assert not any(set("{}") & set(text) for text in filled)
            for algorithm, length in LENGTHS.items():
                if algorithm in file.expected:
                    assert re.fullmatch(f"[0-9a-f]{{{length}}}", file.expected[algorithm])
            assert not file.path.startswith("/") and ".." not in file.path
        for items in source.counts.values():
            assert all(KINDS.get(item.count) and item.files for item in items)


def test_the_catalogue_has_the_datasets_that_benchmarks_name():
    for benchmark in catalogue.load("benchmarks").values():
        assert set(NAMES) >= set(benchmark["data"]) | set(benchmark["judgments"])


@pytest.mark.parametrize("benchmark", ["mrtydi", "xor_retrieve", "mewsli_x", "lareqa", "tatoeba"])
def test_benchmarks_ask_for_languages_that_their_datasets_have(benchmark):
    entry = catalogue.load("benchmarks")[benchmark]
    for name in entry["data"]:
        have = datasets.languages_of(datasets.dataset(name))
        assert not have or set(entry["languages"]) <= set(have)


def test_pinned_counts_are_those_that_the_datasets_publish():
    """Others are held against the real files: test_user_data.py."""
    test = {part: datasets.resolve("mrtydi", part).counts["test"][0].expect for part in ("ar", "bn", "th")}
    assert test == {"ar": 1081, "bn": 111, "th": 1190}
    mewsli = datasets.resolve("mewsli_x", "all").counts
    assert sum(mewsli["test"][0].expect.values()) == 14_624 and mewsli["candidates"][0].expect == 1_003_893


def addresses(*part):
    return [file.url for file in datasets.resolve(*part).files]


def test_a_choice_of_languages_fetches_these_and_nothing_else():
    assert datasets.parts(datasets.dataset("mrtydi"), ["sw", "th", "de"]) == ["sw", "th"]
    assert datasets.parts(datasets.dataset("squad"), ["sw"]) == ["all"]
    urls = addresses("mrtydi_corpus", "sw")
    hub = "https://huggingface.co/datasets/castorini/mr-tydi-corpus/resolve/main"
    assert urls == [f"{hub}/mrtydi-v1.1-swahili/corpus.jsonl.gz"]
    urls = addresses("tatoeba", "all", ["sw", "th"])
    names = ["tatoeba.swh-eng.swh", "tatoeba.tha-eng.tha", "tatoeba.swh-eng.eng", "tatoeba.tha-eng.eng"]
    assert [url.rpartition("/")[2] for url in urls] == names
    dump = datasets.resolve("wikipedia", "sw").files[0]
    assert dump.checksums.url == "https://dumps.wikimedia.org/swwiki/20220801/swwiki-20220801-sha1sums.txt"
    assert dump.url.endswith("/swwiki/20220801/swwiki-20220801-pages-articles-multistream.xml.bz2")
    assert [url.rpartition("/")[2] for url in addresses("mrtydi_train", "sw")] == ["train.jsonl.gz"]
    assert not any("train" in url for url in addresses("mrtydi", "sw")), "only fine-tuning asks for these"


def test_a_pool_that_is_one_stays_whole_on_real_data_only():
    assert len(datasets.resolve("lareqa", "all", ["en", "th"]).files) == 11
    generated = datasets.resolve("lareqa", "all", ["en", "th", "xx"], generated=True)
    assert generated.languages == ["en", "th"] and len(generated.files) == 2


def test_what_datasets_say_of_one_another():
    entries = catalogue.entries(Dataset)
    assert {entry.release for entry in entries.values() if entry.release} <= set(entries)
    assert datasets.resolve("mrtydi_train", "sw").release == "mrtydi"
    assert datasets.chosen_by_language(entries["tatoeba"])
    assert not datasets.chosen_by_language(entries["lareqa"]), "its languages share one pool"
    assert not datasets.chosen_by_language(entries["xor_tydi"]), "all languages are in one file"


def test_pins_are_of_the_right_language():
    files = {f.path: f for f in datasets.resolve("tatoeba", "all", ["sw"]).files}
    entry = datasets.dataset("tatoeba")
    assert files["tatoeba.swh-eng.swh"].sha256 == entry.files[0].sha256["swh"]
    assert datasets.resolve("mrtydi_train", "ar").files[0].bytes == 110_893_845
    assert datasets.resolve("mrtydi_train", "th").files[0].sha256 is None


def test_a_language_that_is_not_listed_is_an_entry_away(monkeypatch):
    with pytest.raises(SteleError, match=r"part of dataset 'wikipedia' \(want a language with `wikipedia` in .* 'ltg'"):
        datasets.resolve("wikipedia", "ltg")
    known = catalogue.entries(Language)
    more = {"ltg": known["lv"].model_copy(update={"name": "Latgalian", "wikipedia": "ltg"})}
    entries = catalogue.entries
    monkeypatch.setattr(catalogue, "entries", lambda kind: {**known, **more} if kind is Language else entries(kind))
    articles, index, _ = datasets.resolve("wikipedia", "ltg").files
    assert articles.path == "ltgwiki-20220801-pages-articles-multistream.xml.bz2"
    assert fnmatch("ltgwiki-pages-articles.xml", articles.variants[0])
    assert not fnmatch("ltgwiki-pages-articles.xml", index.variants[0])


def test_a_mirror_s_dumps_of_the_other_projects_are_not_wikipedia_s():
    kinds = "pages-articles-multistream.xml", "pages-articles-multistream-index.txt", "siteinfo-namespaces.json"
    others = [f"dewikiquote/20240101/dewikiquote-20240101-{kind}.bz2" for kind in kinds]
    articles = "dewiki/20240101/dewiki-20240101-pages-articles.xml.bz2"
    assert part_files([articles, *others], datasets.resolve("wikipedia", "de")) == [articles]


@pytest.mark.parametrize("path", ["wikitext-103-raw-v1.zip", "wikitext-103-raw/wiki.train.raw"])
def test_wikitext_is_found_in_any_folder_packed_or_not(path):
    assert part_files([path, "wikitext-103-v1.zip"], datasets.resolve("wikitext103", "en")) == [path]


def test_unknown_names_parts_and_fields_are_errors_that_help():
    with pytest.raises(SteleError, match="did you mean 'tatoeba'"):
        datasets.resolve("tateoba", "all")
    with pytest.raises(SteleError, match="unknown part of dataset 'mrtydi' 'xx'"):
        datasets.resolve("mrtydi", "xx")
    with pytest.raises(SteleError, match="only the part 'all'"):
        datasets.resolve("squad", "en")
    entry = datasets.dataset("cc100")
    with pytest.raises(SteleError, match="needs the field 'cc100' of language 'zz'"):
        datasets.resolve_entry("cc100", entry.model_copy(update={"field": "other"}), "zz", ["zz"], {})


def test_availability_names_the_wall_and_the_way(tmp_path):
    source = datasets.resolve("xor_dpr_train", "all")
    reason = datasets.availability("xor_dpr_train", source, None)
    assert "Google Drive folder" in reason and "user_data: {xor_dpr_train: YOUR_FOLDER}" in reason
    assert datasets.availability("xor_dpr_train", source, tmp_path) is None
    assert "not a folder" in datasets.availability("xor_dpr_train", source, tmp_path / "none")
    assert datasets.availability("squad", datasets.resolve("squad", "all"), None) is None
    assert "ELRA-E0008" in datasets.availability("clef", datasets.dataset("clef"), None)


def test_addresses_below_a_mirror():
    assert datasets.mirror_path("https://a.org:8080/b%20c/d?x=1") == "a.org:8080/b c/d"
    hostile = [f"https://a.org/{path}" for path in ("x/../../y", "%2e%2e/y", "y%00", "..%5cy", "a%25b")]
    for bad in ("ftp://a.org/b", "file:///etc/passwd", "https://a.org", "https://../y", *hostile):
        with pytest.raises(SteleError):
            datasets.mirror_path(bad)
