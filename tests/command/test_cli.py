"""The command line: what it lists, what it refuses, with which exit code."""

import pytest

from stele.command import cli


@pytest.mark.parametrize(
    ("argv", "said"), [(["scorin"], "'scoring'"), (["scoring", "scre"], "'score'"), (["tables", "tabel"], "'table'")]
)
def test_wrong_usage_is_2_and_names_the_nearest(argv, said, capsys):
    assert cli.main(argv) == 2
    assert f"did you mean {said}?" in capsys.readouterr().err


def test_an_error_that_the_user_can_mend_is_1(tmp_path, capsys):
    assert cli.main(["tables", "table", "--spec", str(tmp_path / "none.yaml")]) == 1
    assert "none.yaml" in capsys.readouterr().err


def test_help_lists_every_stage_and_its_commands(capsys):
    assert cli.main([]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n{stage}\n" in listed for stage in cli.STAGES)
    assert "  score " in listed and "  pretrain " in listed
