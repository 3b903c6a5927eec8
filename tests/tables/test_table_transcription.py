"""The specs against a second transcription of the same tables, made by somebody else from the paper (printed.tsv)."""

import csv
from collections import Counter
from pathlib import Path

from stele.tables import numbers
from stele.tables.check import counts, printed_cells


def _second_transcription():
    with open(Path(__file__).with_name("printed.tsv"), encoding="utf-8", newline="") as handle:
        for line in csv.DictReader(handle, delimiter="\t"):
            cells = [tuple(cell.split("=")) for cell in line["cells"].split(" ")]
            yield int(line["table"]), (line["group"], line["row"], line["line"]), cells


def _spec_lines(table):
    headed = table.number in (1, 9, 10)  # tables whose rows come twice, once a setting
    lines = {}
    for cell in printed_cells(table):
        key = (cell.group.key if headed else "", cell.row.label, cell.line.label)
        value = cell.printed.value
        text = "-" if value is None else numbers.printed(value, cell.report)
        lines.setdefault(key, []).append((cell.column.header, text))
    return lines


def test_every_number_of_every_table_is_as_transcribed_twice(msm):
    expected = {}
    for number, key, cells in _second_transcription():
        expected.setdefault(number, {})[key] = cells
    assert expected.keys() == msm.keys() - {13}, "table 13 is words"
    for number, lines in expected.items():
        assert _spec_lines(msm[number]) == lines, f"table {number}"


def test_the_table_of_words(msm):
    rows = {row.key: row.printed for _, row in msm[13].rows()}
    assert rows["labse"] == [109, "MLM + TLM + BI", "CC + mWiki + Bi-lingual"]
    assert rows["mcontriever"] == [29, "CROP", "CC + mWiki"]
    assert [values[0] for values in rows.values()] == [53, 109, 94, 104, 100, 100, 29, 108, 108]
    assert {cell.found.state for cell in printed_cells(msm[13])} == {"stated"}


def test_cell_counts(msm):
    total = sum((counts(table) for table in msm.values()), Counter())
    assert {n: counts(table).total() for n, table in msm.items()} == {
        1: 48, 2: 192, 3: 80, 4: 104, 5: 20, 6: 16, 7: 12, 8: 16, 9: 144, 10: 96, 11: 36, 12: 36, 13: 27, 14: 168,
        15: 96, 16: 15,
    }  # fmt: skip
    assert total == {"numbers": 1072, "words": 18, "dashes": 16}


def test_bold_is_transcribed_where_the_paper_has_it(msm):
    bold = {n: [c.address for c in printed_cells(t) if c.printed.bold] for n, t in msm.items()}
    assert len(bold[1]) == 10 and all("/msm/" in address for address in bold[1])
    assert bold[4] == ["all/share_all/mrr/avg", "all/share_all/recall/avg"]
    assert [n for n, cells in bold.items() if cells] == [1, 4, 5, 6, 7, 8, 11, 12, 16]
