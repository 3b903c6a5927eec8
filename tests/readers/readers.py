"""All readers of files from outside, and what lies beside the file that is damaged."""

import gzip
from pathlib import Path

from tests.readers.benchmark_files import BENCHMARKS, EXPORTED, EXPORTED_LINKS
from tests.readers.config_files import CONFIGURATIONS, FIGURE
from tests.readers.corpus_files import CORPORA
from tests.readers.dataset_files import BESIDE_DATASETS, DATASETS
from tests.readers.files import Reader, array, torch_file
from tests.readers.handed_files import BESIDE_HANDED, HANDED, PLACES, STUDY
from tests.readers.source_files import MODEL, MODULES, POOLING, SOURCES
from tests.readers.system_files import OUTPUTS, TENSORS, TREC
from tests.sealed import resealed, sealed

ALL: dict[str, Reader] = BENCHMARKS | DATASETS | OUTPUTS | HANDED | CONFIGURATIONS | SOURCES | CORPORA

# records: whoever changes one can give it a digest again, so what they say is no safer than any other file
RECORDS = (
    *("result", "results as a table", "record", "record of a retrieval", "record of vectors", "record of answers"),
    *("record of a calibration", "mined negatives: record.json", "export of a result", "references of a result"),
    *("judging a result", "packing a result", "pages of a result", "pages of a seed", "manifest"),
)
READERS = ALL | {name: (file, content, resealed(read)) for name in RECORDS for file, content, read in [ALL[name]]}

BESIDE: dict[str, dict[str, bytes]] = (
    BESIDE_DATASETS
    | BESIDE_HANDED
    | {
        "tatoeba": {"tatoeba.fra-eng.eng": b"one\ntwo\n"},
        "tatoeba sentences": {"links.csv": EXPORTED_LINKS},
        "tatoeba links": {"sentences.csv": EXPORTED},
        "Punkt model": {"abbrev_types.txt": b"dr\n", "collocations.tab": b"a\tb\n", "sent_starters.txt": b"the\n"},
        "record of a retrieval": {"runs/sw.trec.gz": gzip.compress(TREC)},
        "record of answers": {"answers/de-en.json": b'{"q": "x"}'},
        "record of vectors": {"one.npy": array([[1, 0]]), "two.npy": array([[0, 1]])},
        "record of a calibration": {"encoder.json": sealed({"content": "x"}), "calibration.safetensors": TENSORS},
        "packing with an ancestry": BESIDE_HANDED["packing with an ancestry"] | {"study.json": STUDY},
        "index of PyTorch weights": {"pytorch_model-1.bin": torch_file(zipped=True)},
        "projection": {"projection_fr.json": sealed({"explained": [0.5, 0.25]})},
    }
    | {
        name: {"modules.json": MODULES, "1_Pooling/config.json": POOLING, "config.json": MODEL}
        for name in ("modules.json", "pooling", "length of sentence-transformers", "prompts", "config.json")
    }
)
# where a reader takes its meaning from the folders above the file
FOLDERS = PLACES | {"table": "clir_lm", "figure": FIGURE.parent.name, "results as a table": "mrtydi/msm"}
FOLDERS |= {name: str(Path("dataset", name.partition(": ")[2]).parent) for name in DATASETS}
