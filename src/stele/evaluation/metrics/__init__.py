"""The metrics, one a file: `evaluate(case, cut)` gives one value per judged query; NaN is a query that does not count.

A metric is called `name@cut`; its file is `name.py` ("r@2kt", whose cut ends in "kt", is `r_kt.py`). A module may also
have `finish(mean)`, applied to a language's mean, `notes(case)`, counts that a reader of the value should know, and
`guess(case, cut)`, what a random order of the candidates scores by query.
"""
