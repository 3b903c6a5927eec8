"""Cross-lingual sentence alignment (Yu et al., section 5.4): find a sentence's translation, CSLS with k = 10.

Scored from embeddings of the two sides (`--run de-en=DE.npy,EN.npy`); what belongs together stands in the same line.
"""

from stele.benchmarks._pairs import query_sets

AVERAGE = "macro"  # mean over pairs
SIMILARITY = "csls"

__all__ = ["AVERAGE", "SIMILARITY", "query_sets"]
