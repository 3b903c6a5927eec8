"""Numbers as text: decimal arithmetic on the shortest decimal form of a float, halves rounded away from zero.

Binary rounding would print 0.4465 x 100 as 44.6 or 44.7 depending on the bits; the decimal form says 44.65 and so 44.7.
"""

import re
from decimal import ROUND_HALF_UP, Context, Decimal

from stele.papers.table_parts import Report

LONGEST = 1000  # digits, more than a product of two floats has


def scaled(value: float, report: Report) -> Decimal:
    """Converts our value (a fraction) to the paper's units, without the last bits, in which sums differ.

    >>> scaled((0.970 + 0.729) / 2, Report())
    Decimal('84.9500')
    """
    return Decimal(repr(without_last_bits(value))) * Decimal(repr(report.scale))


def without_last_bits(value: float) -> float:
    """Rounds to 12 decimals, so that a mean does not depend on the order of summation."""
    return round(float(value), 12)


def rounded(value: Decimal, report: Report) -> str:
    """Formats a number with the paper's decimals."""
    number = value.quantize(Decimal(1).scaleb(-report.decimals), ROUND_HALF_UP, Context(prec=LONGEST))
    return f"{abs(number) if number == 0 else number:f}"


def ours(value: float, report: Report) -> str:
    """Formats our value (a fraction) as a table shows it.

    >>> ours(0.4465, Report())
    '44.7'
    """
    return rounded(scaled(value, report), report)


def count(value: float, report: Report) -> str:
    """Formats our count as a table shows it; one that the paper's decimals would make 0 has two significant digits.

    >>> [count(number, Report(scale=1e-6, decimals=0)) for number in (318_000, 325_000, 0)]
    ['0.32', '0.33', '0']
    """
    number = scaled(value, report)
    text = rounded(number, report)
    if number == 0 or text.strip("0."):
        return text
    return f"{number.quantize(Decimal(1).scaleb(number.adjusted() - 1), ROUND_HALF_UP):f}"


def grouped(text: str) -> str:
    """Puts commas between the thousands of a number with more than four digits before the point.

    >>> grouped("308832"), grouped("-12345.6"), grouped("9608")
    ('308,832', '-12,345.6', '9608')
    """
    return re.sub(r"^([+-]?)(\d{5,})", lambda match: f"{match[1]}{int(match[2]):,}", text)


def printed(value: float, report: Report) -> str:
    """Formats the paper's number as it is printed, trailing zeros included."""
    return rounded(Decimal(repr(float(value))), report)


def difference(value: float, paper: float, report: Report) -> Decimal:
    """Difference of our value minus the paper's, in the paper's units, unrounded."""
    return scaled(value, report) - Decimal(repr(float(paper)))


def shown_difference(value: float, paper: float, report: Report) -> str:
    """Formats the difference of the two shown numbers, so that rounding of halves does not contradict them.

    If the paper's number has more digits than the table shows (a published number may), the difference is that of the
    unrounded numbers, since a verdict rests on all digits.

    >>> shown_difference(0.4465, 44.7, Report()), shown_difference(0.4465, 44.74, Report())
    ('0.0', '-0.1')
    """
    exact = difference(value, paper, report)
    whole = Decimal(printed(paper, report)) == Decimal(repr(float(paper)))
    return signed(Decimal(ours(value, report)) - Decimal(printed(paper, report)) if whole else exact, report)


def signed(value: Decimal, report: Report) -> str:
    """Formats a difference with its sign; a difference that rounds to 0 has no sign.

    >>> signed(Decimal("0.26"), Report()), signed(Decimal("-0.01"), Report())
    ('+0.3', '0.0')
    """
    text = rounded(value, report)
    return text if text.startswith("-") or not text.strip("0.") else f"+{text}"


def plain(value: Decimal) -> str:
    """Formats a decimal number without an exponent and without trailing zeros, for CSV."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
