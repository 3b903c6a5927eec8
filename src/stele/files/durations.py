"""Times as people read them."""


def duration(seconds: float) -> str:
    """A time in its two largest units.

    >>> [duration(seconds) for seconds in (0.6, 3.61, 40, 100, 900, 5400, 7_200_000)]
    ['0.6 s', '3.6 s', '40 s', '1 min 40 s', '15 min', '1 h 30 min', '2,000 h']
    """
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    if seconds >= 100 * 3600:
        return f"{seconds / 3600:,.0f} h"
    if round(seconds) < 60:
        return f"{seconds:.0f} s"
    units = ("min", "s") if round(seconds) < 3600 else ("h", "min")
    large, small = divmod(round(seconds if units[1] == "s" else seconds / 60), 60)
    return f"{large} {units[0]} {small} {units[1]}" if small else f"{large} {units[0]}"
