"""A paper's pipeline as its page lists it, beside what Snakemake plans at the papers' sizes."""

import json
import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.conftest import ROOT
from tests.workflow.conftest import environment

PLAN = """
import json, sys
from stele.snakemake_support.patches.planning import planned
jobs = planned(["--config", "scale=paper", f"papers=[{sys.argv[1]}]", "--", "all_tables"], True, "")[1]
print(json.dumps([(job.rule, dict(job.wildcards)) for job in jobs]))
"""


def listed(paper):
    """Rule -> (what it is for: wildcard -> values, number of jobs), in the order of the page."""
    section = (
        (ROOT / f"docs/{paper}.md").read_text().partition("## The pipeline at paper scale")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\| (\d+) \|$", section, re.M)
    return {rule: (dict(map(values, of.split(";"))) if of.strip() else {}, int(jobs)) for rule, of, jobs in rows}


def values(text):
    """("model", {"msm", "xlmr"}) of "model: `msm` `xlmr`"."""
    return text.partition(":")[0].strip(), set(re.findall(r"`([^`]+)`", text))


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["msm", "kept", "ccp"])
def test_the_pipeline_on_a_papers_page_is_the_one_that_snakemake_plans(paper, fresh):
    run = subprocess.run(
        [sys.executable, "-c", PLAN, paper],
        cwd=fresh,
        env=environment(PYTHONPATH=str(fresh / "src")),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    jobs = [(rule, wildcards) for rule, wildcards in json.loads(run.stdout) if rule != "all_tables"]
    page = listed(paper)
    assert {rule: number for rule, (_, number) in page.items()} == Counter(rule for rule, _ in jobs)
    for rule, (of, _) in page.items():
        planned = {key: {wildcards[key] for name, wildcards in jobs if name == rule} for key in of}
        assert planned == of, rule
