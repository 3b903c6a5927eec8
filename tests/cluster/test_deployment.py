"""Every rule that runs on nodes says what it is run in."""

from tests.rule_files import environments, local_rules, rules

LOCAL = {"alias", "average", "count_parameters", "checkpoint", "dataset", "downloads", "context"}


def test_every_rule_with_a_command_names_an_environment_that_there_is(root):
    actual = rules(root)
    assert {"pretrain", "mine", "retrieve", "score"} <= set(actual)
    for name, body in actual.items():
        if "    shell:" in body:
            files = [root / f"envs/{environment}.yaml" for environment in environments(name)]
            assert files and all(file.is_file() for file in files), name


def test_what_needs_the_network_runs_where_the_driver_is(root):
    local = local_rules(root)
    assert local >= LOCAL
    assert not local & {"pretrain", "finetune", "retrieve", "mine", "standin"}
