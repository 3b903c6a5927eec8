"""`python -m stele`: hands its command to the local worker when there is one, else runs it here."""

import os
import sys

if __name__ == "__main__":
    if "STELE_WORKER" in os.environ:
        from stele.worker import hand_over

        code = hand_over(os.environ["STELE_WORKER"], sys.argv[1:])
        if code is not None:
            sys.exit(code)
    from stele.cli import main

    sys.exit(main())
