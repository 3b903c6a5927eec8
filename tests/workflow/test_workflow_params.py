"""What enters a job's params: what it reads and nothing else (law 2)."""

import copy
import re
from importlib import import_module
from pathlib import Path

import pytest

from stele import catalogue
from stele.plan.models import OF_CATALOGUE
from stele.recipes.standins import kinds
from stele.registry import module_names
from stele.snakemake_support import fingerprint
from stele_world.standins import module_of
from tests.rule_files import rules


@pytest.fixture
def changed(monkeypatch):
    """changed(file) -> a copy of that file of the catalogue, read instead of it from now on."""
    load = catalogue.load
    copies = {}

    def call(name):
        copies.setdefault(name, copy.deepcopy(load(name)))
        return copies[name]

    monkeypatch.setattr(catalogue, "load", lambda name: copies.get(name) or load(name))
    monkeypatch.setattr(catalogue, "entries", catalogue.entries.__wrapped__)  # typed anew each time
    return call


def entries(jobs):
    plan = jobs(scale="paper")
    return {name: plan.sources.dataset_entry(*name) for name in (("cc100", "sw"), ("cc100", "ru"), ("tatoeba", "all"))}


def test_words_about_a_dataset_are_no_param(jobs, changed):
    before = entries(jobs)
    changed("datasets")["cc100"] |= {"title": "x", "note": "x", "licence": "x", "how": "x"}
    assert entries(jobs) == before


def test_a_language_s_code_enters_the_params_of_its_own_part(jobs, changed):
    before = entries(jobs)
    changed("languages")["sw"]["cc100"] = "swa"
    differs = {name for name, digest in entries(jobs).items() if digest != before[name]}
    assert differs == {("cc100", "sw")}


def test_a_checksum_enters_the_params(jobs, changed):
    before = entries(jobs)
    changed("datasets")["tatoeba"]["version"] = "another"
    assert entries(jobs)["tatoeba", "all"] != before["tatoeba", "all"]


def test_a_new_language_changes_nothing_for_the_generated_ones(jobs, changed):
    before = jobs(scale="miniature").world.language_facts()
    changed("languages")["xx"] = {**changed("languages")["sw"], "name": "New"}
    assert jobs(scale="miniature").world.language_facts() == before
    changed("languages")["sw"]["spaces"] = False
    assert jobs(scale="miniature").world.language_facts() != before


def test_a_generated_language_that_a_dataset_gains_changes_the_generated_internet(jobs, changed, root):
    assert "plan.world.dataset_languages()" in rules(root)["mirror"]

    def digest() -> str:
        return jobs(scale="miniature").world.dataset_languages()

    before = digest()
    for name, known, new in (("fasttext_aligned", ["pl"], "sw"), ("smart_shuffling", ["en-pl"], "en-sw")):
        languages = changed("datasets")[name]["languages"]
        languages += known  # no language of the scale
        assert digest() == before
        languages += [new]
        assert digest() != before
        before = digest()
    changed("datasets")["miracl_corpus"]["files"][0]["shards"]["sw"] += 1
    assert digest() != before


def test_the_generated_internet_takes_the_languages_of_no_other_dataset_from_the_catalogue():
    read = set()
    for name in module_names("stele_world.writers"):
        module = import_module(f"stele_world.writers.{name}")
        source = Path(module.__file__).read_text()
        for word in re.findall(r'\b(?:dataset\(|entries\[)([\w"]+)', source):
            read.add(word.strip('"') if '"' in word else getattr(module, word))
    assert read == {*OF_CATALOGUE}


def test_a_lender_of_words_counts_with_those_it_lends_to(jobs, changed):
    """A generated language may take words from one that is not generated here."""
    before = jobs(scale="miniature").world.language_facts()
    lenders = {
        lender
        for code in jobs(scale="miniature").settings.sizes.languages
        for lender in catalogue.load("languages")[code].get("world", {}).get("cognates", {})
        if lender in catalogue.load("languages")
    } - {*jobs(scale="miniature").settings.sizes.languages}
    for lender in lenders:
        changed("languages")[lender]["world"]["order"] = "other"
        assert jobs(scale="miniature").world.language_facts() != before


def test_whether_a_query_s_own_document_is_a_hit_is_a_param_of_the_commands_that_drop_it(root):
    readers = {
        module
        for module in fingerprint._files(fingerprint.ROOT)
        if "benchmarks.load.stated_left_out" in fingerprint._read(module)[1]
    }
    assert readers == {"retrieval.fuse", "scoring.system_files.systems"}, "the second is a part of `score`"
    assert {rule for rule, body in rules(root).items() if "ignore_identical_ids" in body} == {"fuse", "score"}


def test_a_stand_in_depends_on_the_module_of_its_own_kind(jobs):
    plan = jobs(scale="miniature")
    modules = {key: module_of(plan.world.recipe(key).kind) for key in ("xlmr", "xlmr_large", "mbart")}
    assert modules["xlmr"] == modules["xlmr_large"] == "stele_world.standins.masked"
    assert modules["mbart"] == "stele_world.standins.denoising"
    assert all(module_of(kind) for kind in kinds())


def test_what_commands_read_of_adaptation_yaml_enters_their_params(root):
    read = {"hold_out": ["share", "documents"], "neighbours": ["candidates"], "verdict": ["bar"]}
    commands = [name for name in rules(root) if (root / f"src/stele/adapt/{name}.py").is_file()]
    named = [name for name in commands if "AdaptationRules" in (root / f"src/stele/adapt/{name}.py").read_text()]
    assert {*named} == read.keys()
    for rule, keys in read.items():
        params = rules(root)[rule].partition("params:")[2]
        assert "plan.adaptation.rules" in params and all(key in params for key in keys), rule
