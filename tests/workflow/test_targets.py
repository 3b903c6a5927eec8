"""A mistyped target: the sentence, the nearest one that can be built."""

import pytest

from stele.errors import nearest
from stele.snakemake_support.patches.snakemake_patches import missing_target
from tests.workflow.conftest import snakemake

TABLES = [f"results/tables/{paper}/table_0{n}.md" for paper in ("msm", "kept") for n in (1, 5)] + [
    "results/tables/msm/table_15.md"
]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("results/tables/msm/table_5.md", "did you mean results/tables/msm/table_05.md?"),
        ("table_5.md", "did you mean results/tables/msm/table_05.md or results/tables/kept/table_05.md?"),
        ("results/tables/msm/tabel_05.md", "did you mean results/tables/msm/table_05.md?"),
        ("thesis.pdf", "no rule makes 'thesis.pdf'. A table is results/tables/PAPER/table_NN.md"),
    ],
)
def test_the_nearest_file_is_named_and_none_where_none_is_near(typed, message):
    assert message in missing_target(typed, TABLES)


@pytest.mark.parametrize(
    ("typed", "valid", "meant"),
    [
        ("qwerty", ["bert", "msm", "xlmr"], None),
        ("zero_sho", ["zero_shot_nq", "zero_shot"], "zero_shot"),
        ("mms", ["msm", "kept"], "msm"),
        ("sv", ["sw", "th"], "sw"),
        ("xx", ["sw", "th"], None),
        ("MSM", ["msm"], "msm"),
    ],
)
def test_a_suggestion_is_one_edit_for_every_three_letters_away(typed, valid, meant):
    assert nearest(typed, valid) == meant


def test_snakemake_says_the_nearest_target(fresh):
    run = snakemake(fresh, "-n", "results/tables/msm/table_5.md")
    assert run.returncode != 0
    assert "did you mean results/tables/msm/table_05.md?" in " ".join(run.stdout.split())


def test_short_names_of_settings_are_suggested(fresh):
    run = snakemake(fresh, "-n", "results/mrtydi/msm/zero_sho.json")
    assert run.returncode != 0 and "unknown setting 'zero_sho'; did you mean 'zero_shot'?" in run.stdout
