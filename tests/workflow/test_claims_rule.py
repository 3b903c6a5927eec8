"""`snakemake claims` judges whatever results there are, and the folder's manifest then has the verdicts."""

import json

import yaml

from stele.command import cli
from tests.workflow.conftest import snakemake


def write_claims(path):
    """Claims about the one table of the short chain."""
    table = yaml.safe_load((path.parent / "table_10.yaml").read_text())
    group, other = table["groups"][0]["key"], table["groups"][0]["rows"][0]["key"]
    row = table["groups"][0]["rows"][-1]["key"]
    line, column = table["lines"][0]["key"], table["columns"][-1]["key"]
    at = [f"{group}/{one}/{line}/{column}" for one in (row, other)]
    claim = {"text": "One is better.", "places": ["t10"], "kind": "greater", "printed": {"verdict": "holds"}}
    claims = [
        claim | {"key": key, "left": {"table": 10, "at": left}, "right": {"table": 10, "at": right}}
        for key, left, right in (("one", *at), ("other", *at[::-1]))
    ]
    path.write_text(yaml.safe_dump({"paper": "msm", "bars": {"points": 1.0}, "claims": claims}))


def test_one_seed_decides_nothing_and_the_manifest_has_the_verdicts(built):
    write_claims(built / "paper_tables/msm/claims.yaml")
    run = snakemake(built, "claims")
    assert run.returncode == 0, run.stdout[-3000:]
    claims = json.loads((built / "results/claims/msm.json").read_text())["claims"]
    assert len(claims) == 2 and {claim["state"] for claim in claims} <= {"no data", "undecided"}
    assert cli.main(["tables", "verify", "--results-dir", str(built / "results")]) == 0
