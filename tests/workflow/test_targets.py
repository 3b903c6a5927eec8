"""A mistyped target: the sentence, the nearest one that can be built."""

import pytest

from stele.snakemake_support.patches.snakemake_patches import missing_target

TABLES = [f"results/tables/{paper}/table_0{n}.md" for paper in ("msm", "kept") for n in (1, 5)] + [
    "results/tables/msm/table_15.md"
]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("results/tables/msm/table_5.md", "did you mean results/tables/msm/table_05.md?"),
        ("table_5.md", "did you mean results/tables/msm/table_05.md or results/tables/kept/table_05.md?"),
        ("results/tables/msm/tabel_05.md", "did you mean results/tables/msm/table_05.md?"),
        (
            "results/tables/msm/table_15.md",
            "that may run makes 'results/tables/msm/table_15.md'; add its rule and those of its inputs to --allowed-",
        ),
        ("thesis.pdf", "no rule makes 'thesis.pdf'. A table is results/tables/PAPER/table_NN.md"),
    ],
)
def test_the_nearest_file_is_named_and_none_where_none_is_near(typed, message):
    assert message in missing_target(typed, TABLES)
