"""Newswire read into documents: MB a CPU second of ours, of a bare regular expression, and of ir_datasets.

    python tests/speed/bench_collections.py --megabytes 60

The files are generated: documents of about 2.5 kB in TREC's SGML, Arabic in UTF-8 and Spanish in ISO-8859-1, some with
entities, plain and gzipped; and a folder of a file a document (FIRE). All ways work in one process, one after the
other, and give the texts of all documents:

    ours         stele.benchmarks.collection.passages: every layout, ids that come twice, fields, entities, encodings
    regex        one regular expression for id and text over the whole file, tags cut out; nothing else
    ir_datasets  its TrecDocs (0.6.3, `parser="text"`), line by line; leaves tags and entities in

Prints one JSON object: MB of (unpacked) files a CPU second, medians of the repeats (bar: ours 20 or more), and
`times_regex`, `times_ir_datasets`: how many times faster ours is. Ours must find as many documents as both.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from stele.benchmarks import collection

WORDS = {"ar": ("utf-8", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"), "es": ("iso-8859-1", "abcdefghijlmnopqrstuvzáéíóúñ")}
DOCUMENT = re.compile(r"<DOC>\s*<DOCNO>\s*(.*?)\s*</DOCNO>.*?<TEXT>(.*?)</TEXT>.*?</DOC>", re.DOTALL)
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
FILES = 8


def make(folder: Path, language: str, megabytes: float, packed: bool, single: bool = False) -> int:
    """Writes a collection; returns its bytes, unpacked."""
    encoding, letters = WORDS[language]
    draws = np.random.default_rng(0)
    vocabulary = ["".join(draws.choice(list(letters), draws.integers(3, 9))) for _ in range(3000)]
    written, number = 0, 0
    for place in range(FILES):
        texts: list[bytes] = []
        size = 0
        while size < megabytes * 1e6 / FILES:
            entity = " &amp;" * (number % 5 == 0)
            told = (" ".join(vocabulary[w] for w in draws.integers(0, 3000, 60)) for _ in range(5))
            paragraphs = "".join(f"<P>\n{words}{entity}\n</P>\n" for words in told)
            text = f"<DOC>\n<DOCNO> D{number:07} </DOCNO>\n<HEADLINE>\n{vocabulary[number % 3000]}\n</HEADLINE>\n"
            texts.append(f"{text}<TEXT>\n{paragraphs}</TEXT>\n</DOC>\n".encode(encoding))
            number, size = number + 1, size + len(texts[-1])
        written += size
        if single:
            (folder / str(place)).mkdir(parents=True)
            for n, content in enumerate(texts):
                (folder / str(place) / f"{n:06}.txt").write_bytes(content)
        else:
            content = b"".join(texts)
            path = folder / f"ism_{place}{'.gz' * packed}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(content, 6) if packed else content)
    return written


def ours(folder: Path, language: str) -> int:
    return sum(1 for passage in collection.passages({"trec3_es": {"all": folder}}, language) if passage.text)


def regex(folder: Path, language: str) -> int:
    texts = 0
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        for match in DOCUMENT.finditer(content.decode(WORDS[language][0])):
            texts += bool(TAG.sub(" ", match[2]).strip())
    return texts


def ir_datasets(folder: Path, language: str) -> int:
    from ir_datasets.formats import TrecDocs

    class Given:
        path = staticmethod(lambda force=True: folder)

    return sum(1 for doc in TrecDocs(Given(), encoding=WORDS[language][0], parser="text").docs_iter() if doc.text)


WAYS: dict[str, Callable[[Path, str], int]] = {"ours": ours, "regex": regex, "ir_datasets": ir_datasets}
CASES = {
    "UTF-8": ("ar", False, False),
    "UTF-8, gzipped": ("ar", True, False),
    "ISO-8859-1": ("es", False, False),
    "a file a document": ("ar", False, True),
}


def measure(folder: Path, megabytes: float, repeats: int) -> dict[str, dict]:
    logging.disable(logging.WARNING)
    result: dict[str, dict] = {}
    for name, (language, packed, single) in CASES.items():
        own = folder / name
        size = make(own, language, megabytes, packed, single)
        speeds: dict[str, list[float]] = {way: [] for way in WAYS}
        counts = {}
        for _ in range(repeats):
            for way, read in WAYS.items():
                start = time.process_time()
                counts[way] = read(own, language)
                speeds[way].append(size / 1e6 / (time.process_time() - start))
        assert len(set(counts.values())) == 1, counts
        median = {way: statistics.median(values) for way, values in speeds.items()}
        result[name] = {
            "documents": counts["ours"],
            "mb_a_second": {way: round(value, 1) for way, value in median.items()},
            **{f"times_{way}": round(median["ours"] / median[way], 2) for way in ("regex", "ir_datasets")},
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), args.megabytes, args.repeats), indent=1))


if __name__ == "__main__":
    main()
