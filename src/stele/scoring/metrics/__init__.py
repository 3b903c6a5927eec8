"""The metrics, one a file: `evaluate(case, cut)` gives one value per judged query.

A metric is called `name@cut`; its file is `name.py` ("r@2kt", whose cut ends in "kt", is `r_kt.py`).
"""
