"""`stele-world`, or `python -m stele_world`: the command line of `stele`, for the commands of this package."""

import sys

from stele import __main__ as stele


def main() -> int:
    """Runs the command line; returns its exit code."""
    return stele.main("stele_world")


if __name__ == "__main__":
    sys.exit(main())
