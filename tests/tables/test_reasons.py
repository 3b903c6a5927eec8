"""Reasons under a table: alike ones once, in words of rows, without paths."""

from rendering import render

from stele.tables.render.formats import to_markdown
from stele.tables.render.summary import by_rows, merged, without_paths


def test_alike_reasons_are_said_once_with_ranges_and_lists_and_others_stay_apart():
    signs = [
        "cosine 1.000, found 0.015 of the times",
        "cosine 0.985, found 0.016 of the times",
        "the loss is 18.3",
        "the loss is 4.7",
    ]
    assert merged(signs) == ["cosine 0.985 to 1.000, found 0.015 to 0.016 of the times", "the loss is 4.7 to 18.3"]
    assert merged(["KNRM has none", "DRMM has none"]) == ["KNRM has none", "DRMM has none"], "a subject is no list"
    assert merged(["a b c", "a x c", "a b y"]) == ["a b, x c", "a b y"], "texts that differ at two places are no list"
    rows = {"no vectors of de-es": ("KNRM",), "no vectors of de-fr": ("KNRM",), "no vectors of en-es": ("DRMM",)}
    assert by_rows(rows) == {"no vectors of de-es, de-fr": ("KNRM",), "no vectors of en-es": ("DRMM",)}


def test_an_error_has_no_path_of_a_file():
    why = "First and Second: results/a/queries.parquet: lacks 8 queries that /x/b/queries.parquet has, for example 'q'"
    assert without_paths(why) == "First and Second: lacks 8 queries that the other has, for example 'q'"
    assert without_paths("r/a.json: no file r/a/queries.parquet, where") == "no file queries.parquet, where"


def test_rows_of_one_label_are_told_apart_by_their_groups(bench, msm):
    """MSM, table 9 has the same three rows twice: what holds for three of the six held for all rows."""
    unavailable = {"state": "unavailable", "reason": "no data"}
    names = ("mbert", "xlmr", "msm")
    rows = {
        f"{model}/{setting}/mrtydi": unavailable for setting in ("zero_shot_marco", "multilingual") for model in names
    }
    group = "Cross-lingual zero-shot transfer (models are fine-tuned on English data)"
    for count, said in (
        (2, f"mBERT under {group}, XLMR under {group}"),
        (3, f"all rows under {group}"),
        (6, "all rows"),
    ):
        page = render(to_markdown, bench, msm[9], rows=dict([*rows.items()][:count]))
        assert f"**unavailable**: no run can give this number. {said}: no data." in page


def test_what_a_state_means_does_not_contradict_its_reason(bench, msm):
    """A checkpoint without a stand-in was called a language that this run leaves out."""
    why = {"state": "not in scale", "reason": "no stand-in for its checkpoint"}
    page = render(to_markdown, bench, msm[9], rows={"mbert/zero_shot_marco/mrtydi": why})
    (note,) = [line for line in page.splitlines() if "**not in scale**" in line]
    assert note.endswith("no stand-in for its checkpoint.") and "language" not in note
