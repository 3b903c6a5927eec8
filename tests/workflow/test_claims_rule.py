"""`snakemake claims` judges whatever results there are, and the folder's manifest then has the verdicts."""

import json

from stele.command import cli
from tests.workflow.conftest import snakemake


def test_one_seed_decides_nothing_and_the_manifest_has_the_verdicts(built):
    run = snakemake(built, "claims")
    assert run.returncode == 0, run.stdout[-3000:]
    claims = json.loads((built / "results/claims/msm.json").read_text())["claims"]
    assert {claim["state"] for claim in claims} == {"no data", "undecided"}
    assert cli.main(["tables", "verify", "--results-dir", str(built / "results")]) == 0
