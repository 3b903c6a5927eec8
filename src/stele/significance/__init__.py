"""Significance of differences between systems that answered the same queries.

`fisher` and `t_test` are tests, one a file: `p_value(strata, permutations, seed)` of paired differences, `describe` in
words. `bootstrap` gives intervals, `corrections` the p-values of several comparisons. `scores` reads values per query,
`paired` aligns those of two systems, `comparison` does all of it for two systems and a metric.
"""
