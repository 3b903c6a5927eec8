"""The specs against a second transcription of the same tables, made by somebody else from the papers (printed.tsv).

KEPT's and CCP's lines are from a list of printed numbers that was made before the specs; the dashes and the numbers of
parameters, which it leaves out, were typed from the papers. Those of CLIR LM and Dense CLT were typed from the papers'
text, with the printed marks (`*`, `▲`, `K`) and with the upper header before the lower one. Bold is not in it.
"""

import csv
from collections import defaultdict
from pathlib import Path

import pytest
from rendering import as_printed
from specs import PAPERS

from stele import catalogue
from stele.papers.table import load_specs, references
from stele.tables.check import printed_cells
from stele.tables.values import numbers

HEADED = {"msm/1", "msm/9", "msm/10", "kept/4", "kept/5"}  # tables whose rows come twice
APART = {"msm/13", "kept/1", "clir_lm/1"}  # with words of several parts
TYPED = ("clir_lm", "dense_clt")  # papers whose lines have marks and both headers

DATASETS = {"mrtydi", "mrtydi_train", "mrtydi_corpus", "xor_tydi", "enwiki_20190201_w100", "mewsli_x"}


@pytest.fixture(scope="module")
def tables(root):
    """Short name -> spec."""
    return {table.id: table for table in load_specs(root / "paper_tables") if table.paper in PAPERS}


def _second_transcription():
    with open(Path(__file__).with_name("printed.tsv"), encoding="utf-8", newline="") as handle:
        for line in csv.DictReader(handle, delimiter="\t"):
            cells = [tuple(cell.split("=")) for cell in line["cells"].split(" ")]
            yield line["table"], (line["group"], line["row"], line["line"]), cells


def _text(cell):
    value = cell.printed.value
    return "-" if value is None else value if isinstance(value, str) else numbers.printed(value, cell.report)


def _spec_lines(table):
    lines = {}
    for cell in as_printed(printed_cells(table)):
        key = (cell.group.key if table.id in HEADED else "", cell.row.label, cell.line.label)
        header, text = cell.printed_under.header, _text(cell)
        if table.paper in TYPED:
            header = f"{cell.printed_under.group} {header}".strip().replace(" ", "_")
            text += cell.printed.marks
        lines.setdefault(key, []).append((header, text))
    return lines


def test_every_number_of_every_table_is_as_transcribed_twice(tables):
    expected = {}
    for table, key, cells in _second_transcription():
        assert key not in expected.setdefault(table, {}), f"{table}: {key} twice"
        expected[table][key] = cells
    assert expected.keys() == tables.keys() - APART
    for table, lines in expected.items():
        assert _spec_lines(tables[table]) == lines, table


def test_the_table_of_words(bench, msm):
    rows = {row.key: row.printed for _, row in msm[13].rows()}
    assert rows["labse"] == [109, "MLM + TLM + BI", "CC + mWiki + Bi-lingual"]
    assert rows["mcontriever"] == [29, "CROP", "CC + mWiki"]
    assert [values[0] for values in rows.values()] == [53, 109, 94, 104, 100, 100, 29, 108, 108]
    assert {cell.outcome.state for cell in bench.cells(msm[13]).values()} == {"stated"}


def test_the_statistics_of_kept(tables):
    printed = [_text(cell) + cell.printed.marks for cell in printed_cells(tables["kept/1"])]
    assert printed == [
        "48.7k", "12.3k", "8.6k", "11", "58M", "Mono-lingual", "11",
        "15.2k", "2.1k", "-", "7", "18M", "English-only", "1",
        "167.7k (EN)", "14.1k", "9.6k", "11", "1M", "Language-agnostic", "50",
    ]  # fmt: skip


def test_the_printed_differences_of_kept(tables):
    cells = printed_cells(tables["kept/7"])
    actual = [cell.printed.difference for cell in cells if cell.row.label.startswith("w/o")]
    assert actual == [-0.7, -0.2, -0.6, -0.7, -4.4, -1.6, -1.7, -2.2, -1.8, -0.9, -6.4, -7.0]
    assert sum(cell.printed.difference is not None for cell in cells) == 12


def test_parameters_are_in_millions(tables):
    cells = [c for n in (2, 3, 6) for c in printed_cells(tables[f"kept/{n}"]) if c.column.key == "params"]
    assert {c.printed.marks for c in cells} == {"M", ""}
    assert {c.printed.value for c in cells if not c.printed.marks} == {"*"}, "BM25 has none"


def test_what_kept_and_ccp_ask_of_our_chain(tables):
    targets = {paper: defaultdict(set) for paper in ("kept", "ccp")}
    for table in (t for t in tables.values() if t.paper in targets):
        for benchmark, model, setting in sorted({value.result for value in references(table, "all")}):
            targets[table.paper][f"{benchmark}/{setting}"].add(model)
    base = {"mbert", "xlmr", "infoxlm_base", "mcontriever", "msm", "kept"}
    large = {"xlmr_large", "infoxlm_large", "labse", "ccp"}
    ablations = {f"kept_{name}" for name in ("no_crop", "no_ilk", "no_clk", "uhs_ilk", "ds_clk", "clhed")}
    assert targets["kept"] == {
        "mrtydi/tuned": {"bm25"},
        "mrtydi/zero_shot_nq": base | ablations | {"mcontriever_continued"},
        "mrtydi/zero_shot_nq_ccp": large,
        "mrtydi/multilingual": {"mbert", "xlmr", "msm"},
        "mrtydi/multilingual_kept": {"infoxlm_base", "mcontriever", "kept"},
        "xor_retrieve/zero_shot_nq": base | ablations | {"mcontriever_continued"},
        "xor_retrieve/multilingual": {"mbert", "xlmr", "msm"},
        "xor_retrieve/multilingual_kept": {"infoxlm_base", "mcontriever", "kept"},
        "xor_retrieve/align_uniform": {"mbert", "mcontriever", "kept"},
        "mewsli_x/zero_shot": base,
        "parameters/direct": base | large,
        "statistics/count": DATASETS,
    }
    english_french = {model for model in targets["ccp"]["tatoeba/direct"] if model.startswith("ccp_")}
    assert len(english_french) == 24 + 12 - 1, "one cell stands in both tables"
    assert {"ccp_en_fr", "ccp_en_fr_no_abn_tau_0.001", "ccp_en_fr_window_2_batch_8"} <= english_french
    assert {key: models - english_french for key, models in targets["ccp"].items()} == {
        "tatoeba/direct": large | {"criss", "laser", "unicoder"},
        "tatoeba/calibrated": {"ccp"},
        "tatoeba_pairs/direct": large - {"infoxlm_large"} | {"criss", "unicoder"},
        "tatoeba_pairs/calibrated": {"ccp"},
        "mrtydi/zero_shot_nq_ccp": large | {"mbert"},
        "xor_retrieve/zero_shot_nq_ccp": large,
    }
    assert catalogue.load("datasets").keys() >= DATASETS


def test_what_the_footnotes_of_ccp_say_of_its_numbers(tables):
    def rows(number, line):
        cells = [cell for cell in printed_cells(tables[f"ccp/{number}"]) if cell.line.key == line]
        keys = {cell.row.key for cell in cells}
        return {key: {c.column.header: c.printed.value for c in cells if c.row.key == key} for key in keys}

    def higher(one, other):
        return {name for name in one if None not in (one[name], other[name]) and one[name] > other[name]}

    first, second = rows(1, "value"), rows(2, "value")
    single = first["ccp"].keys() - {"AVG", "AVG_all"}
    assert len(single) == 14 and len(higher(first["laser"], first["ccp_calibrated"]) & single) == 10
    assert "AVG" in higher(first["ccp_calibrated"], first["laser"]) and "AVG" in higher(first["laser"], first["ccp"])
    assert higher(first["criss"], first["ccp"]) == {"HI"} and not higher(first["criss"], first["ccp_calibrated"])
    lowered = second["ccp"].keys() - higher(second["ccp_calibrated"], second["ccp"])
    assert lowered == {"ES-PT", "IT-RU"} and second["ccp"]["IT-RU"] < 77.8
    for line, wanted in (("recall", {"BN", "EN", "ID", "RU", "TE"}), ("mrr", {"BN", "SW"})):
        third = rows(3, line)
        others = ("mbert", "xlmr", "infoxlm", "labse")
        assert set().union(*(higher(third[other], third["ccp"]) for other in others)) == wanted


def test_bold_is_transcribed_where_the_paper_has_it(msm):
    bold = {n: [c.address for c in printed_cells(t) if c.printed.bold] for n, t in msm.items()}
    assert len(bold[1]) == 10 and all("/msm/" in address for address in bold[1])
    assert bold[4] == ["all/share_all/mrr/avg", "all/share_all/recall/avg"]
    assert [n for n, cells in bold.items() if cells] == [1, 4, 5, 6, 7, 8, 11, 12, 16]


# --- CLIR LM and Dense CLT --------------------------------------------------------------------------------------------
def test_a_columns_language_is_the_pair_that_its_headers_name(tables):
    for name in ("clir_lm/4", "clir_lm/5", "clir_lm/6", "clir_lm/7", "clir_lm/8"):
        for column in tables[name].columns:
            pair = f"{column.group}-{column.header}" if name == "clir_lm/4" else column.header
            assert column.target.language == pair.lower().replace("&", "-").replace("→", "-")


def test_every_cell_of_a_result_asks_for_something(tables):
    for table in (table for table in tables.values() if table.paper in TYPED and table.kind == "result"):
        assert not [cell.address for cell in printed_cells(table) if cell.reference is None], table.id


def test_bold_of_clir_lm_is_the_best_of_each_column_as_the_captions_say(tables):
    for name in ("clir_lm/4", "clir_lm/5"):
        cells = printed_cells(tables[name])
        columns = {(c.line.key, c.column.key) for c in cells}
        assert {(c.line.key, c.column.key) for c in cells if c.printed.bold} == columns
        assert sum(c.printed.bold for c in cells) == len(columns), "one a column"


def test_the_table_of_acronyms(tables):
    acronyms = [row.label for _, row in tables["clir_lm/1"].rows()]
    assert acronyms == ["CLE", "(G-)XLT", "MLM", "TLM", "QLM", "RR", "XLM(-R)", "GSW"]


def test_the_baseline_of_a_collection_is_the_stronger_of_the_two_by_p20(tables):
    table = tables["dense_clt/2"]
    cells = [c for c in printed_cells(table) if c.reference.metric == "p@20"]
    p20 = {(c.reference.benchmark, c.reference.model): c.printed.value for c in cells}
    for benchmark, model in table.significance.against.items():
        other = {"bm25": "bm25_rm3", "bm25_rm3": "bm25"}[model]
        assert p20[benchmark, model] > p20[benchmark, other]
