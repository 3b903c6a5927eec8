"""`stele`, or `python -m stele`: hands its command to the local worker when there is one, else runs it here."""

import os
import sys


def main(package: str = "stele") -> int:
    """Runs the command line of a package; returns its exit code."""
    arguments = sys.argv[1:]
    if "STELE_WORKER" in os.environ:
        from stele.command.hand_over import hand_over, is_one_process

        if is_one_process(arguments):
            code = hand_over(os.environ["STELE_WORKER"], arguments, package)
            if code is not None:
                return code
    from stele.command.cli import main as run

    return run(arguments, package)


if __name__ == "__main__":
    sys.exit(main())
