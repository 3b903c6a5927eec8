"""`stele`, or `python -m stele`: hands its command to the local worker when there is one, else runs it here."""

import os
import sys


def main() -> int:
    """Runs the command line; returns its exit code."""
    if "STELE_WORKER" in os.environ:
        from stele.command.hand_over import hand_over, is_one_process

        if is_one_process(sys.argv[1:]) and (code := hand_over(os.environ["STELE_WORKER"], sys.argv[1:])) is not None:
            return code
    from stele.command.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
