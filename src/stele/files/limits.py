"""Limits that values from outside share."""

LARGEST_SEED = 2**32 - 1  # of numpy's and torch's generators alike
