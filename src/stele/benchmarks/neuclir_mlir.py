"""NeuCLIRBench, multilingual: English queries, one ranking over the documents of all three languages.

The collection "all" has the documents of the three languages one after the other. An id must not occur twice, neither
within a language nor in two languages.
"""

from collections.abc import Sequence

from stele.benchmarks.neuclir_mono import NeuclirMono


class NeuclirMlir(NeuclirMono):
    AVERAGE = "micro"  # mean over queries
    COLLECTION = "all"

    def parts(self, collection: str) -> Sequence[str]:
        """Collections of neuclir_mono and neuclir_clir that make up this one, in order."""
        return ("fa", "ru", "zh")
