"""`stele`, or `python -m stele`: hands its command to the local worker when there is one, else runs it here."""

import os
import sys

from stele.command.launch import options


def main() -> int:
    """Runs the command line; returns its exit code."""
    if "STELE_WORKER" in os.environ and options(sys.argv[1:])[0].processes == 1:
        from stele.command.worker import hand_over

        code = hand_over(os.environ["STELE_WORKER"], sys.argv[1:])
        if code is not None:
            return code
    from stele.command.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
