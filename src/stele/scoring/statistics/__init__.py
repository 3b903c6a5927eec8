"""What datasets hold, one file a dataset: `counts(data)` gives metric -> number, or number by language.

`data` are the dataset's folders by part, as benchmarks take them; they are read by the benchmarks' own readers.
"""
