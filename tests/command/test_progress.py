"""The bars of progress, beside processes that are forked and killed."""

import os
import signal

from stele.progress import bar
from tests.killing import ended, killed


def test_a_bar_does_not_wait_for_a_process_that_was_killed_while_it_drew():
    def killed_drawing() -> None:
        with bar(2, "read") as shown, shown.get_lock():
            os.kill(os.getpid(), signal.SIGKILL)

    def work() -> None:
        signal.alarm(60)
        for _ in range(2):
            with bar(1, "read") as shown:
                shown.update()
            killed(killed_drawing)

    assert ended(work) == 0
