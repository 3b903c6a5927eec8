"""Every rule that runs on nodes says what it is run in."""

import re

LOCAL = {"alias", "average", "count_parameters", "checkpoint", "dataset", "downloads", "context"}


def rules(root):
    """Rule -> its text."""
    texts = [path.read_text() for path in sorted((root / "workflow/rules").glob("*.smk"))]
    return {
        name: body for text in texts for name, body in re.findall(r"^rule (\w+):\n((?:(?:    .*)?\n)+)", text, re.M)
    }


def test_every_rule_with_a_command_names_an_environment_that_there_is(root):
    found = rules(root)
    assert {"pretrain", "mine", "retrieve", "score"} <= set(found)
    for name, body in found.items():
        if "    shell:" in body:
            (environment,) = re.findall(r"    conda:\n\s+(.*)\n", body) or [""]
            assert environment == "plan.torch_environment" or (
                (root / "workflow/rules" / environment.strip('",')).resolve().is_file()
            ), f"{name}: {environment}"


def test_what_needs_the_network_runs_where_the_driver_is(root):
    text = "".join(path.read_text() for path in (root / "workflow/rules").glob("*.smk"))
    local = {
        name
        for block in re.findall(r"^localrules:\n((?:    .*\n?)+)", text, re.M)
        for name in re.findall(r"\w+", block)
    }
    assert local >= LOCAL
    assert not local & {"pretrain", "finetune", "retrieve", "mine", "standin"}
