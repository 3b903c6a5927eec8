"""CLIR LM and Dense CLT against a second transcription, typed from the papers' text line by line as they print it.

A line is a row's label, a colon, and its cells in the order of the columns; `*` and `▲` are the printed marks, `/`
parts F1 and exact match, `-` is a dash. A label that comes twice goes on with its columns. Bold is not in it.
"""

import pytest
from rendering import as_printed

from stele.papers.table import load_spec
from stele.tables.check import printed_cells
from stele.tables.values import numbers

PRINTED = {
    "clir_lm/2": """
        Aligned sections: 250.6K 295.8K 202.8K 169.9K 216.7K 171.4K
    """,
    "clir_lm/3": """
        En: 176 18.5 404.0 699.2
        Es: 156 50.7 319.5 490.2
        Fr: 185 22.0 267.3 454.3
        De: 192 25.0 324.3 448.7
    """,
    "clir_lm/4": """
        BWE-AGG-ADD: .126 .280 .194 .186 .247 .133 .238 .118 .190 .234 .116 .273
        BWE-AGG-IDF: .146 .325 .235 .197 .258 .147 .238 .132 .221 .224 .125 .293
        TbT-QT-QL: .361 .344 .229 .263 .395 .310 .244 .396 .300 .215 .327 .357
        DRMM (smart-shuffling): .143 - - .226 - .133 - - - - .156 -
        DRMM (fastText): .195 .304 .164 .238 .313 .187 .264 .192 .143 .225 .211 .284
        KNRM (smart-shuffling): .199 - - .274 - .194 - - - - .167 -
        KNRM (fastText): .227 .337 .263 .285 .372 .250 .310 .187 .240 .298 .180 .345
        XLM-R: .124 .233 .178 .269 .307 .222 .211 .149 .212 .199 .148 .293
        mBERT: .400 .507 .395 .465 .545 .437 .463 .438 .412 .442 .419 .519
        Ours (mBERT-GSW): .419* .511 .425* .501* .564* .477* .471 .448 .434* .479* .442* .543*
        Ours (mBERT, QLM-RR, 10): .472* .555* .476* .524* .577* .495* .524* .489* .499* .518* .476* .588*
        Ours (mBERT, QLM-RR, 20): .472* .573* .476* .534* .590* .516* .526* .491* .504* .524* .497* .594*
        Ours (mBERT-GSW, QLM-RR, 10): .501* .581* .491* .536* .614* .527* .540* .530* .519* .536* .520* .602*
        Ours (mBERT-GSW, QLM-RR, 20): .519* .601* .506* .545* .621* .524* .554* .545* .534* .550* .532* .616*
    """,
    "clir_lm/5": """
        XLM-R: 57.8/42.9 41.4/28.5 57.8/45.2 54.4/41.0 49.5/32.2 63.9/43.5 60.8/45.3 64.8/44.3
        mBERT: 60.1/44.6 53.7/40.0 63.7/50.3 64.1/49.8 57.5/38.7 64.4/43.3 60.7/44.5 63.7/42.2
        Ours (mBERT-GSW): 60.9/45.6 55.3*/39.9 65.1/51.2 64.7/51.2 58.9/40.2* 65.1/44.4 61.5/45.5 64.8/43.3
        Ours (mBERT, QLM-RR, 10): 62.6*/46.3* 56.4*/39.8 70.6*/56.4* 68.3*/53.2* 62.6*/40.0 67.3*/45.8*
        Ours (mBERT, QLM-RR, 10): 61.9/44.9 63.9/41.8
        Ours (mBERT, QLM-RR, 20): 62.3*/45.6 61.4*/44.6* 73.2*/58.9* 71.6*/57.1* 65.9*/43.5* 68.3*/46.7*
        Ours (mBERT, QLM-RR, 20): 62.3*/46.4* 66.5*/44.1*
        Ours (mBERT-GSW, QLM-RR, 10): 63.5*/46.8* 59.3*/42.7* 72.1*/58.4* 69.2*/53.0* 64.9*/44.0* 67.7*/46.1*
        Ours (mBERT-GSW, QLM-RR, 10): 61.6/44.3 65.2/42.2
        Ours (mBERT-GSW, QLM-RR, 20): 63.7*/47.3* 60.8*/43.5* 73.5*/60.2* 71.5*/57.0* 65.0*/42.7* 68.1*/46.1*
        Ours (mBERT-GSW, QLM-RR, 20): 62.4*/46.6* 66.1*/44.8*
    """,
    "clir_lm/6": """
        Base mBERT: 1.9 4.3 6.3 1.6 2.2 7.4
        + QLM: 27.4 51.9 52.3 53.2 50.9 63.5
        + RR: 16.6 25.8 28.4 33.8 22.5 46.0
        + QLM&RR: 22.7 36.4 45.4 45.4 43.1 57.9
    """,
    "clir_lm/7": """
        Base mBERT: 2.6 5.2 30.3
        + QLM: 24.9 23.3 61.0
        + RR: 19.1 22.5 65.1
        + QLM&RR: 40.3 43.1 81.5
    """,
    "clir_lm/8": """
        w=32: .512 .509
        w=64: .510 .506
        w=128: .516 .512
        w=256: .509 .503
    """,
    "dense_clt/1": """
        Chinese (NTCIR 8): 73 308832
        Arabic (TREC 2002): 50 383872
        French (CLEF 2006): 49 171109
        Hindi (FIRE 2012): 50 331599
        Bengali (FIRE 2012): 50 500122
        Spanish (TREC 3): 25 57868
    """,
    # in two halves, as the paper prints it
    "dense_clt/2": """
        (0) BM25: .4014 .3849 .4757 .2932 .3610 .4056 .3111 .3184 .4458
        (0) BM25: .3867 .4470 .5310 .2881 .3740 .4261 .4197 .6660 .6851
        (1) BM25+RM3: .3384 .3616 .4490 .2783 .3490 .3969 .3421 .3408 .4658
        (1) BM25+RM3: .3660 .4430 .5277 .2833 .3830 .4351 .4912 .7040 .7079
        (2) NQ zero-shot: .4221▲ .4164▲ .5235▲ .2943 .3560 .4012 .3470 .3469 .4726
        (2) NQ zero-shot: .3939 .4560 .5408 .2898 .3980 .4495▲ .4910 .6980 .7007
        (3) MS zero-shot: .4167▲ .4164▲ .5095▲ .3024 .3810▲ .4285 .3332 .3418 .4573
        (3) MS zero-shot: .3944 .4580 .5461 .2896▲ .3900 .4449 .4950 .7080 .7171
        (4) MS → QGen: .4258▲ .4336▲ .5308▲ .2988 .3800 .4276 .3331 .3429 .4564
        (4) MS → QGen: .3941 .4660 .5527 .2887 .3980 .4486 .4958▲ .7180 .7239
        (5) MS → Wiki: .4135 .4123▲ .5055▲ .3060▲ .3750 .4293 .3456 .3480 .4743
        (5) MS → Wiki: .3950 .4630 .5497 .2898▲ .4050 .4549 .4972▲ .7180 .7329
    """,
}  # fmt: skip
# the headers as printed, the upper before the lower one
COLUMNS = {
    "clir_lm/2": "En&De En&Es En&Fr Es&De Fr&De Fr&Es",
    "clir_lm/3": "#query #pos #neg doc. length",
    "clir_lm/4": "De En De Es De Fr En De En Es En Fr Es De Es En Es Fr Fr De Fr En Fr Es",
    "clir_lm/5": "G-XLT De-En G-XLT De-Es G-XLT En-De G-XLT En-Es G-XLT Es-De G-XLT Es-En XLT De-De XLT Es-Es",
    "clir_lm/6": "De&En De&Es De&Fr En&Es En&Fr Es&Fr",
    "clir_lm/7": "En&Es En&Fr Es&Fr",
    "clir_lm/8": "En→Fr Fr→En",
    "dense_clt/1": "# Topics # Docs",
    "dense_clt/2": " ".join(
        f"{collection} {metric}"
        for collection in ("NTCIR8-zh", "TREC2002-ar", "CLEF2006-fr", "FIRE2012-hi", "FIRE2012-bn", "TREC3-es")
        for metric in ("AP", "P@20", "nDCG")
    ),
}


@pytest.fixture(scope="module")
def tables(root):
    """`clir_lm/4` -> spec, for the tables of the two papers."""
    papers = {"clir_lm": range(1, 9), "dense_clt": range(1, 3)}
    return {
        f"{paper}/{n}": load_spec(root / f"paper_tables/{paper}/table_{n:02d}.yaml")
        for paper, numbers in papers.items()
        for n in numbers
    }


def _typed(text):
    """Row label -> its cells; a label that comes twice goes on."""
    rows = {}
    for line in text.strip().splitlines():
        label, _, cells = line.strip().rpartition(": ")
        rows.setdefault(label, []).extend(cells.split())
    return rows


def _of_spec(table):
    """The same of a spec: the lines of a row in one cell, parted by `/`; fractions without the leading zero."""
    rows = {}
    for cell in as_printed(printed_cells(table)):
        value = cell.printed.value
        text = "-" if value is None else numbers.printed(value, cell.report)
        text = text.removeprefix("0") if "." in text else text
        rows.setdefault(cell.row.label, {}).setdefault(cell.printed_under.key, []).append(text + cell.printed.marks)
    return {label: ["/".join(lines) for lines in cells.values()] for label, cells in rows.items()}


@pytest.mark.parametrize("name", PRINTED)
def test_every_cell_is_as_transcribed_twice(tables, name):
    assert _of_spec(tables[name]) == _typed(PRINTED[name])


@pytest.mark.parametrize("name", COLUMNS)
def test_the_headers_are_the_papers(tables, name):
    assert " ".join(f"{c.group} {c.header}".strip() for c in tables[name].columns) == COLUMNS[name]


def test_a_columns_language_is_the_pair_that_its_headers_name(tables):
    for name in ("clir_lm/4", "clir_lm/5", "clir_lm/6", "clir_lm/7", "clir_lm/8"):
        for column in tables[name].columns:
            pair = f"{column.group}-{column.header}" if name == "clir_lm/4" else column.header
            assert column.target.language == pair.lower().replace("&", "-").replace("→", "-")


def test_every_cell_of_a_result_asks_for_something(tables):
    for name in PRINTED:
        missing = [cell.address for cell in printed_cells(tables[name]) if cell.reference is None]
        assert not missing, name


def test_bold_is_the_best_of_each_column_as_the_captions_say(tables):
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
    p20 = {
        (c.reference.benchmark, c.reference.model): c.printed.value
        for c in printed_cells(table)
        if c.reference.metric == "p@20"
    }
    for benchmark, model in table.significance.against.items():
        other = {"bm25": "bm25_rm3", "bm25_rm3": "bm25"}[model]
        assert p20[benchmark, model] > p20[benchmark, other]
