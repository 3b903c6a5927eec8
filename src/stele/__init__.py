"""Stele: cross-lingual dense retrieval papers, rebuilt table by table.

What a notebook needs is here; each name is imported from its package when it is first used:
`load_results`, `load_encoder`, `search`, `score` and `compare`.
"""

from importlib import import_module

__version__ = "0.1.0"

_MODULES = {
    "load_results": "stele.artifacts.results",
    "load_encoder": "stele.encoders.named",
    "search": "stele.retrieval.searches.search",
    "score": "stele.evaluation.evaluate",
    "compare": "stele.evaluation.comparison",
}
__all__ = [*_MODULES]


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module 'stele' has no attribute {name!r}; it offers {', '.join(_MODULES)}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
