"""Stele: cross-lingual dense retrieval papers, rebuilt table by table."""

__version__ = "0.1.0"


def load_results(results_dir="results", each_seed=False):
    """All results of a folder as a tidy pandas DataFrame; see `stele.artifacts.results.load_results`."""
    from stele.artifacts.results import load_results as load

    return load(results_dir, each_seed)
