"""Targets of claims: what they are judged by, seed by seed; and verdicts on whatever results there are."""

import json

import yaml

from stele.command import cli
from tests.workflow.conftest import snakemake


def write_claims(path):
    """A claim about the one table of the short chain."""
    table = yaml.safe_load((path.parent / "table_10.yaml").read_text())
    group = table["groups"][0]
    at = "/".join([group["key"], group["rows"][0]["key"], table["lines"][0]["key"], table["columns"][-1]["key"]])
    claim = {"key": "one", "text": "It finds something.", "places": ["t10"], "kind": "greater", "value": 0}
    claim |= {"left": {"table": 10, "at": at}, "printed": {"verdict": "holds"}}
    path.write_text(yaml.safe_dump({"paper": "msm", "bars": {"points": 1.0}, "claims": [claim]}))
    path.with_name("corrections.yaml").write_text("floor: 0.1\n")  # which makes no second paper of it


def test_one_seed_decides_nothing_and_the_manifest_has_the_verdicts(built):
    write_claims(built / "paper_tables/msm/claims.yaml")
    run = snakemake(built, "claims")
    assert run.returncode == 0, run.stdout[-3000:]
    claims = json.loads((built / "results/claims/msm.json").read_text())["claims"]
    assert [(claim["state"], claim["reason"]) for claim in claims] == [("undecided", "1 of at least 3 seeds")]
    assert cli.main(["tables", "verify", "--results-dir", str(built / "results")]) == 0


def test_the_results_of_claims_are_built_by_seed_and_of_main_claims_alone_where_these_are_asked_for(built):
    write_claims(built / "paper_tables/msm/claims.yaml")
    seeds = 'seeds={"pretraining": [3], "finetuning": [0, 1]}'
    run = snakemake(built, "-n", "claim_results", "--config", seeds)
    assert run.returncode == 0, run.stdout[-3000:]
    assert all(f"/msm/zero_shot_nq/pt3-ft{seed}.json" in run.stdout for seed in (0, 1)), run.stdout[-3000:]
    run = snakemake(built, "-n", "main_claim_results", "--config", seeds)
    assert run.returncode == 0 and "pt3" not in run.stdout, "the one claim is no main one"
