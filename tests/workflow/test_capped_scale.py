"""A scale that caps its corpora, through the real rules on a generated mirror: what is fetched, read and said."""

import json

import pytest

from stele.artifacts.records import BEGINNING
from tests.workflow.conftest import copy_project, planned, snakemake

CAPPED = """
title: the beginning of two corpora
generated: true
seed: 7
threads: 1
languages: [en, sw]
world: {entities: 150, web_documents: 60}
shards: {wikipedia: 2}
corpora:
  cc100: {documents: 20}
  wikipedia: {pages: 100}
"""
WEB = "work/capped/documents/cc100/sw/record.json"
WIKI = [f"work/capped/documents/wikipedia/en/{shard}/record.json" for shard in (1, 2)]


@pytest.mark.slow
def test_a_capped_scale_reads_no_more_and_another_cap_reruns_what_reads_it(root, tmp_path):
    project = copy_project(root, tmp_path / "stele")
    (project / "capped.yaml").write_text(CAPPED)
    message = ("--config", "scale=capped.yaml")
    run = snakemake(project, WEB, *WIKI, *message)
    assert run.returncode == 0, run.stdout[-4000:]
    web = json.loads((project / WEB).read_text())
    assert web["documents"] == 20 and BEGINNING in web["labels"]
    wiki = [json.loads((project / path).read_text()) for path in WIKI]
    seen = sum(one["documents"] + one["redirects"] + sum(one["dropped"].values()) for one in wiki)
    assert seen == 100 and all(BEGINNING in one["labels"] for one in wiki)  # one block, and so of one shard
    (project / "capped.yaml").write_text(CAPPED.replace("documents: 20", "documents: 30"))
    assert planned(project, WEB, *WIKI, *message) == {"dataset": 1, "cc100": 1}
