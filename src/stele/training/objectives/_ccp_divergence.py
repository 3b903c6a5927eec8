"""Whether a CCP pretraining came to anything, by its own curve: `fail` of CCP's Table 5 is detected, never configured.

The loss alone does not tell. Vectors of new sentences that differ from the older ones in the bank have a loss far below
chance, while all new sentences look alike; and a loss depends on the temperature: the same vectors, that find the right
one by far, are below chance at a high one and above it at a low one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LAST = 0.1  # of the steps
ALIKE = 0.9  # mean cosine of different sentences
LUCK = 1.5  # times a guess; fewer right ones are taken for luck, more have learnt something


def diverged(rows: Sequence[Mapping[str, float]]) -> str | None:
    """Why the run of this log learnt nothing, in the last tenth of its steps; None where it did."""
    last = rows[-max(1, round(len(rows) * LAST)) :]
    seen = [row for row in last if "ccp" in row]
    if not seen:
        return None
    loss, chance, accuracy, guess, cosine = (
        sum(row[name] for row in seen) / len(seen)
        for name in ("ccp", "ccp_chance", "ccp_accuracy", "ccp_guess", "ccp_cosine")
    )
    if accuracy >= LUCK * guess:
        return None
    signs = [f"vectors of different sentences have cosine {cosine:.3f}"] if cosine > ALIKE else []
    signs += [f"the loss is {loss:.3f}, above chance ({chance:.3f}),"] if loss > chance else []
    found = f"the right one of a group is found {accuracy:.3f} of the times, by a guess {guess:.3f}"
    return f"{' and '.join(signs)} over the last tenth of the steps, and {found}" if signs else None
