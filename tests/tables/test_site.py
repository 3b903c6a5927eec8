"""The site: whole from a folder of kept results, no link that leads nowhere, every result and claim in it."""

import html
import json
import re
import shutil
from collections import Counter
from urllib.parse import unquote, urlsplit

import pytest
from lxml import html as parser
from specs import write_result

from stele.artifacts.records import WHOLE_ANCESTRY
from stele.artifacts.results import Metric, Result, Seeds
from stele.claims.judging.trainings import FILE as TRAININGS
from stele.claims.judging.trainings import FINETUNING
from stele.claims.pack import pack
from stele.command import cli
from stele.errors import SteleError
from stele.files.digests import digest
from stele.files.paths import STAMP
from stele.papers.claims import load_claims
from stele.papers.paper import PAGES, PATTERN, papers_in
from stele.tables.render.jinja import MEANINGS, SEEN
from stele.tables.render.pictures import curves, draw_curve
from stele.tables.render.site import SiteRow, model_title, origin, rows, value_text
from stele.tables.render.terms import TERMS, explained
from stele.tables.site import write_page
from tests.claims.made_results import write_results

EFFECTS = {"msm": 0.05, "xlmr": 0.0, "crop": 0.02}
LOSSES = {"losses": {"msm": 1.9}, "chance": {"msm": 3.3}, "curve": {"step": [2, 4], "msm": [3.0, 1.9]}}


@pytest.fixture(scope="module")
def kept(root, tmp_path_factory):
    """A packed folder of made results, with a loss curve of one model and verdicts of its claims."""
    made = tmp_path_factory.mktemp("made")
    results = write_results(made / "results", EFFECTS, seeds=3, queries=12)
    (results / STAMP).write_text("study\n", encoding="utf-8")
    pack(results, made / "kept", root / "paper_tables")
    facts = {"model": "msm", "seed": 0, "cpu_seconds": 50.6, "device": "cpu", **LOSSES}
    (made / "kept" / TRAININGS).write_text(json.dumps({"d1": facts}))
    (made / "kept" / FINETUNING).write_text(json.dumps({"d2": {**facts, "cpu_seconds": 7.6}}))
    known = json.loads((made / "kept" / WHOLE_ANCESTRY).read_text())
    pretrained = {"d1": {"job": "pretrain", "model": "msm", "recipe": {"mu": 0.5}}}
    (made / "kept" / WHOLE_ANCESTRY).write_text(json.dumps(known | pretrained))
    write_count(made / "kept", "statistics/mrtydi/count", {"passages": 1200.0})
    write_count(made / "kept", "parameters/msm/direct", {"parameters": 357056.0})
    write_count(made / "kept", "xor_retrieve/msm/align_uniform", {"alignment": 1.117, "uniformity_query": -1.383})
    into = ["--into", str(made / "kept/claims"), "--specs", str(root / "paper_tables")]
    assert cli.main(["claims", "judge", str(made / "kept"), "--paper", "msm", *into]) == 0
    return made / "kept"


def write_count(folder, row, metrics):
    """A result without queries: numbers of a dataset or of a model."""
    values = {name: {"languages": {"all": value}, "average": value} for name, value in metrics.items()}
    write_result(folder, row.split("/"), values, content=digest(values))


@pytest.fixture(scope="module")
def site(root, kept, tmp_path_factory):
    to = tmp_path_factory.mktemp("site") / "site"
    assert cli.main(["tables", "site", str(kept), "--to", str(to), "--specs", str(root / "paper_tables")]) == 0
    return to


class Page:
    """The ids, links and text of a page, without its style and script."""

    def __init__(self, path):
        page = parser.fromstring(path.read_text(encoding="utf-8"))
        self.ids, self.links = {*page.xpath("//@id")}, {*page.xpath("//@href | //@src")} - {""}
        for element in page.xpath("//style | //script"):
            element.drop_tree()
        self.text = page.text_content()


def test_every_number_of_every_page_stands_below_its_labels(site, tmp_path):
    command = handed(tmp_path / "handed", "belebele/mbert/direct", labels=["generated data", "stand-in checkpoint"])
    assert cli.main([*command, str(tmp_path / "site")]) == 0
    assert "mrr@100 50.0" in Page(tmp_path / "site/model-mbert.html").text
    for path in (*site.glob("*.html"), *(tmp_path / "site").glob("*.html")):
        above, _, below = Page(path).text.partition("not a reproduction of the paper's numbers")
        assert "generated data" in above and ("stand-in checkpoint" in above or path.parent == site), path.name
        assert below and not re.search(r"\d", above), f"{path}: a number without its labels"


def test_every_link_leads_somewhere_inside_the_site_or_to_a_paper(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert {"index.html", "msm.html", "model-msm.html", "search.html"} <= {path.name for path in pages}
    followed = 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme in ("https", "data"), (path.name, link)
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            assert target.is_file(), (path.name, link)
            if parts.fragment:
                assert unquote(parts.fragment) in pages[target].ids, (path.name, link)
            followed += 1
    assert followed > 500


def test_the_front_page_says_what_was_run_before_any_verdict_and_computes_it(site, root):
    text = " ".join(Page(site / "index.html").text.split())
    run, _, rest = text.partition("What a verdict says")
    claims = [claim for path in (root / "paper_tables").glob("*/claims.yaml") for claim in load_claims(path).claims]
    on_print = sum(claim.checkable for claim in claims)
    judged = json.loads((site / "claims/msm.json").read_text())["claims"]
    on_runs = [claim for claim in judged if claim["state"] != "no data"]
    assert f"checks {on_print} of their claims against the papers' own numbers, {len(on_runs)} of them also in" in run
    assert not any(word in run for word in SEEN.values()) and any(claim["same_as"] for claim in on_runs)
    once = Counter(SEEN[claim["state"]] for claim in on_runs if not claim["same_as"])
    assert all(f"{count} {word}" in rest for word, count in once.items())
    for fact in ("synthetic text, 3 languages", "0.36 M parameters", "the median one took 51 CPU-seconds"):
        assert fact in run, fact
    assert all(f"{word}{MEANINGS[state]}" in rest for state, word in SEEN.items())
    doors = {"tables.html", "claims.html", "how.html#run"}
    assert doors <= Page(site / "index.html").links and "make first" in Page(site / "how.html").text
    css = (site / "index.html").read_text().partition("</style>")[0]
    assert not re.search(r"reversed[^}]*#(?:[b-f][0-9a-f])(?:[0-3][0-9a-f]){2}", css), "no red for a toy world"


def test_a_term_has_its_explanation_where_it_stands_and_the_keyboard_reaches_it():
    term = '<span class="term" tabindex="0">{}<span class="tip"> {}</span></span>'
    seeds = term.format("pt0-ft1", "Seed 0 of pretraining, seed 1 of fine-tuning")
    assert explained("pt0-ft1 &amp; x") == f"{seeds} &amp; x"
    assert explained("a/pt0-ft1.json").startswith('a/<span class="term" tabindex="0">pt0-ft1.json<span')
    for name, meaning in TERMS.items():
        assert term.format(name, meaning[0].upper() + meaning[1:]) in html.unescape(explained(f"a; {name}; b"))
    assert "in the first 2,000 tokens of" in explained("R@2kt") and "beyond rank 100" in explained("MRR@100")
    assert "was fine-tuned on marco<" in explained("<dt>setting</dt><dd>zero_shot_marco</dd>")
    for kept in ("<code>pt0-ft1</code>", '<a href="pt0-ft1.json">', "R@100", "MICROP", "zero_shot_marco"):
        assert explained(kept) == kept
    assert "in hours on 2 cores" in explained("scale study") and explained("scale mine") == "scale mine"


def test_an_ablation_does_not_read_like_the_model_that_it_changes():
    """All of them read "msm from xlmr" or "kept from mcontriever"."""
    assert origin("msm") == "msm from xlmr" and origin("msm_layers_1") == "msm (layers changed) from xlmr"
    assert origin("kept_no_clk") == "kept (tasks changed) from mcontriever"


def test_seeds_and_scale_are_explained_where_the_site_says_how_it_was_made(site):
    how = (site / "how.html").read_text(encoding="utf-8")
    assert how.count("Seed 0 of pretraining, seed 0 of fine-tuning") == 1 and "In hours" not in how
    assert "Effects over seeds on a generated internet" in how.partition("These results")[2]


def test_boxes_lie_in_files_so_that_a_page_is_small_and_each_is_in_one(site):
    page = (site / "msm.html").read_text(encoding="utf-8")
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (site / "boxes/msm").glob("*.js")}
    files = {name: json.loads(text[len("stele_boxes(") : -len(");\n")]) for name, text in texts.items()}
    boxes = {box: text for of_file in files.values() for box, text in of_file.items()}
    wanted = set(re.findall(r'popovertarget="([^"]+)"', page + "".join(boxes.values())))
    assert wanted and wanted == boxes.keys() and "<div popover" not in page
    assert all(text.strip().startswith(f'<div popover id="{box}">') for box, text in boxes.items())
    assert all(box.partition("-")[0] == name for name, of_file in files.items() for box in of_file)
    of_record = next(text for box, text in boxes.items() if box.startswith("r-mrtydi-msm-"))
    assert "Seed 0 of pretraining" in of_record and "was fine-tuned on" in "".join(files["t01"].values())


def test_a_benchmark_lists_the_languages_that_were_scored_and_seeds_are_two_numbers(site):
    text = Page(site / "benchmarks.html").text
    assert "3 of its 11 here: ar, sw, th" in text and "3 × 1" in text


def test_each_claim_can_be_found_with_both_verdicts(site, root):
    claims = load_claims(root / "paper_tables/msm/claims.yaml").claims
    entries = Page(site / "search.html").text
    listed = Page(site / "claims.html").text
    for claim in claims:
        assert f"MSM: {claim.text} (" in entries and claim.text in listed, claim.key
    judged = json.loads((site.parent / "site/results/mrtydi/msm/zero_shot_marco.json").read_text())
    assert judged["model"] == "msm", "the result that a cell leads to"


def test_a_model_has_its_rows_its_loss_and_its_cost(site):
    page = Page(site / "model-msm.html")
    assert "zero_shot_marco" in page.text and "MSM, Table 1" in page.text and " ± " in page.text
    assert "Loss of msm in nats over the steps, 1 seed; at the end 1.90; by chance 3.30" in page.text
    assert "A seed of pretraining took 51 CPU-seconds on average of 1 (cpu)." in page.text
    assert "A fine-tuning took 8 CPU-seconds on average of 1 (cpu)." in page.text
    recipe = page.text.partition("Its recipe")[2]
    assert "mu" in recipe and "0.5" in recipe
    assert "Loss of" not in Page(site / "model-xlmr.html").text, "nothing is pretrained of a public checkpoint"


def test_a_number_has_the_unit_of_its_kind(site):
    """A fraction is in points of a hundred, a distance of vectors as it is, a size in whole numbers."""
    text = Page(site / "model-msm.html").text
    assert "parameters 357,056" in text and "alignment 1.12; uniformity_query -1.38" in text
    for name, average, std, shown in (
        ("alignment", 1.117, 0.02, "1.12 ± 0.02"),
        ("parameters", 35705600.0, 0.0, "35,705,600"),
        ("mrr@100", 0.4465, 0.0025, "44.7 ± 0.3"),  # as its table rounds it
    ):
        assert value_text(name, Metric(languages={}, average=average, std={"average": std})) == shown


def test_a_copy_under_a_short_name_is_no_row_of_its_own(bench):
    path = bench.result("msm", {"sw": 0.5})
    shutil.copyfile(path, path.with_name("zero_shot.json"))
    assert [row.href for row in rows(bench.results_dir, [])] == ["results/mrtydi/msm/zero_shot_marco.json"]


def test_seeds_that_are_no_grid_are_counted_as_pairs():
    for seeds, count in ((0, "—"), (2, "1 × 2"), (3, "3")):
        pairs = [Seeds(pretraining=p, finetuning=f) for p, f in ((0, 0), (0, 1), (1, 0))[:seeds]]
        assert SiteRow(Result.model_construct(seeds=pairs), []).seed_counts == count


def test_a_dataset_is_no_model_and_a_model_is_headed_by_its_key(site):
    assert not (site / "model-mrtydi.html").exists() and "model-mrtydi" not in "".join(Page(site / "models.html").links)
    assert (site / "results/statistics/mrtydi/count.json").is_file(), "cells of tables lead there"
    assert "<h1>msm: MSM</h1>" in (site / "model-msm.html").read_text()
    assert model_title("msm_neg_256") == "msm_neg_256: 256" and model_title("a_user_s") == "a_user_s"


def write_markdown_site(results, root, to):
    options = ["--format", "md", "--to", str(to), "--specs", str(root / "paper_tables")]
    assert cli.main(["tables", "site", str(results), *options]) == 0


def test_a_site_may_have_a_paper_without_claims(root, kept, tmp_path):
    copied = shutil.copytree(root / "paper_tables/kept", tmp_path / "papers/kept")
    (copied / "claims.yaml").unlink()
    to = tmp_path / "site"
    assert cli.main(["tables", "site", str(kept), "--to", str(to), "--specs", str(tmp_path / "papers")]) == 0
    assert "kept.html" in (text := (to / "index.html").read_text()) and "<td>—</td>" in text


def test_no_paper_may_be_called_as_a_page_of_the_site(site):
    names = {path.stem for path in site.iterdir()} - papers_in().keys()
    assert {name for name in names if re.fullmatch(PATTERN, name)} <= PAGES


def test_the_list_of_tables_links_nothing_that_is_not_there(root, kept, tmp_path, monkeypatch):
    write_markdown_site(kept, root, tmp_path / "elsewhere")
    monkeypatch.setattr("stele.tables.site.PAPER_TABLES", tmp_path / "paper_tables")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/evidence.md").touch()
    write_markdown_site(kept, root, tmp_path / "a/b")
    for folder, has_guide in (("elsewhere", False), ("a/b", True)):
        links = re.findall(r"\]\(([^)#]+)", (tmp_path / folder / "README.md").read_text())
        assert all((tmp_path / folder / link).is_file() for link in links)
        assert ("../../docs/evidence.md" in links) == has_guide


def test_verdicts_are_said_in_the_same_words_everywhere(site, root, kept, tmp_path):
    write_markdown_site(kept, root, tmp_path)
    pages = [site / f"{name}.html" for name in ("index", "claims", "how", "msm", "search")]
    texts = {path.name: Page(path).text for path in pages} | {"README.md": (tmp_path / "README.md").read_text()}
    for name, text in texts.items():
        assert "supported" not in text.lower(), name
        assert name == "how.html" or "on print" in text, name
        assert "een here" in text, name


def test_a_folder_that_is_no_site_is_not_replaced_and_a_site_is(root, kept, site, tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("x")
    command = ["tables", "site", str(kept), "--specs", str(root / "paper_tables"), "--to"]
    assert cli.main([*command, str(tmp_path / "mine")]) == 1
    assert "not replaced" in capsys.readouterr().err and (tmp_path / "mine/thesis.tex").is_file()
    assert cli.main(["tables", "site", str(tmp_path), "--to", str(tmp_path / "new")]) == 1
    assert "no folder of results" in capsys.readouterr().err and not (tmp_path / "new").exists()
    before = {path.relative_to(site): path.read_bytes() for path in site.rglob("*.html")}
    (site / "stray.html").touch()
    assert cli.main([*command, str(site)]) == 1 and "'stray.html'" in capsys.readouterr().err
    (site / "stray.html").unlink()
    assert cli.main([*command, str(site)]) == 0
    assert {path.relative_to(site): path.read_bytes() for path in site.rglob("*.html")} == before


def handed(folder, path, **other):
    """A folder of results that somebody made, with one result at `path`."""
    metrics = {"mrr@100": {"languages": {"sw": 0.5}, "average": 0.5, "n": {"sw": 3}}}
    write_result(folder, path.split("/"), metrics, job="average", content=digest(metrics), **other)
    (folder / STAMP).write_text("study\n")
    (folder / "no_specs").mkdir(exist_ok=True)
    return ["tables", "site", str(folder), "--specs", str(folder / "no_specs"), "--to"]


def test_a_site_of_real_text_and_a_user_s_model_says_nothing_of_a_generated_world(tmp_path):
    command = handed(tmp_path / "handed", "tatoeba/mine/direct")
    (tmp_path / "handed" / STAMP).write_text("one_gpu\n")
    assert cli.main([*command, str(tmp_path / "site")]) == 0
    texts = {path.stem: Page(path).text for path in (tmp_path / "site").glob("*.html")}
    assert "real text, 1 language" in texts["index"] and "on real text" in texts["index"]
    assert "generated world" not in texts["index"] and "synthetic" not in texts["index"]
    assert "make tables" in texts["how"] and "make study" not in texts["how"]
    assert "models.yaml" not in texts["model-mine"]


def test_languages_are_counted_each_once_and_those_beyond_a_benchmark_s_list_are_no_share_of_it(tmp_path):
    """A pair has two languages; a size may be missing."""
    results = tmp_path / "handed"
    command = handed(results, "mrtydi/mine/direct")
    for benchmark, metrics in (
        ("tatoeba_pairs", {"accuracy": {"languages": {"de-el": 0.5, "de-it": 0.25}, "average": 0.375}}),
        ("tatoeba", {"accuracy": {"languages": {"de": 0.5, "mhr": 0.25}, "average": 0.375}}),
        ("parameters", {"parameters": {"languages": {"all": 5e6}}}),
    ):
        write_result(results, (benchmark, "mine", "direct"), metrics, content=digest(metrics))
    assert cli.main([*command, str(tmp_path / "site")]) == 0
    assert "text, 5 languages" in Page(tmp_path / "site/index.html").text  # de, el, it, mhr and sw
    text = Page(tmp_path / "site/benchmarks.html").text
    assert "2 here: de, mhr" in text and "1 of its 11 here: sw" in text


@pytest.mark.parametrize("model", ["x/../../victim/page", "x/../../../victim/page", "xlmr", "", "."])
def test_a_result_cannot_write_elsewhere_by_what_it_says_of_itself(tmp_path, capsys, model):
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim/page.html").write_text("mine")
    command = handed(tmp_path / "handed", "mrtydi/msm/direct", model=model)
    assert cli.main([*command, str(tmp_path / "to/site")]) == 1
    message = f"mrtydi/msm/direct.json: holds the result of mrtydi/{model}/direct, not the one that its path names"
    assert message in capsys.readouterr().err
    assert (tmp_path / "victim/page.html").read_text() == "mine" and not list(tmp_path.glob("to/*"))


def test_a_page_is_written_in_the_site_alone(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site/link.html").symlink_to(tmp_path / "mine.html")
    for name in ("../page.html", "model-x/../../page.html", "/tmp/page.html", "a\0.html", "link.html"):
        with pytest.raises(SteleError, match="a page of the site"):
            write_page(tmp_path / "site", name, "text")
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_copy_under_a_short_name_of_its_setting_is_no_stranger(tmp_path):
    command = handed(tmp_path / "handed", "mrtydi/msm/zero_shot", setting="zero_shot_marco")
    assert cli.main([*command, str(tmp_path / "site")]) == 0
    assert "zero_shot_marco" in (tmp_path / "site/model-msm.html").read_text()


def test_a_sample_has_the_tables_that_are_filled_and_the_verdicts(root, kept, tmp_path):
    write_markdown_site(kept, root, tmp_path)
    listed = (tmp_path / "README.md").read_text()
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")} - {"README.md"}
    assert "msm/table_01.md" in files and not any(name.startswith("clir_lm/") for name in files)
    assert all(f"]({name})" in listed for name in files)
    assert len(re.findall(r"\]\(\w+/", listed)) == len(files)
    main = [claim for claim in load_claims(root / "paper_tables/msm/claims.yaml").claims if claim.main]
    assert all(claim.text.split(" (")[0] in listed for claim in main) and "generated data" in listed
    assert "scale `study`" in listed
    anew = "snakemake results_study/tables/msm/table_01.md --config scale=study results_dir=results_study"
    assert f"Build it: `{anew}`" in (tmp_path / "msm/table_01.md").read_text()


def test_a_curve_has_a_line_a_seed_and_breaks_at_nothing():
    kept = [
        {"seed": seed, "curve": {"step": [10, 20, 30], "clk": [3.0, None, 2.0 + seed]}, "losses": {"clk": 2.0 + seed}}
        for seed in (0, 1)
    ]
    (curve,) = curves(kept)
    assert curve.seeds == {0: [(10, 3.0), (30, 2.0)], 1: [(10, 3.0), (30, 3.0)]} and curve.chance is None
    drawn = draw_curve(curve)
    assert drawn.count("<polyline") == 2 and 'class="chance"' not in drawn and "2 seeds; at the end 2.00, 3.00" in drawn
    assert curves([{"seed": 0}]) == []


def test_a_curve_is_of_a_loss_not_of_another_figure_of_a_training():
    curve = {"step": [1, 2], "msm": [4.0, 3.5], "msm_accuracy": [0.1, 0.2], "gradient_norm": [9.0, 7.0]}
    (drawn,) = curves([{"seed": 0, "curve": curve, "losses": {"msm": 3.5, "gradient_norm": 7.0}}])
    assert drawn.task == "msm"
