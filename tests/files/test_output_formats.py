"""CSV that no spreadsheet runs: what begins a formula is quoted, numbers stay, every text comes back."""

import csv
import io
import random
import re

import pytest

from stele.files.formats import csv_cell, csv_text, neutralised, plain_label, write_csv

TEXTS = [
    "=1+1", '=HYPERLINK("http://a.org","x")', "+ RR", "-SUM(A1)", "@x", "\tx", "\r=x", "\n=x", "＝1", "'=1", "''@",
    "--5", "-1.2.3", "+1 800", "-x",
]  # fmt: skip
PLAIN = ["-1.2", "+0.000123", "-1e-05", "+.5", "-1,234.5", "-inf", "+nan", "-", "a=b", "it's", "'s", ""]


@pytest.mark.parametrize("text", TEXTS)
def test_a_csv_cell_that_would_be_a_formula_is_quoted_and_read_back(text):
    written = csv_cell(text)
    assert written == f"'{text}" and csv_text(written) == text


@pytest.mark.parametrize("value", PLAIN)
def test_numbers_and_plain_texts_stay(value):
    assert csv_cell(value) == csv_text(value) == value


def test_a_reader_gets_the_same_texts():
    """Hidden characters apart, which no output has (`neutralised`)."""
    generator = random.Random(5)
    for _ in range(300):
        texts = ["".join(generator.choices("'=+-@1.e,;\" \t\r\nＡ＝文\0", k=generator.randrange(6))) for _ in range(6)]
        rows = [[neutralised(text) for text in texts], ["x", generator.choice([*TEXTS, *PLAIN])]]
        handle = io.StringIO(newline="")
        write_csv(handle, rows)
        actual = list(csv.reader(io.StringIO(handle.getvalue(), newline="")))
        assert not [cell for row in actual for cell in row if re.match(r"[=@\t\r\n＝]|[+-](?![\d.,einaf+-]*$)", cell)]
        assert [[csv_text(cell) for cell in row] for row in actual] == rows


def test_the_line_of_the_docs_does_the_same(root):
    """docs/tables.md says how to get the texts back with the csv module and with pandas."""
    page = (root / "docs/tables.md").read_text()
    pattern = re.search(r're\.sub\(r"(.+?)", "", cell\)', page)[1]
    assert f'.str.replace(r"{pattern}", "", regex=True)' in page
    for text in (*TEXTS, *PLAIN):
        assert re.sub(pattern, "", csv_cell(text)) == text


def test_no_other_module_writes_csv(root):
    """Upstream's own formats apart: programs read these, and they have to be as upstream's."""
    actual = {
        path.relative_to(root / "src").as_posix()
        for path in (root / "src").rglob("*.py")
        if re.search(r"\bcsv\.(writer|DictWriter|write_csv)\b", path.read_text())
    }
    assert actual == {"stele/files/formats.py", "stele_world/writers/dpr.py"}


HIDDEN = "\0\x07\x1b\x7f\x85\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\ud800"


@pytest.mark.parametrize("char", HIDDEN)
def test_hidden_characters_are_refused_in_labels_and_replaced_in_outputs(char):
    assert neutralised(f"a{char}b") == csv_cell(f"a{char}b") == "a\ufffdb"
    with pytest.raises(ValueError, match=rf"holds U\+{ord(char):04X} \(.*\) at 2"):
        plain_label(f"a{char}b")


@pytest.mark.parametrize(
    "text", ["plain", "zwj\u200djoiner", "فارسی\u200cها", "אבג\u200f!", "e\u0301", "文", "a\u00a0b"]
)
def test_labels_keep_the_characters_that_scripts_need(text):
    assert neutralised(text) == plain_label(text) == text
