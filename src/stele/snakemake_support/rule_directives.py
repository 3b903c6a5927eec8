"""Completes rules by name, so that a rule file only has inputs, outputs and the command.

The name determines the log, logs/{scale}/{rule}/{wildcards}.log, with Snakemake's measurements of the job beside it,
and the environment, threads and resources in rules.yaml. Directives in a rule file take precedence over these, and
`--set-threads` and `--set-resources` of the command line over both.
"""

import re
from pathlib import Path
from typing import Any

from stele.catalogue.schema.costs import rule_facts
from stele.cluster.resources import job_resources, job_threads
from stele.plan.plan import Plan


def complete_rules(rules: list[Any], workflow: Any, plan: Plan, root: Path) -> None:
    """Adds log, benchmark file, environment, threads and resources to all `rules` that run a shell command."""
    for rule in rules:
        if not rule.is_shell:
            continue
        name = job_name(rule.name, str(rule.output[0]) if rule.output else "")
        rule.log_modifier = rule.benchmark_modifier = workflow.modifier.path_modifier
        if not rule.log:
            rule.set_log(plan.paths.log(name))
        # a rule without wildcards can be requested by name, and would rerun without its measurements
        if not rule.benchmark and rule.wildcard_names:
            rule.benchmark = plan.paths.benchmark_file(name)
        if rule.conda_env is None:
            rule.conda_env = environment_file(root, rule.name, plan.settings.generated)
        _request(workflow, rule, plan)


def job_name(rule: str, output: str) -> str:
    """Path of a rule's log without its suffix: the rule, and all parts of its first output that have a wildcard.

    >>> job_name("pretrain", "work/encoders/{model}/pt{pt}/record.json")
    'pretrain/{model}.pt{pt}'
    >>> job_name("table", "results/tables/{paper}/table_{number}.md"), job_name("context", "results/context.json")
    ('table/{paper}.{number}', 'context')
    """
    *folders, file = re.sub(r",[^{}]*\}", "}", output).split("/")  # without the constraints of wildcards
    parts = [folder for folder in folders if "{" in folder] + re.findall(r"\{\w+\}", file)
    return f"{rule}/{'.'.join(parts)}" if parts else rule


def environment_file(root: Path, rule: str, generated: bool) -> str:
    """Path of a rule's environment file; braces in it are doubled, since Snakemake takes them for wildcards."""
    name = rule_facts(rule).environment
    if name == "torch":
        name = "cpu" if generated else "gpu"
    return str(root / "envs" / f"{name}.yaml").replace("{", "{{").replace("}", "}}")


def _request(workflow: Any, rule: Any, plan: Plan) -> None:
    settings, written = workflow.resource_settings, rule.ruleinfo
    if written.threads is None and rule.name not in settings.overwrite_threads:
        rule.resources["_cores"] = job_threads(rule.name, plan)
    in_rule_file = written.resources[1] if written.resources else {}
    requested = {name: value for name, value in job_resources(rule.name, plan).items() if name not in in_rule_file}
    rule.resources.update(requested)
    rule.resources.update(settings.overwrite_resources.get(rule.name, {}))
