"""Claims on a paper's page: verdicts on print and of runs, pictures, and the way to the cells and back."""

import json
import re
from dataclasses import replace

import pytest

from stele.errors import SteleError
from stele.papers.claims import load_claims
from stele.tables.render import pages
from stele.tables.render.claims import PaperClaims, draw_claims, place
from stele.tables.render.pictures import MARGIN, WHISKER_WIDTH, Difference, Picture, reach, whisker
from tests.tables.rendering import filled

CONTROL = {"what": "against MLM", "mean": 0.5, "interval": [-0.5, 1.5], "p": 0.3, "seeds": 5, "reason": ""}
ROW = {
    "paper": "msm", "key": "hierarchical_loss", "state": "supported", "mean": 2.0, "interval": [1.0, 3.0], "bar": 1.0,
    "p": 0.002, "seeds": 5, "reason": "", "detectable": None, "seeds_needed": None, "share": None, "left_out": [],
    "missing": [], "controls": [CONTROL],
}  # fmt: skip


@pytest.fixture
def drawn(bench, msm):
    return [pages.draw(filled(bench, table), root="..") for table in msm.values()]


@pytest.fixture
def boxes(drawn):
    return {box: cell for one in drawn for box, cell in one.boxes.items()}


@pytest.fixture
def folder(root):
    return root / "paper_tables/msm"


@pytest.fixture
def write(tmp_path):
    def verdicts(*rows, **facts):
        (path := tmp_path / "msm.json").write_text(json.dumps({"claims": rows, **facts}), encoding="utf-8")
        return path

    return verdicts


@pytest.fixture
def verdicts(write):
    return write(ROW, scale="study", labels=["generated data"])


def claim_of(claims, key="hierarchical_loss"):
    return next(claim for claim in claims.claims if claim.about.key == key)


def test_every_claim_stands_on_the_page_once_and_leads_to_cells_that_are_there(folder, boxes, drawn):
    claims = draw_claims(folder, boxes)
    page = pages.paper_page(*pages.by_paper(drawn), "all_tables.html", claims)
    for claim in load_claims(folder / "claims.yaml").claims:
        assert page.count(f'<article class="claim entry" id="claim-{claim.key}" ') == 1
    ids = set(re.findall(r'<div popover id="([^"]+)"', page))
    wanted = set(re.findall(r'<li><button type="button" class="record" popovertarget="([^"]+)"', page))
    assert wanted and wanted <= ids
    assert sum(claims.counts["print"].values()) == len(claims.claims) and not claims.counts["runs"]
    assert " here</span>" not in page and " here ·" not in page  # nothing is said of runs that were not judged


def test_a_cell_names_the_claims_that_read_it_and_they_name_the_cell(folder, boxes, drawn):
    claims = draw_claims(folder, boxes)
    box = next(cell.id for (where, address), cell in boxes.items() if where == "table 5" and "/mu_0.5/" in address)
    reader = claim_of(claims)
    assert reader in claims.readers[box] and box in [link.id for link in reader.links if link.is_box]
    page = pages.paper_page(*pages.by_paper(drawn), "all_tables.html", claims)
    fold = page[page.index(f'<div popover id="{box}"') :]
    assert '<a href="#claim-hierarchical_loss">' in fold[: fold.index("</div>")]


def test_a_figure_names_the_claims_that_read_it(root, drawn):
    claims = draw_claims(root / "paper_tables/clir_lm", {})
    read = {link.id for one in claims.claims for link in one.links if not link.is_box}
    figure = Picture("clir_lm/figure_04.svg", "Figure 4")
    (paper,) = pages.by_paper(drawn[:1])
    page = pages.paper_page(paper._replace(figures=[figure]), "all_tables.html", claims)
    caption = page[page.index("<figcaption>") : page.index("</figcaption>")]
    readers = claims.readers["f04"]
    assert "f04" in read and readers
    assert all(f'<a href="#{one.id}">{one.about.key}</a>' in caption for one in readers)


@pytest.mark.parametrize(
    "claims", [3, [3], [{}], [{"paper": "msm", "key": "x"}], [ROW | {"interval": 3}], [ROW | {"controls": [{}]}]]
)
def test_a_damaged_file_of_verdicts_is_one_error_that_names_it(folder, verdicts, claims):
    verdicts.write_text(json.dumps({"claims": claims}), encoding="utf-8")
    with pytest.raises(SteleError, match=r"msm.json: not a readable verdicts of claims \(.*\); judge them again"):
        draw_claims(folder, {}, verdicts)


def test_a_verdict_says_of_which_scale_and_data_it_is(folder, boxes, write):
    for labels, data in ((["generated data"], "generated data"), ([], "real data")):
        claims = draw_claims(folder, boxes, write(ROW | {"labels": labels}, scale="study"))
        assert claim_of(claims).facts["our runs"] == f"scale study, {data}"


def test_a_line_names_its_only_rival_and_claims_are_folded_by_section(folder, boxes, verdicts):
    claims = draw_claims(folder, boxes, verdicts)
    assert claim_of(claims).comparisons[0].words.startswith("against Cross-doc; +2, interval")
    assert [*claims.sections][:3] == ["abstract", "section 2", "section 3.1"]
    assert sum(map(len, claims.sections.values())) == len(claims.claims) - len(claims.main)
    assert claims.verdicts[-1] == "seen here"


def test_places_stand_in_the_order_of_their_numbers(root):
    claim = next(claim for claim in draw_claims(root / "paper_tables/clir_lm", {}).claims if not claim.about.main)
    given = ["t10", "s10.1", "footnote10", "t9", "s4.10", "footnote4", "s4.9"]
    about = [claim.about.model_copy(update={"places": [name]}) for name in given]
    claims = PaperClaims([replace(claim, judged=claim.judged._replace(claim=of_place)) for of_place in about], {})
    sections = ["section 4.9", "section 4.10", "section 10.1", "Table 9", "Table 10", "footnote 4", "footnote 10"]
    assert [*claims.sections] == sections


def test_verdicts_of_runs_stand_beside_those_on_print_with_their_controls(folder, boxes, verdicts):
    claims = draw_claims(folder, boxes, verdicts)
    one = claim_of(claims)
    assert (one.judged.verdict, one.runs, claims.judged_runs["scale"]) == ("holds", "supported", "study")
    assert [comparison.what for comparison in one.comparisons] == ["", CONTROL["what"]]
    assert claims.counts["runs"] == {"supported": 1}
    others = [other for other in claims.claims if other is not one]
    assert not any(other.runs or other.comparisons for other in others)


def test_a_line_names_its_rival_and_the_closest_and_prints_the_difference_from_the_same(folder, boxes, drawn, write):
    beaten = {"rival": "xlmr", "closest": {"name": "mbert", "mean": 0.5}, "printed_difference": 0.9}
    beaten |= {"reason": "decided by xlmr; the smallest difference is +0.5, mbert; below"}
    row = ROW | beaten | {"key": "best_mrtydi_zero_shot", "rivals": {"ran": 4, "printed": 10}}
    row |= {"detectable": 4.0, "seeds_needed": 812, "same_as": "bias"}
    in_part = {("table 1", f"zero_shot/{model}/value/mrtydi_mrr") for model in ("msm", "xlmr")}
    in_part = {place: replace(boxes[place], covered=(9, 11)) for place in in_part}
    claims = draw_claims(folder, boxes | in_part, write(row, limits=["One world."]))
    one = claim_of(claims, "best_mrtydi_zero_shot")
    words = "against XLMR (smallest difference: +0.5, against mBERT); +2, interval +1 to +3"
    words += "; smallest difference of interest 1; printed +0.9; ours over 9 of the paper's 11 languages"
    assert one.comparisons[0].words == f"{words}; 4 of 10 printed rivals ran; smallest detectable difference 4"
    assert one.facts["why our runs give this verdict"] == "below" and one.facts["one finding with"] == "bias"
    assert claims.counts["runs"] == {"supported": 1} and claims.counts["once"] == {}
    assert one.facts["detectable"] == "a difference of 4; the paper prints +0.9: too small to be decided here"
    assert one.facts["seeds needed to detect the smallest of interest"] == "812"
    page = pages.paper_page(*pages.by_paper(drawn), "all_tables.html", claims)
    assert claims.limits == ["One world."] and " 1 of the claims rest on the comparison of another claim" in page
    telugu = claim_of(claims, "gain_te")
    assert "Table 10 are exchanged" in telugu.facts["corrected"] and telugu.judged.verdict == "holds"


@pytest.mark.parametrize(
    ("paper", "key", "part", "words"),
    [
        ("kept", "ilk_helps", "xor_5k", "against w/o ILK, by XOR R@5K"),
        ("msm", "asymmetric_projector", "no_pl", "against w/o PL"),
        ("msm", "lareqa_spanish", "", "against TH"),
        ("msm", "best_most_languages_mrr", "ja: labse", "against LaBSE, in JA"),
        ("msm", "two_layers_best_mrtydi", "mrtydi_mrr: layers_4", "against Layers 4, by Mr. TyDi MRR@100"),
        ("msm", "multilingual_data_helps_mrtydi", "msm/recall",
         "MSM, against Cross-lingual zero-shot transfer, by Recall@100"),
        ("msm", "negatives_peak", "table 6 all/neg_256/value/xor_2k: the one after",
         "by XOR Retrieve R@2k, the one after"),
    ],
)  # fmt: skip
def test_a_line_names_rows_and_columns_as_the_paper_prints_them(root, write, paper, key, part, words):
    row = ROW | {"paper": paper, "key": key, "rival": part, "left_out": ["lareqa/msm/zero_shot has no zh"]}
    claims = draw_claims(root / "paper_tables" / paper, {}, write(row))
    (claim,) = [claim for claim in claims.claims if claim.comparisons]
    assert claim.comparisons[0].words.startswith(f"{words}; +2, interval")


def test_a_pretraining_that_diverged_is_a_badge_of_its_claim_alone_and_named_in_its_fold(folder, boxes, drawn, write):
    said = "mrtydi/msm/zero_shot: pretraining diverged in 1 of 5 seeds (pt2): msm: loss 3.9"
    row, control = ROW | {"diverged": [said]}, CONTROL | {"diverged": ["of the control"]}
    path = write(row | {"controls": [control]}, ROW | {"key": "best_mrtydi_zero_shot"})
    claims = draw_claims(folder, boxes, path)
    page = pages.paper_page(*pages.by_paper(drawn), "all_tables.html", claims)
    article = page[page.index('id="claim-hierarchical_loss"') :]
    article = article[: article.index("</article>")]
    assert page.count("a pretraining diverged</span>") == article.count("a pretraining diverged</span>") == 1
    assert f"{said}; of the control" in article


# --- pictures ---------------------------------------------------------------------------------------------------------
def test_the_picture_of_a_difference_has_its_places_on_one_scale():
    picture = whisker(Difference(5.0, 0.0, 10.0, bar=5.0, printed=-10.0), scale=10.0)
    middle, edge = WHISKER_WIDTH / 2, WHISKER_WIDTH - MARGIN
    half = round(middle + (edge - middle) / 2, 1)
    assert f'cx="{half}"' in picture  # half way to the edge
    assert f'x1="{middle}" x2="{float(edge)}"' in picture  # the whisker, from zero to the edge
    assert f'd="M{MARGIN}.0 ' in picture  # what is printed, at the other edge
    assert picture.count("<path") == 1  # nothing lies outside
    ticks = re.findall(r'<text class="tick" x="([^"]+)"[^>]*>([^<]+)', picture)
    assert ticks == [(f"{MARGIN}.0", "−10"), (str(middle), "0"), (str(float(edge)), "+10")]


def test_differences_in_another_unit_have_a_scale_of_their_own(folder, boxes, write):
    """KEPT's alignment, reversed by .3 of at most 4, stood as a dot on the zero of an axis of 19 points."""
    distance = {"key": "low_resource_te", "mean": -0.3, "interval": [-0.4, -0.2], "bar": 0.01, "controls": []}
    claims = draw_claims(folder, boxes, write(ROW, ROW | distance))
    ends = [
        re.findall(r'<text class="tick"[^>]*>\+([^<]+)', claim_of(claims, key).comparisons[0].picture)
        for key in ("hierarchical_loss", "low_resource_te")
    ]
    assert ends == [["3"], ["0.4"]]


def test_what_lies_outside_the_scale_ends_in_an_arrow():
    picture = whisker(Difference(0.0, -30.0, 30.0), scale=10.0)
    assert picture.count('<path class="dot"') == 2
    assert 'aria-label="+0, interval -30 to +30"' in picture


@pytest.mark.parametrize(("printed", "edge", "tip"), [(30.6, WHISKER_WIDTH - MARGIN, 8), (-30.6, MARGIN, -8)])
def test_a_printed_difference_outside_the_scale_is_no_diamond_at_its_end(printed, edge, tip):
    """KEPT's gain in Telugu on the study's page stood at +19, where the axis ends."""
    picture = whisker(Difference(12.5, 8.5, 16.6, printed=printed), scale=18.6)
    assert f'<path class="printed" d="M{float(edge + tip)} 11.0l{-tip} -6v12z"/>' in picture


@pytest.mark.parametrize(
    ("ends", "scale"),
    [([], 1.0), ([0.0], 1.0), ([1.0] * 9 + [100.0], 1.0), ([2.0, 4.0], 4.0), ([0.0] * 4 + [3.0], 3.0)],
)
def test_the_scale_holds_nine_of_ten_whiskers(ends, scale):
    assert reach([Difference(0, -end, end) for end in ends]) == scale


def test_places_are_read_out():
    names = ["abstract", "s3.2", "t5", "f4", "A.2", "footnote3"]
    assert [*map(place, names)] == ["abstract", "section 3.2", "Table 5", "Figure 4", "appendix A.2", "footnote 3"]
